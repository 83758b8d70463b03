/** History, holders and lists of a chain that `up` has played match the reference. */
import { expect, test } from 'vitest'
import { BURN_ADDRESSES, type WindowName } from '../../../services/core/domain/chains.js'
import type { Played } from '../../rig/http/against-reference.js'
import { dataOf } from '../../rig/http/ask.js'
import { amountOf, answerDifferences, readNumber } from '../../rig/http/decimals.js'
import { windowNamed } from '../../rig/http/expected-pair.js'
import { expectedToken, UNCHECKED_OF_TOKEN } from '../../rig/http/expected-token.js'
import type { Up } from '../../rig/http/up.js'
import { marketMoney } from '../../rig/market/money.js'
import { differences } from '../../rig/reference/compare.js'
import { expectedHolders, expectedSwap, expectedTokenBars } from '../../serve/operations/expected-events.js'

type Row = Record<string, unknown>

/** `up` and `played` are there once the tests run. */
export function testOperations(chain: string, up: () => Up, played: () => Played): void {
  const rows = async (path: string): Promise<Row[]> => {
    const answer = await up().get(path)
    if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body as Row[]
  }

  /** Pages like a client: each page starts after the last id of the one before. */
  async function allTxs(kind: 'swap' | 'liq', pair: string): Promise<Row[]> {
    const all: Row[] = []
    for (;;) {
      const from = all.length === 0 ? 'from_time=0' : `after=${all.at(-1)?.id}`
      const { txs } = dataOf<{ txs: Row[] }>(await up().get(`/v2/txs/${kind}/${pair}-${chain}?limit=60&${from}`))
      all.push(...txs)
      if (txs.length < 60) return all
    }
  }

  test('returns every swap of every pair, in order', async () => {
    const { reference } = played()
    const found: string[] = []
    for (const pair of reference.pairs.keys()) {
      const expected = reference.trades
        .filter((trade) => trade.pair === pair)
        .sort((a, b) => a.time - b.time || a.block_number - b.block_number || a.tx_seq - b.tx_seq)
        .map((trade) => expectedSwap(reference, trade))
      const got = await allTxs('swap', pair)
      found.push(...differences(got.length, expected.length, `${pair} swaps`))
      for (const [at, tx] of got.entries()) {
        found.push(...answerDifferences(tx, expected[at] ?? {}, [], `${pair} ${at}`))
      }
    }
    expect(found).toEqual([])
    expect(reference.trades.length).toBeGreaterThan(300)
  })

  test('returns every liquidity event of every pair, in order', async () => {
    const { reference } = played()
    const times = new Map(reference.blocks.map(({ number, time }) => [number, time]))
    const timeOf = (block: number): number => times.get(block) ?? Number.NaN
    const types = { create: 'createPair', add: 'addLiquidity', remove: 'removeLiquidity' }
    for (const pair of reference.pairs.keys()) {
      const expected = reference.liquidity
        .filter((event) => event.pair === pair)
        .sort((a, b) => timeOf(a.block_number) - timeOf(b.block_number))
      // Compare the quote's price: a pool without a trade prices its target itself.
      const side = reference.pairs.get(pair)?.target === 0 ? 1 : 0
      const got = (await allTxs('liq', pair)).map((event) => ({
        ...{ id: event.id, type: event.type, price: readNumber(event[`token${side}_price_usd`]) },
      }))
      const plain = expected.map((event) => ({
        ...{ id: event.id, type: types[event.kind], price: event[`price${side}_usd`] },
      }))
      expect([pair, differences(got, plain)]).toEqual([pair, []])
    }
  })

  test.each([
    ['k1', 'u'],
    ['k15', 'm'],
    ['k60', 'r'],
    ['k1440', 'u'],
  ] as const)('token candles of %s in %s follow the main pair', async (interval, category) => {
    const { reference } = played()
    let switches = 0
    for (const token of reference.tokens.keys()) {
      const path = `/v2/klines/token/${token}-${chain}?interval=${interval}&category=${category}&limit=1000`
      const { points } = dataOf<{ points: Row[] }>(await up().get(path))
      const got = points.map((point) =>
        Object.fromEntries(Object.entries(point).map(([field, value]) => [field, readNumber(value)])),
      )
      const expected = expectedTokenBars(reference, token, interval, category).slice(-1000)
      expect([token, differences(got, expected)]).toEqual([token, []])
      switches += reference.mainPairChanges.filter((change) => change.token === token).length > 1 ? 1 : 0
    }
    expect(switches).toBeGreaterThan(1)
  })

  test('returns the holders of every token with their buys and sells', async () => {
    const { reference } = played()
    let holders = 0
    for (const token of reference.tokens.keys()) {
      const got = await rows(`/v2/tokens/top100/${token}-${chain}`)
      const expected = expectedHolders(reference, token, marketMoney(chain)).slice(0, 100)
      expect([token, got.map(({ holder }) => holder)]).toEqual([token, expected.map(({ holder }) => holder)])
      const found = got.flatMap((one, at) =>
        answerDifferences(one, expected[at] ?? {}, ['complete_since', 'addr_alias'], token),
      )
      expect(found).toEqual([])
      holders += got.length
      const ascending = dataOf<Row[]>(await up().get(`/v2/tokens/holders/${token}-${chain}?order=asc`))
      expect(ascending.reverse()).toEqual(got)
      for (const { holder, addr_alias } of got) {
        const pool = reference.pairs.get(String(holder))
        const isBurn = BURN_ADDRESSES[marketMoney(chain).family].includes(String(holder))
        expect(addr_alias).toBe(pool === undefined ? (isBurn ? 'Burn address' : '') : `Pool (${pool.amm})`)
      }
    }
    expect(holders).toBeGreaterThan(20)
  })

  test('returns every token in detail, valued without burnt supply', async () => {
    const { reference, launches } = played()
    const found: string[] = []
    for (const [address, token] of reference.tokens) {
      const data = dataOf<{ token: Row; pairs: Row[] }>(await up().get(`/v2/tokens/${address}-${chain}`))
      const expected = expectedToken(reference, address, token, launches)
      const actual = Object.fromEntries(
        Object.entries(data.token).map(([key, value]) => [key, value === '' ? null : value]),
      )
      const texts = ['name', 'symbol', 'main_pair', 'issue_platform', 'intro_en', 'intro_cn', 'lock_platform']
      const unchecked = [...UNCHECKED_OF_TOKEN, ...texts]
      for (const field of unchecked) delete expected[field]
      found.push(...answerDifferences(actual, expected, unchecked, address))
      const deepest = [...reference.pairs]
        .filter(([, pair]) => [pair.token0, pair.token1].includes(address))
        .map(([pair, { tvl, windows }]) => ({ pair, tvl, volume: volumeOf(windows) }))
        .sort((a, b) => known(b.tvl) - known(a.tvl) || b.volume - a.volume || (a.pair < b.pair ? -1 : 1))
      expect([address, data.pairs.map(({ pair }) => pair)]).toEqual([
        address,
        deepest.slice(0, 5).map(({ pair }) => pair),
      ])
    }
    expect(found).toEqual([])
  })

  test('lists each traded token once in trending, in order of its score', async () => {
    const { reference } = played()
    const { native, anchor, stables } = marketMoney(chain)
    const expected = [...reference.tokens]
      .filter(([, { windows }]) => windowNamed(windows, '24h').buys + windowNamed(windows, '24h').sells > 0)
      .map(([token, { windows, tvl }]) => {
        const pace = (volumeOf(windows) + 24 * volumeOf(windows, '1h')) / 2
        const borne = Number.isNaN(tvl) ? pace : Math.min(pace, 10 * tvl)
        const group = [native, anchor, ...stables].includes(token) ? 2 : Number.isNaN(tvl) ? 1 : 0
        return { token, group, score: borne * Math.log2(1 + windowNamed(windows, '24h').makers) }
      })
      .sort((a, b) => a.group - b.group || b.score - a.score || (a.token < b.token ? -1 : 1))
    const got: unknown[] = []
    for (let page = 0; page >= 0; ) {
      const answer = await up().get(`/v2/tokens/trending?chain=${chain}&page_size=7&current_page=${page}`)
      const body = answer.body as { tokens: Row[]; next_page: number; total: number; current_page_size: number }
      expect([body.total, body.current_page_size]).toEqual([expected.length, body.tokens.length])
      got.push(...body.tokens.map(({ token }) => token))
      page = body.next_page
    }
    expect(got).toEqual(expected.map(({ token }) => token))
    expect(got.length).toBeGreaterThan(7)
  })

  test('ranks tokens by demand, by change and by age', async () => {
    const { reference } = played()
    const { native, anchor, stables } = marketMoney(chain)
    const isMoney = (token: string) => [native, anchor, ...stables].includes(token)
    const traded = [...reference.tokens].filter(
      ([, { windows }]) => windowNamed(windows, '24h').buys + windowNamed(windows, '24h').sells > 0,
    )
    const ranked = async (topic: string) =>
      dataOf<Row[]>(await up().get(`/v2/ranks?topic=${topic}&chain=${chain}&limit=300`))
    const hot = (await ranked('hot')).map(({ token }) => token)
    const known = traded.filter(([token, { tvl }]) => !isMoney(token) && !Number.isNaN(tvl)).map(([token]) => token)
    expect(hot.toSorted()).toEqual(known.toSorted())
    expect((await ranked(chain)).map(({ token }) => token)).toEqual(hot)
    const ages = (await ranked('new')).map(({ created_at }) => Number(created_at))
    expect(ages).toEqual(ages.toSorted((a, b) => b - a))
    expect(ages.length).toBe(traded.length)
    for (const [topic, sign] of [
      ['gainer', 1],
      ['loser', -1],
    ] as const) {
      const changes = (await ranked(topic)).map(({ token_price_change_24h }) => sign * Number(token_price_change_24h))
      expect(changes).toEqual(changes.filter((change) => change > 0).toSorted((a, b) => b - a))
    }
    for (const [window, perDay] of [
      ['5m', 288],
      ['1h', 24],
      ['4h', 6],
    ] as const) {
      const scored = known.map((token) => {
        const { windows = [], tvl = Number.NaN } = reference.tokens.get(token) ?? {}
        const pace = volumeOf(windows, window) * perDay
        return { token, score: Math.min(pace, 10 * tvl) * Math.log2(1 + windowNamed(windows, window).makers) }
      })
      scored.sort((a, b) => b.score - a.score || (a.token < b.token ? -1 : 1))
      const inDemand = (await ranked(`hot&window=${window}`)).map(({ token }) => token)
      expect([window, inDemand]).toEqual([window, scored.map(({ token }) => token)])
      const traded = (await ranked(`traded&orderby=demand&window=${window}`)).map(({ token }) => token)
      expect(traded.slice(0, inDemand.length)).toEqual(inDemand)
    }
    const all = (await ranked('traded')).map(({ token }) => String(token))
    expect(all.toSorted()).toEqual(traded.map(([token]) => token).toSorted())
    for (const window of ['5m', '1h', '4h', '24h']) {
      const rising = await ranked(`gainer&window=${window}`)
      const changes = rising.map((row) => Number(row[`token_price_change_${window}`]))
      expect(changes).toEqual(changes.filter((change) => change > 0).toSorted((a, b) => b - a))
    }
    const theme = await up().get('/v2/ranks?topic=ai')
    expect([dataOf<Row[]>(theme), theme.headers.get('x-reason')]).toEqual([[], 'topic_without_rule'])
    expect(await up().get('/v2/ranks?topic=moon')).toMatchObject({ status: 400, body: { code: 'topic_unknown' } })
  })

  test('sorts what was traded by each figure of each window, over all tokens whatever the limit', async () => {
    const ask = async (query: string) => dataOf<Row[]>(await up().get(`/v2/ranks?topic=traded&chain=${chain}&${query}`))
    const fields: readonly [orderby: string, field: (window: string) => string][] = [
      ['price_change', (window) => `token_price_change_${window}`],
      ['volume', (window) => `token_tx_volume_usd_${window}`],
      ['tx_count', (window) => `token_tx_count_${window}`],
      ['makers', (window) => `token_makers_${window}`],
      ['tvl', () => 'tvl'],
      ['market_cap', () => 'market_cap'],
      ['price', () => 'current_price_usd'],
      ['created_at', () => 'created_at'],
    ]
    for (const [orderby, field] of fields) {
      for (const window of orderby === 'tvl' ? ['24h'] : ['5m', '4h', '24h']) {
        for (const [order, sign] of [
          ['desc', -1],
          ['asc', 1],
        ] as const) {
          const query = `orderby=${orderby}&window=${window}&order=${order}`
          const tokens = await ask(`${query}&limit=300`)
          const values = tokens.map((row) => row[field(window)])
          const known = values.filter((value) => value !== null).map(Number)
          expect([orderby, known]).toEqual([orderby, known.toSorted((a, b) => sign * (a - b))])
          expect(values.slice(0, known.length)).not.toContain(null)
          const page = (await ask(`${query}&limit=3&offset=2`)).map(({ token }) => token)
          expect(page).toEqual(tokens.slice(2, 5).map(({ token }) => token))
        }
      }
    }
  })

  test('finds every token by its address and by its symbol', async () => {
    const { reference } = played()
    for (const [token, { symbol }] of reference.tokens) {
      expect((await rows(`/v2/tokens?keyword=${token}&chain=${chain}`))[0]?.token).toBe(token)
      if (symbol === null || symbol === '') continue
      const same = [...reference.tokens].filter(([, one]) => one.symbol?.toLowerCase() === symbol.toLowerCase())
      const query = `keyword=${encodeURIComponent(symbol.toLowerCase())}&chain=${chain}&limit=${same.length}`
      const named = await rows(`/v2/tokens?${query}`)
      expect(named.map(({ symbol: one }) => String(one).toLowerCase())).toEqual(same.map(() => symbol.toLowerCase()))
    }
  })

  test('orders by the returned market_cap and fdv', async () => {
    const { reference } = played()
    const found = await rows(`/v2/tokens?keyword=${chain === 'eth' ? '0x' : 'e'}&chain=${chain}&orderby=market_cap`)
    const values = found
      .filter(({ token }) => chain === 'eth' && reference.tokens.has(String(token)))
      .map(({ token }) => {
        const facts = reference.tokens.get(String(token))
        return amountOf(facts?.total_supply ?? null, facts?.decimals ?? null) * (facts?.price_usd ?? Number.NaN)
      })
    const order = values.map(known)
    expect(order).toEqual([...order].sort((a, b) => b - a))
  })
}

const known = (value: number): number => (Number.isNaN(value) ? -1 : value)

function volumeOf(windows: Parameters<typeof windowNamed>[0], name: WindowName = '24h'): number {
  const { buy_volume, sell_volume } = windowNamed(windows, name)
  return buy_volume + sell_volume
}

/** Semantics of the interface: formulas, ordering, paging, thresholds, and equal values across answers. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { ContractMarket } from '../../rig/contract/market.js'
import type { Served } from '../../rig/contract/served.js'
import { dataOf, type JsonObject } from '../../rig/contract/sweep.js'
import { singlePairTokens } from '../../rig/contract/token-pairs.js'
import { marketMoney } from '../../rig/market/money.js'
import { namesOf } from '../interface/fields.js'
import { CANDLE_CATEGORIES, OPERATIONS, TOP_PAIRS } from '../interface/operations.js'
import { REST_RECORDS } from '../interface/rest-records.js'

const numberOf = (value: unknown): number =>
  value === null || value === '' || value === undefined ? Number.NaN : Number(value)

export function testSemantics(market: ContractMarket, served: () => Served): void {
  const [chain = ''] = market.chains
  let searched: Map<string, JsonObject>

  const get = (path: string, query: Record<string, string | number> = {}): Promise<unknown> =>
    dataOf(served(), { path, query })
  const list = async (path: string, query: Record<string, string | number> = {}): Promise<JsonObject[]> =>
    (await get(path, query)) as JsonObject[]
  const post = (path: string, body: unknown): Promise<unknown> => dataOf(served(), { method: 'POST', path, body })
  const idOf = ({ token, chain: where }: JsonObject): string => `${token}-${where}`

  beforeAll(async () => {
    searched = new Map()
    for (const where of market.chains) {
      const ids = market.tokens(where).map((token) => `${token}-${where}`)
      for (let at = 0; at < ids.length; at += 50) {
        const tokens = (await post('/v2/tokens/search', { token_ids: ids.slice(at, at + 50) })) as JsonObject[]
        for (const token of tokens) searched.set(idOf(token), token)
      }
    }
  })

  const details = (ids: readonly string[]): Promise<JsonObject[]> =>
    Promise.all(ids.map(async (id) => (await get(`/v2/tokens/${id}`)) as JsonObject))

  test('computes fdv as (total - burn - other) * price, and market_cap without locked supply too', async () => {
    const some = [...searched.keys()].filter((_, at) => at % 4 === 0)
    const tokens = [...searched.values(), ...(await details(some)).map(({ token }) => token as JsonObject)]
    const wrong = tokens.flatMap((token) => {
      const [price, total] = [numberOf(token.current_price_usd), numberOf(token.total)]
      const held = (name: string): number => numberOf(token[name]) || 0
      const supply = Math.max(0, total - held('burn_amount') - held('other_amount'))
      const off = (actual: unknown, due: number): boolean =>
        Number.isNaN(due)
          ? !Number.isNaN(numberOf(actual))
          : !(Math.abs(numberOf(actual) - due) <= Math.abs(due) * 1e-9)
      const values = { fdv: supply * price, market_cap: (supply - held('lock_amount')) * price }
      return Object.entries(values).flatMap(([name, due]) =>
        off(token[name], due) ? [`${idOf(token)} ${name} ${token[name]} not ${due}`] : [],
      )
    })
    expect(wrong.slice(0, 5)).toEqual([])
    expect(tokens.filter((token) => numberOf(token.market_cap) > 0).length).toBeGreaterThan(20)
    expect(tokens.filter((token) => numberOf(token.burn_amount) > 0).length).toBeGreaterThan(2)
  })

  describe('top holders', () => {
    const path = () => `/v2/tokens/top100/${market.held.token}-${market.held.chain}`

    test('lists the largest first, with ratios of the supply and values at the current price', async () => {
      const holders = await list(path())
      const token = searched.get(`${market.held.token}-${market.held.chain}`) ?? {}
      expect(holders).toHaveLength(100)
      expect(new Set(holders.map(({ holder }) => holder)).size).toBe(100)
      const amounts = holders.map(({ amount_cur }) => numberOf(amount_cur))
      expect(amounts).toEqual([...amounts].sort((a, b) => b - a))
      for (const { holder, address, amount_cur, balance_ratio, balance_usd } of holders) {
        expect(address).toBe(holder)
        expect(numberOf(balance_ratio)).toBeCloseTo(numberOf(amount_cur) / numberOf(token.total), 12)
        expect(numberOf(balance_ratio) >= 0 && numberOf(balance_ratio) <= 1).toBe(true)
        const worth = numberOf(amount_cur) * numberOf(token.current_price_usd)
        expect(Math.abs(numberOf(balance_usd) - worth)).toBeLessThanOrEqual(worth * 1e-9)
      }
      expect(numberOf(token.holders)).toBeGreaterThanOrEqual(market.held.holders)
    })

    test.each([1, 7, 99])('returns the first %d with that limit', async (limit) => {
      expect(await list(path(), { limit })).toEqual((await list(path())).slice(0, limit))
    })
  })

  describe('trending', () => {
    test.each(market.chains.flatMap((where) => [1, 7, 100].map((size) => [where, size] as const)))(
      'lists every token of %s once in pages of %d, ending with -1',
      async (where, page_size) => {
        const all: JsonObject[] = []
        let page = 0
        for (; page >= 0; ) {
          const answer = (await get('/v2/tokens/trending', {
            chain: where,
            page_size,
            current_page: page,
          })) as JsonObject
          const tokens = answer.tokens as JsonObject[]
          expect(answer.current_page_size).toBe(tokens.length)
          expect([page + 1, -1]).toContain(answer.next_page)
          all.push(...tokens)
          if (answer.next_page === -1) expect(all.length).toBe(answer.total)
          else expect(tokens.length).toBe(page_size)
          page = Number(answer.next_page)
        }
        expect(all.length).toBeGreaterThan(10)
        expect(new Set(all.map(idOf)).size).toBe(all.length)
        expect(all.filter((token) => token.chain !== where)).toEqual([])
        const { tokens } = (await get('/v2/tokens/trending', { chain: where, page_size: 100 })) as JsonObject
        expect(all.slice(0, 100).map(idOf)).toEqual((tokens as JsonObject[]).map(idOf))
      },
    )

    test('returns an empty last page beyond the end', async () => {
      const answer = (await get('/v2/tokens/trending', { chain, current_page: 1000 })) as JsonObject
      expect(answer).toMatchObject({ current_page_size: 0, next_page: -1, tokens: [] })
    })

    test('treats limit as an alias of page_size', async () => {
      const [one, other] = [
        await get('/v2/tokens/trending', { chain, limit: 3 }),
        await get('/v2/tokens/trending', { chain, page_size: 3 }),
      ]
      expect(one).toEqual(other)
    })
  })

  const ordered = OPERATIONS.flatMap(({ path, inputs }) =>
    inputs
      .filter(({ name }) => name === 'orderby')
      .flatMap(({ values = [] }) => values.map((value) => [path, value] as const)),
  )
  test.each(ordered)('%s orders by %s, highest first, unknown last', async (path, orderby) => {
    const asked = path.endsWith('platform')
      ? ['pump_in_hot', 'pump_out_new', 'meme'].map((tag) => ({ tag }))
      : ['MEME', 'U', 'token', 'P'].map((keyword) => ({ keyword }))
    for (const query of asked) {
      const values = (await list(path, { ...query, orderby })).map((token) => numberOf(token[orderby]))
      const due = [...values].sort((a, b) => (Number.isNaN(b) ? -1 : Number.isNaN(a) ? 1 : b - a))
      expect(values.length).toBeGreaterThan(1)
      expect([query, values]).toEqual([query, due])
    }
  })

  describe('keyword', () => {
    test('finds a token by its address, in any case, and by its symbol on every chain', async () => {
      const address = market.token(chain, 'MEME')
      for (const keyword of [address, address.toUpperCase().replace('0X', '0x')]) {
        expect((await list('/v2/tokens', { keyword })).map(({ token }) => token)).toEqual([address])
      }
      const found = (await list('/v2/tokens', { keyword: 'MEME' })).map(idOf)
      expect(found).toEqual(
        expect.arrayContaining(market.chains.map((where) => `${market.token(where, 'MEME')}-${where}`)),
      )
    })

    test('filters by chain and limit, and returns an empty list without a match', async () => {
      const all = await list('/v2/tokens', { keyword: 'U' })
      expect(new Set(all.map((token) => token.chain)).size).toBe(market.chains.length)
      expect(await list('/v2/tokens', { keyword: 'U', chain })).toEqual(all.filter((token) => token.chain === chain))
      expect(await list('/v2/tokens', { keyword: 'U', limit: 1 })).toHaveLength(1)
      expect(await list('/v2/tokens', { keyword: 'no such thing anywhere' })).toEqual([])
    })
  })

  describe('platform', () => {
    const tagged = async (tag: string): Promise<string[]> =>
      (await list('/v2/tokens/platform', { tag })).map(idOf).sort()

    test('splits all tokens into in and out; almost is part of in', async () => {
      const [inside, outside, all, almost] = [
        await tagged('pump_in_hot'),
        await tagged('pump_out_hot'),
        await tagged('meme'),
        await tagged('pump_in_almost'),
      ]
      expect(inside.length * outside.length).toBeGreaterThan(0)
      expect([...inside, ...outside].sort()).toEqual(all)
      expect(almost.filter((id) => !inside.includes(id))).toEqual([])
      expect([await tagged('pump_in_new'), await tagged('pump_out_new')]).toEqual([inside, outside])
    })

    test('returns the latest tokens for a new tag with a limit', async () => {
      const [latest = {}] = await list('/v2/tokens/platform', { tag: 'new', limit: 1 })
      const all = await list('/v2/tokens/platform', { tag: 'new' })
      expect(latest.created_at).toBe(Math.max(...all.map(({ created_at }) => Number(created_at))))
    })
  })

  describe('price thresholds', () => {
    const priced = async (body: object): Promise<Record<string, JsonObject>> => {
      const token_ids = [...searched.keys()].slice(0, 200)
      return (await post('/v2/tokens/price', { token_ids, ...body })) as Record<string, JsonObject>
    }

    test('treats 0 as no threshold, defaults tvl_min to 1000, and keeps unknown TVL', async () => {
      const [all, standard, none] = [await priced({ tvl_min: 0 }), await priced({ tvl_min: 1000 }), await priced({})]
      expect(Object.keys(all).sort()).toEqual([...searched.keys()].slice(0, 200).sort())
      expect(none).toEqual(standard)
      const due = Object.keys(all).filter((id) => !(numberOf(all[id]?.tvl) < 1000))
      expect(Object.keys(none).sort()).toEqual(due.sort())
      expect(due.length).toBeLessThan(Object.keys(all).length)
      expect(due.some((id) => Number.isNaN(numberOf(all[id]?.tvl)))).toBe(true)
    })

    test.each([0.5, 1000, 250_000.75])('filters by tx_24h_volume_min %d', async (tx_24h_volume_min) => {
      const [all, some] = [await priced({ tvl_min: 0 }), await priced({ tvl_min: 0, tx_24h_volume_min })]
      const due = Object.keys(all).filter((id) => !(numberOf(all[id]?.tx_volume_u_24h) < tx_24h_volume_min))
      expect(Object.keys(some).sort()).toEqual(due.sort())
    })

    test('keys the answer by token_id', async () => {
      for (const [id, { token_id }] of Object.entries(await priced({ tvl_min: 0 }))) expect(token_id).toBe(id)
    })
  })

  describe('one token in several answers', () => {
    const shared = namesOf(REST_RECORDS.price).filter((name) => namesOf(REST_RECORDS.keyword).includes(name))
    const pickFields = (token: JsonObject, names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, token[name] === '' ? null : token[name]]))

    test(`${shared.join(' ')} are the same in price, search, keyword, main, trending`, async () => {
      const prices = (await post('/v2/tokens/price', {
        token_ids: [...searched.keys()].slice(0, 200),
        tvl_min: 0,
      })) as Record<string, JsonObject>
      const starts = [...'0123456789abcdef'].map((digit) => `0x${digit}`)
      const found = await Promise.all(
        ['a', 'e', 'i', 'o', 'u', ...starts].map((keyword) => list('/v2/tokens', { keyword })),
      )
      const lists = [
        ...Object.entries(prices).map(([id, token]) => ({ ...token, id })),
        ...(await list('/v2/tokens/main', { chain })).map((token) => ({ ...token, id: idOf(token) })),
        ...found.flat().map((token) => ({ ...token, id: idOf(token) })),
        ...((await get('/v2/tokens/trending', { chain })) as { tokens: JsonObject[] }).tokens.map((token) => ({
          ...token,
          id: idOf(token),
        })),
      ] as (JsonObject & { id: string })[]
      expect(lists.length).toBeGreaterThan(150)
      for (const token of lists)
        expect(pickFields(token, shared)).toEqual(pickFields(searched.get(token.id) ?? {}, shared))
    })

    test('are the same in its detail, with the price changes of its main pair', async () => {
      const ids = [...searched.keys()].filter((_, at) => at % 5 === 0)
      for (const { token } of await details(ids)) {
        const detail = token as JsonObject
        expect(pickFields(detail, shared)).toEqual(pickFields(searched.get(idOf(detail)) ?? {}, shared))
        if (detail.main_pair === '') continue
        const pair = (await get(`/v2/pairs/${detail.main_pair}-${detail.chain}`)) as JsonObject
        expect([pair.price_change_24h, pair.price_change_1d]).toEqual([detail.price_change_24h, detail.price_change_1d])
      }
    })
  })

  test('returns the deepest pairs of a token in its detail, up to the interface’s limit', async () => {
    const { coin, meme } = { coin: marketMoney(chain).native ?? '', meme: market.token(chain, 'MEME') }
    for (const token of [coin, meme, market.token(chain, 'ZERO')]) {
      const [{ pairs }] = (await details([`${token}-${chain}`])) as [{ pairs: JsonObject[] }]
      const own = market.pairs(chain).filter(({ token0, token1 }) => token0 === token || token1 === token)
      const all = await Promise.all(
        own.map(async ({ pair }) => (await get(`/v2/pairs/${pair}-${chain}`)) as JsonObject),
      )
      const deepest = all.sort((a, b) => {
        const [left, right] = [numberOf(a.tvl), numberOf(b.tvl)]
        if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(left)) - Number(Number.isNaN(right))
        return right - left || numberOf(b.volume_u_24h) - numberOf(a.volume_u_24h)
      })
      expect(pairs.map(({ pair }) => pair)).toEqual(deepest.slice(0, TOP_PAIRS).map(({ pair }) => pair))
      for (const [at, pair] of pairs.entries()) {
        const { price_change_24h, reserve0, volume_u_24h } = deepest[at] ?? {}
        const same = { price_change_24h: price_change_24h ?? '', reserve0, volume_u: volume_u_24h }
        expect(pair).toMatchObject(same)
      }
    }
  })

  test('prices the anchor at 1, without a main pair', async () => {
    const anchor = searched.get(`${marketMoney(chain).anchor}-${chain}`)
    expect([anchor?.current_price_usd, anchor?.main_pair]).toEqual(['1', ''])
  })

  test('lists native, anchor, stables and majors as main tokens', async () => {
    const { native, anchor, stables, majors } = marketMoney(chain)
    const listed = (await list('/v2/tokens/main', { chain })).map(({ token }) => String(token))
    expect(listed.sort()).toEqual([native, anchor, ...stables, ...majors].map(String).sort())
  })

  test.each(CANDLE_CATEGORIES)(
    'returns the pair’s candles in %s for a token that never changed its main pair',
    async (category) => {
      const { anchor, native, stables, majors } = marketMoney(chain)
      const ranked = [anchor, native, ...stables, ...majors].flatMap((one) => one ?? [])
      const priced = ([token]: [string, string]) => searched.get(`${token}-${chain}`)?.current_price_usd !== null
      const single = singlePairTokens(market, chain, ranked).filter(priced).slice(0, 2)
      expect(single).toHaveLength(2)
      for (const [token, pair] of single) {
        expect(searched.get(`${token}-${chain}`)?.main_pair).toBe(pair)
        for (const interval of ['s1', '1', 'k15', '60', '1440', '43200']) {
          const query = { interval, category, limit: 1000 }
          const ofToken = (await get(`/v2/klines/token/${token}-${chain}`, query)) as JsonObject
          const ofPair = (await get(`/v2/klines/pair/${pair}-${chain}`, query)) as JsonObject
          expect(ofToken.points).toEqual(ofPair.points)
          expect((ofPair.points as unknown[]).length).toBeGreaterThan(0)
        }
      }
    },
  )

  test('uses the documented risk levels and does not report unchecked contracts as safe', async () => {
    for (const id of [...searched.keys()].filter((_, at) => at % 9 === 0)) {
      const contract = (await get(`/v2/contracts/${id}`)) as JsonObject
      expect([-1, 0, 1]).toContain(contract.risk_level)
      expect([-1, 0, 1]).toContain(contract.is_honeypot)
      const own = market
        .pairs(String(contract.chain))
        .filter(({ token0, token1 }) => [token0, token1].includes(String(contract.token)))
      const unknown = (contract.dex as JsonObject[]).filter(({ pair }) => !own.some((one) => one.pair === pair))
      expect(unknown).toEqual([])
    }
  })
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LiquidityTrade, Trade } from '../../../services/core/domain/records.js'
import { type Rig, row, startRig } from '../rig.js'
import { CHAIN, firstUpdate, OTHER_PAIR, PAIR, pairUpdate, T0, TOKEN, trade, update, WETH } from '../updates.js'

let rig: Rig
type Tx = Record<string, unknown> & { id: string; type: string }
type Txs = { limit: number; pair_id: string; to_time: number; total_count: number; txs: Tx[] }

const liquidity = (given: Partial<LiquidityTrade> = {}): LiquidityTrade => ({
  ...{ tx_index: 1, log_index: 9, sub: 0, tx_hash: '0xliq', id: '100-9', kind: 'add' },
  ...{ sender: '0xrouter', wallet: '0xowner', amount0: '2500000', amount1: '1000000000000000', reserve0: null },
  ...{ reserve1: null, amount_usd: 6, amount_native: 0.006, price0_usd: 2, price1_usd: Number.NaN },
  ...given,
})

/** A row as the sink stores it; block n is n seconds after T0. */
const stored = (block: number, given: Partial<Trade> = {}, version = block) =>
  row('trade_rows', {
    ...trade({ id: `${block}-7`, tx_seq: block, ...given }),
    ...{ chain: CHAIN, pair: PAIR, time: T0 + block, block_number: block, sell: given.sell ? 1 : 0, version },
  })
const storedLiquidity = (block: number, given: Partial<LiquidityTrade> = {}) =>
  row('liquidity_rows', {
    ...liquidity({ id: `${block}-9`, ...given }),
    ...{ chain: CHAIN, pair: PAIR, time: T0 + block, block_number: block, version: block },
  })

async function ask(path: string): Promise<Txs> {
  const response = await rig.get(`/v2/txs/${path}`)
  const body = (await response.json()) as { data: Txs; msg: string }
  expect([response.status, response.headers.get('x-cu-cost'), body.msg]).toEqual([200, '50', 'SUCCESS'])
  expect(body.data.total_count).toBe(body.data.txs.length)
  return body.data
}
const ids = async (query: string, kind = 'swap') => (await ask(`${kind}/${PAIR}-eth?${query}`)).txs.map(({ id }) => id)

beforeAll(async () => {
  rig = await startRig()
  await rig.store.insert('trade_rows', [96, 97, 98].map((number) => stored(number)).join(''))
  const kinds = [storedLiquidity(96, { kind: 'create' }), storedLiquidity(97), storedLiquidity(98, { kind: 'remove' })]
  await rig.store.insert('liquidity_rows', kinds.join(''))
  await rig.append({ ...firstUpdate(), number: 98, time: T0 + 98, now: T0 + 98 })
  await rig.start()
  // Not stored: a sale in block 99, two trades and an addition in block 100.
  const sale = trade({
    id: '99-7',
    sell: true,
    amount_in: '250',
    price_usd: Number.NaN,
    amount_usd: Number.NaN,
    flags: 4,
  })
  const two = [trade({ id: '100-7' }), trade({ id: '100-8', log_index: 8 })]
  await rig.feed(
    update({ seq: 2, number: 99, time: T0 + 99, now: T0 + 99, pairs: [pairUpdate({ trades: [sale] })] }),
    update({
      ...{ seq: 3, number: 100, time: T0 + 100, now: T0 + 100 },
      pairs: [pairUpdate({ trades: two, liquidity: [liquidity()] })],
    }),
  )
}, 60_000)
afterAll(() => rig.stop())

describe('GET /v2/txs/swap/{pair-id}', () => {
  it('merges unflushed swaps with stored ones, ascending by default', async () => {
    const data = await ask(`swap/${PAIR}-eth`)
    expect(data).toMatchObject({ limit: 100, pair_id: `${PAIR}-eth`, to_time: T0 + 100 })
    expect(data.txs.map(({ id }) => id)).toEqual(['96-7', '97-7', '98-7', '99-7', '100-7', '100-8'])
  })

  it('returns every field of a stored buy', async () => {
    expect((await ask(`swap/${PAIR}-eth?to_time=${T0 + 96}`)).txs).toEqual([
      {
        ...{ id: '96-7', tx_hash: '0xhash', tx_time: T0 + 96, block_number: 96, chain: 'eth', amm: 'uniswapv2' },
        ...{ pair_address: PAIR, from_token_address: WETH, from_token_symbol: 'WETH', from_token_amount: '0.001' },
        ...{ from_token_price_usd: '1000', from_token_reserve: '2', to_token_address: TOKEN, to_token_symbol: 'TKN' },
        ...{ to_token_amount: '500', to_token_price_usd: '2', to_token_reserve: '5000000', amount_usd: '1' },
        ...{ pair_liquidity_usd: '2000', sender_address: '0xsender', to_address: '0xrecipient' },
        ...{ wallet_address: '0xwallet', wallet_tag: null },
      },
    ])
  })

  it('returns a sale, with null for unknown values', async () => {
    expect((await ask(`swap/${PAIR}-eth?from_time=${T0 + 99}&limit=1`)).txs[0]).toMatchObject({
      ...{ from_token_address: TOKEN, from_token_amount: '0.00025', from_token_price_usd: null },
      ...{ to_token_address: WETH, to_token_price_usd: '1000', amount_usd: null },
    })
  })

  it.each([
    ['limit=2', ['100-7', '100-8']],
    ['limit=2&sort=desc', ['100-8', '100-7']],
    [`limit=2&from_time=${T0 + 97}`, ['97-7', '98-7']],
    [`limit=2&from_time=${T0 + 97}&sort=desc`, ['100-8', '100-7']],
    [`from_time=${T0 + 97}&to_time=${T0 + 99}`, ['97-7', '98-7', '99-7']],
    [`limit=2&from_time=${T0 + 97}&to_time=${T0 + 99}`, ['97-7', '98-7']],
    [`limit=2&to_time=${T0 + 99}`, ['98-7', '99-7']],
    [`to_time=${T0 + 95}`, []],
  ])('?%s', async (query, expected) => expect(await ids(query)).toEqual(expected))

  it.each([
    ['asc', ['96-7', '97-7', '98-7', '99-7', '100-7', '100-8']],
    ['desc', ['100-8', '100-7', '99-7', '98-7', '97-7', '96-7']],
  ])('pages by id, %s, through stored and unstored swaps', async (sort, expected) => {
    const seen = await ids(`sort=${sort}&limit=1${sort === 'asc' ? '&from_time=0' : ''}`)
    for (let more = seen; more.length > 0; seen.push(...more)) {
      more = await ids(`sort=${sort}&limit=1&after=${seen.at(-1)}`)
    }
    expect(seen).toEqual(expected)
    expect(await ids(`sort=${sort}&after=${expected[1]}&limit=3`)).toEqual(expected.slice(2, 5))
  })

  it('answers the same at /v2/txs/{pair-id}', async () => {
    expect(await ask(`${PAIR}-eth?limit=3`)).toEqual(await ask(`swap/${PAIR}-eth?limit=3`))
  })

  it.each([
    ['limit=0', 'query_invalid'],
    ['limit=301', 'query_invalid'],
    ['limit=', 'query_invalid'],
    ['limit=1&limit=2', 'query_invalid'],
    ['sort=up', 'query_invalid'],
    ['from_time=-1', 'query_invalid'],
    ['from_time=soon', 'query_invalid'],
    ['from_time=2&to_time=1', 'range_invalid'],
    ['after=97', 'query_invalid'],
    ['after=97-8', 'after_unknown'],
    ['after=999-7', 'after_unknown'],
  ])('?%s is 400 and costs nothing', async (query, code) => {
    const response = await rig.get(`/v2/txs/swap/${PAIR}-eth?${query}`)
    expect([response.status, ((await response.json()) as Tx).code]).toEqual([400, code])
    expect(response.headers.get('x-cu-cost')).toBeNull()
  })

  it('gives the reason for an empty result', async () => {
    const unknown = await rig.get(`/v2/txs/swap/0x${'00'.repeat(20)}-eth`)
    expect([unknown.status, unknown.headers.get('x-reason')]).toEqual([200, 'unknown_pair'])
    expect(await unknown.json()).toMatchObject({ msg: 'pair not found', data: { txs: [], total_count: 0 } })
    const quiet = await rig.get(`/v2/txs/swap/${OTHER_PAIR}-eth`)
    expect(quiet.headers.get('x-reason')).toBe('no_trades')
  })
})

describe('GET /v2/txs/liq/{pair-id}', () => {
  it('returns every field', async () => {
    const { txs } = await ask(`liq/${PAIR}-eth?from_time=${T0 + 100}`)
    expect(txs).toEqual([
      {
        ...{ id: '100-9', type: 'addLiquidity', transaction: '0xliq', tx_time: T0 + 100, block_number: 100 },
        ...{
          chain: 'eth',
          amm: 'uniswapv2',
          pair: PAIR,
          pair_address: PAIR,
          amount0: '2.5',
          amount1: '0.001',
          amount_eth: '0.006',
        },
        ...{ amount_usd: '6', token0_address: TOKEN, token0_symbol: 'TKN', token0_price_usd: '2' },
        ...{ token1_address: WETH, token1_symbol: 'WETH', token1_price_usd: null, sender: '0xrouter' },
        wallet_address: '0xowner',
      },
    ])
  })

  it.each([
    ['', ['96-9', '97-9', '98-9', '100-9']],
    ['type=all', ['96-9', '97-9', '98-9', '100-9']],
    ['type=addLiquidity', ['97-9', '100-9']],
    ['type=addLiquidity&sort=desc', ['100-9', '97-9']],
    ['type=removeLiquidity', ['98-9']],
    ['type=createPair', ['96-9']],
    ['type=addLiquidity&limit=1', ['100-9']],
    ['type=addLiquidity&after=96-9', ['97-9', '100-9']],
    ['type=addLiquidity&after=98-9&sort=desc', ['97-9']],
  ])('?%s', async (query, expected) => expect(await ids(query, 'liq')).toEqual(expected))

  it('?type=burn is 400', async () => {
    expect((await rig.get(`/v2/txs/liq/${PAIR}-eth?type=burn`)).status).toBe(400)
  })
})

describe('a reorg', () => {
  it('retracts stored and unstored swaps before the store applies it, and returns replacements once', async () => {
    const back = [{ pair: PAIR, ids: ['98-7', '99-7', '100-7', '100-8', '98-9', '100-9'], gone: false }]
    await rig.feed(update({ seq: 4, kind: 'retract', number: 97, time: T0 + 97, now: T0 + 97, retracted: back }))
    expect(await ids('')).toEqual(['96-7', '97-7'])
    expect((await rig.get(`/v2/txs/${PAIR}-eth?after=98-7`)).status).toBe(400)
    expect(await ids('', 'liq')).toEqual(['96-9', '97-9'])
    const again = trade({ id: '98-7', wallet: '0xother' })
    await rig.feed(
      update({ seq: 5, number: 98, time: T0 + 98, now: T0 + 98, pairs: [pairUpdate({ trades: [again] })] }),
    )
    const { txs } = await ask(`swap/${PAIR}-eth`)
    expect(txs.map(({ id, wallet_address }) => [id, wallet_address])).toEqual([
      ['96-7', '0xwallet'],
      ['97-7', '0xwallet'],
      ['98-7', '0xother'],
    ])
  })

  it('serves flushed swaps from the store and drops them from memory', async () => {
    const version = 2 ** 40 + 5
    await rig.store.insert('trade_rows', stored(98, { wallet: '0xother' }, version))
    const gone = { chain: CHAIN, pair: PAIR, time: T0 + 98, block_number: 98, tx_index: 1, log_index: 9, sub: 0 }
    await rig.store.insert('liquidity_rows', row('liquidity_rows', { ...gone, version, is_deleted: 1 }))
    const progress = { chain: CHAIN, epoch: 1, seq: 5, number: 98, hash: '0x', now: T0 + 98, version }
    await rig.store.insert('progress_rows', row('progress_rows', progress))
    await expect
      .poll(async () => await (await rig.get('/metrics')).text())
      .toContain('dextape_serve_overlay_blocks{chain="eth"} 0')
    expect(await ids('', 'liq')).toEqual(['96-9', '97-9'])
    expect((await ask(`swap/${PAIR}-eth`)).txs.map(({ wallet_address }) => wallet_address)).toEqual([
      '0xwallet',
      '0xwallet',
      '0xother',
    ])
  })

  it('has every swap of a pair with more of them unflushed than memory keeps', async () => {
    const busy = `0x${'7'.repeat(40)}`
    const times = Array.from({ length: 600 }, (_, at) => T0 + 101 + at)
    const blocks = times.map((time, at) => {
      const number = 101 + at
      const trades = [trade({ id: `${number}-7` })]
      const entry = pairUpdate({ pair: busy, trades })
      return update({ seq: 6 + at, number, time, now: time, pairs: [entry] })
    })
    await rig.feed(...blocks)
    const read = async (query: string) => (await ask(`swap/${busy}-eth?${query}`)).txs.map(({ tx_time }) => tx_time)
    expect(await read('limit=5')).toEqual(times.slice(-5))
    expect(await read(`limit=5&from_time=${times[0]}&to_time=${times[4]}`)).toEqual(times.slice(0, 5))
  })
})

/** Pushes of multi_tx, liq, multi_kline and price, of whole chains and of snapshots. */
import { describe, expect, it } from 'vitest'
import type { LiquidityTrade } from '../../../services/core/domain/records.js'
import {
  candle,
  OTHER_PAIR,
  PAIR,
  pairInfo,
  pairUpdate,
  T0,
  TOKEN,
  tokenUpdate,
  trade,
  update,
  WETH,
} from '../updates.js'
import { undeclared } from './declared.js'
import { usePushRig } from './rig.js'

const pipeStatus = () => [{ chain: 'base', source: 'evm:base', sourceAgeS: null, indexedFrom: null }]
const node = usePushRig({}, { pipeStatus })
const { client, feed } = node

const liquidity = (given: Partial<LiquidityTrade> = {}): LiquidityTrade => ({
  ...{ tx_index: 1, log_index: 9, sub: 0, tx_hash: '0xadd', id: '103-9', kind: 'add' },
  ...{ sender: '0xrouter', wallet: '0xwallet', amount0: '2500000', amount1: '1000000000000000' },
  ...{ reserve0: null, reserve1: null, amount_usd: 2, amount_native: 0.002, price0_usd: 0.4, price1_usd: 1000 },
  ...given,
})

describe('multi_tx', () => {
  it('pushes the swaps of every pair with the token on either side, without the fields only tx has', async () => {
    const one = await client()
    await one.call('subscribe', ['tx', PAIR, 'eth'], 1)
    await one.call('subscribe', ['multi_tx', TOKEN, 'eth'], 2)
    await one.call('subscribe', ['multi_tx', WETH, 'eth'], 3)
    const foreign = `0x${'cc'.repeat(20)}`
    const foreignInfo = pairInfo({ token0: `0x${'33'.repeat(20)}`, token1: `0x${'44'.repeat(20)}` })
    await feed({
      pairs: [
        pairUpdate({ trades: [trade()] }),
        pairUpdate({ pair: OTHER_PAIR, trades: [trade({ id: '103-8' })] }),
        pairUpdate({ pair: foreign, info: foreignInfo, trades: [trade({ id: '103-9' })] }),
      ],
    })
    await one.settle()
    const byId = (id: number) => one.frames.filter((frame) => frame.id === id)
    const [pairBased] = byId(1).map(({ result }) => result)
    const { profile, tx_seq, ...shared } = (pairBased?.tx ?? {}) as Record<string, unknown>
    expect([profile, tx_seq]).toEqual(['', '42'])
    expect(byId(2).map(({ result }) => result)).toEqual([
      { ...pairBased, tx: shared },
      { id: OTHER_PAIR, topic: 'tx', tx: expect.objectContaining({ id: '103-8' }), cursor: `1:eth:${node.seq}:3` },
    ])
    expect(byId(3).map(({ result }) => result)).toEqual(byId(2).map(({ result }) => result))
    expect(byId(2).flatMap((frame) => undeclared('multi_tx', frame))).toEqual([])
  })

  it('pushes retracted swaps, including those of a removed pair', async () => {
    const one = await client()
    await one.call('subscribe', ['multi_tx', TOKEN, 'eth'], 1)
    await one.call('subscribe', ['liq', OTHER_PAIR, 'eth'], 2)
    await feed({ kind: 'retract', number: 90, retracted: [{ pair: OTHER_PAIR, ids: ['103-8'], gone: true }] })
    const notices = [await one.take(({ id }) => id === 1), await one.take(({ id }) => id === 2)]
    for (const { result } of notices) {
      expect(result).toEqual({
        ...{ topic: 'retract', id: OTHER_PAIR, chain: 'eth', to_block: 90, ids: ['103-8'] },
        cursor: `1:eth:${node.seq}:1`,
      })
    }
    await feed({ pairs: [pairUpdate({ pair: OTHER_PAIR })] })
  })
})

describe('liq', () => {
  it('pushes each event with every field, decimals applied, with the type names of the interface', async () => {
    const one = await client()
    await one.call('subscribe', ['liq', PAIR, 'eth'], 7)
    const events = [
      liquidity(),
      liquidity({ kind: 'remove', id: '103-10', amount_usd: Number.NaN }),
      liquidity({ kind: 'create', id: '103-11' }),
    ]
    await feed({ pairs: [pairUpdate({ trades: [trade()], liquidity: events })] })
    const pushes = [await one.topic('liq'), await one.topic('liq'), await one.topic('liq')]
    expect(pushes[0]).toMatchObject({ id: 7, result: { id: PAIR, topic: 'liq', cursor: `1:eth:${node.seq}:2` } })
    expect(pushes.map(({ result }) => (result?.tx as { type: string } | undefined)?.type)).toEqual([
      ...['addLiquidity', 'removeLiquidity', 'createPair'],
    ])
    expect(pushes[0]?.result?.tx).toEqual({
      ...{ type: 'addLiquidity', amount0: '2.5', amount1: '0.001', amount_eth: '0.002', amount_usd: '2' },
      ...{ token0_address: TOKEN, token0_symbol: 'TKN', token0_price_usd: '0.4' },
      ...{ token1_address: WETH, token1_symbol: 'WETH', token1_price_usd: '1000' },
      ...{ tx_time: T0 + 1, block_number: 100 + node.seq, transaction: '0xadd', sender: '0xrouter' },
      ...{ wallet_address: '0xwallet', amm: 'uniswapv2', chain: 'eth', time: T0 + 1, id: '103-9' },
      pair: PAIR,
      pair_address: PAIR,
    })
    expect(pushes[1]?.result?.tx).toMatchObject({ amount_usd: '' })
    expect(pushes.flatMap((frame) => undeclared('liq', frame))).toEqual([])
  })
})

describe('multi_kline', () => {
  const series = [
    [PAIR, 'k1', 'eth'],
    [PAIR, 'k15', 'eth'],
    [OTHER_PAIR, 'k1', 'eth'],
  ]

  it('pushes all series under one subscription, also next to a kline subscription of the same series', async () => {
    const one = await client()
    await one.call('subscribe', ['multi_kline', ...series], 1)
    await one.call('subscribe', ['kline', PAIR, 'k15', 'eth'], 2)
    await feed({
      pairs: [pairUpdate({ candles: [candle(), candle({ interval: 'k15' }), candle({ interval: 'k5' })] })],
    })
    await one.settle()
    const seen = one.frames.map(({ id, result }) => [id, result?.topic, result?.interval])
    expect(seen).toEqual([
      [1, 'kline', '1'],
      [1, 'kline', '15'],
      [2, 'kline', '15'],
    ])
    expect(await one.call('unsubscribe', ['multi_kline', ...series.toReversed()])).toMatchObject({
      result: { removed: 1 },
    })
  })

  it('pushes a main pair switch once, however many series it affects', async () => {
    const one = await client()
    await one.call('subscribe', ['multi_kline', ...series], 1)
    const change = { token: TOKEN, old_pair: PAIR, new_pair: OTHER_PAIR }
    await feed({ main_pair_changes: [change], tokens: [tokenUpdate({ main_pair: OTHER_PAIR })] })
    await one.settle()
    expect(one.frames.map(({ result }) => (result?.data as { event: string } | undefined)?.event)).toEqual([
      'switch_main_pair',
    ])
    await feed({ tokens: [tokenUpdate()] })
  })
})

describe('price', () => {
  it('pushes a change once to a subscription that names the pair, its token and the chain', async () => {
    const one = await client()
    await one.call('subscribe', ['price', [`${PAIR}-eth`, `${TOKEN}-eth`, '*-eth']], 1)
    await one.call('subscribe', ['price', [`${TOKEN}-eth`]], 2)
    await feed({ pairs: [pairUpdate({ trades: [trade()] })] })
    await one.settle()
    expect(one.frames.map(({ id }) => id).sort()).toEqual([1, 2])
  })

  it('pushes the price after a reorg that retracted trades', async () => {
    const one = await client()
    await one.call('subscribe', ['price', [`${TOKEN}-eth`]], 1)
    await feed({ kind: 'retract', pairs: [pairUpdate({ price_usd: 1.7, candles: [candle()] })] })
    expect((await one.topic('price')).result?.prices).toMatchObject([{ pair: PAIR, uprice: '1.7' }])
  })
})

describe('a whole chain', () => {
  it('pushes the topic for every pair', async () => {
    const one = await client()
    await one.call('subscribe', ['tx', '*', 'eth'], 1)
    await one.call('subscribe', ['liq', '*', 'eth'], 2)
    await one.call('subscribe', ['kline', '*', 'k1', 'eth'], 3)
    const news = { trades: [trade()], liquidity: [liquidity()], candles: [candle(), candle({ interval: 'k5' })] }
    await feed({ pairs: [pairUpdate(news), pairUpdate({ pair: OTHER_PAIR, ...news })] })
    await one.settle()
    expect(one.frames.map(({ id, result }) => [id, String(result?.id).replace('-eth', '')])).toEqual(
      [PAIR, OTHER_PAIR].flatMap((pair) => [1, 2, 3].map((id) => [id, pair])),
    )
  })
})

describe('snapshot', () => {
  it('sends the marked open candle of each series and the entry of each id after the reply', async () => {
    await feed({
      time: T0 + 61,
      now: T0 + 61,
      pairs: [pairUpdate({ candles: [candle({ time: T0 + 60, close_u: 3 })] })],
    })
    const one = await client()
    const params = ['multi_kline', [PAIR, 'k1', 'eth'], [PAIR, 's1', 'eth']]
    one.send(JSON.stringify({ jsonrpc: '2.0', method: 'subscribe', params: [...params, { snapshot: true }], id: 1 }))
    const ids = [`${PAIR}-eth`, `${TOKEN}-eth`, `0x${'99'.repeat(20)}-eth`]
    await one.call('subscribe', ['price', ids, { snapshot: true }], 2)
    await one.call('subscribe', ['tx', PAIR, 'eth', { snapshot: true }], 3)
    await one.settle()
    const [reply, ...pushes] = one.frames
    expect(reply).toMatchObject({ id: 1, result: { status: 'ok' } })
    const [cursor] = (reply?.result?.cursor ?? []) as string[]
    expect(pushes.map(({ id, result }) => [id, result?.topic, result?.snapshot, result?.cursor])).toEqual([
      [1, 'kline', true, cursor],
      [2, 'price', true, cursor],
    ])
    expect(pushes[0]?.result?.kline).toMatchObject({ usd: { time: T0 + 60, close: '3' } })
    expect([...undeclared('kline', pushes[0] ?? {}), ...undeclared('price', pushes[1] ?? {})]).toEqual([])
    one.frames.length = 0
    await feed({ pairs: [pairUpdate({ trades: [trade()] })] })
    expect((await one.topic('price')).result).not.toHaveProperty('snapshot')
  })
})

describe('a followed chain without data yet', () => {
  it('accepts subscriptions and pushes its first trade', async () => {
    const one = await client()
    expect(await one.call('subscribe', ['tx', PAIR, 'base'], 1)).toMatchObject({ result: { cursor: ['0:base:0:0'] } })
    expect(await (await node.rig.get(`/v2/pairs/${PAIR}-base`)).status).toBe(200)
    await node.rig.feed(
      update({ chain: 'base', seq: 1, pairs: [pairUpdate({ trades: [trade()] })], tokens: [tokenUpdate()] }),
    )
    const pushed = await one.topic('tx')
    expect(pushed.result).toMatchObject({ cursor: '1:base:1:1', tx: { chain: 'base', pair_address: PAIR } })
    expect(one.frames.filter(({ result }) => result?.topic === 'gap')).toEqual([])
  })
})

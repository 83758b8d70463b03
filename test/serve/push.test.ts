import { describe, expect, it } from 'vitest'
import { INTERVALS } from '../../services/core/domain/chains.js'
import { missingFields } from './fields.js'
import { usePushRig } from './push/rig.js'
import { candle, OTHER_PAIR, PAIR, pairUpdate, T0, TOKEN, tokenUpdate, trade, WETH } from './updates.js'

const node = usePushRig({ maxSubscriptionsPerSocket: 20, maxItemsPerSubscription: 5, maxBatch: 10 })
const { client, feed } = node

describe('tx', () => {
  it('pushes each swap of the pair with every field', async () => {
    const one = await client()
    await one.call('subscribe', ['tx', PAIR.toUpperCase().replace('0X', '0x'), 'eth'], 77)
    const profile = {
      ...{
        token0TotalHolding: 1,
        token1TotalHolding: 2,
        token0Address: TOKEN,
        token1Address: WETH,
        solTotalHolding: 3,
      },
      ...{ token0HasNewAccount: true, token0HasClosedAccount: false, token0HasClearedAccount: false },
      ...{ token1HasNewAccount: false, token1HasClosedAccount: false, token1HasClearedAccount: true },
    }
    const trades = [
      trade({ profile }),
      trade({ id: '101-8', sell: true, tx_seq: 43, amount_in: '250', price_usd: Number.NaN }),
    ]
    await feed({ pairs: [pairUpdate({ info: null, trades })] })
    const [buy, sell] = [await one.topic('tx'), await one.topic('tx')]
    expect(buy).toMatchObject({
      id: 77,
      jsonrpc: '2.0',
      result: { id: PAIR, topic: 'tx', cursor: `1:eth:${node.seq}:1` },
    })
    expect(Math.abs(Number(buy.sent_time) - Date.now())).toBeLessThan(10_000)
    expect(sell.result?.cursor).toBe(`1:eth:${node.seq}:2`)
    const [tx, txSell] = [buy.result?.tx as object, sell.result?.tx as object]
    expect([missingFields('tx', tx), missingFields('tx', txSell)]).toEqual([[], []])
    expect(tx).toEqual({
      amm: 'uniswapv2',
      amount_eth: '0.001',
      amount_usd: '1',
      block_number: 100 + node.seq,
      chain: 'eth',
      direction: 'buy',
      from_address: WETH,
      from_amount: '0.001',
      from_price_eth: '1',
      from_price_usd: '1000',
      from_reserve: '2',
      from_symbol: 'WETH',
      id: '101-7',
      pair_address: PAIR,
      pair_liquidity_eth: '2',
      pair_liquidity_usd: '2000',
      pair_type: '',
      profile: JSON.stringify(profile),
      sender: '0xsender',
      target_token: TOKEN,
      time: T0 + 1,
      to: '0xrecipient',
      to_address: TOKEN,
      to_amount: '500',
      to_price_eth: '0.002',
      to_price_usd: '2',
      to_reserve: '5000000',
      to_symbol: 'TKN',
      transaction: '0xhash',
      tvl: '4000',
      tx_seq: '42',
      tx_swap_type: 0,
      wallet_address: '0xwallet',
      wallet_tag: null,
    })
    expect(txSell).toMatchObject({
      ...{ direction: 'sell', tx_swap_type: 1, from_address: TOKEN, from_amount: '0.00025', from_price_usd: '' },
      ...{ to_address: WETH, to_price_usd: '1000', profile: '' },
    })
  })

  it('pushes each client its own pair under its own id, and nothing after unsubscribe', async () => {
    const [one, two] = [await client(), await client()]
    await one.call('subscribe', ['tx', PAIR, 'eth'], 5)
    await two.call('subscribe', ['tx', PAIR, 'eth'], 'mine')
    await two.call('subscribe', ['tx', OTHER_PAIR, 'eth'], 6)
    await feed({ pairs: [pairUpdate({ trades: [trade()] })] })
    expect([(await one.topic('tx')).id, (await two.topic('tx')).id]).toEqual([5, 'mine'])
    expect(await one.call('unsubscribe', ['tx', PAIR, 'eth'])).toMatchObject({ result: { status: 'ok', removed: 1 } })
    expect(await two.call('unsubscribe', [])).toMatchObject({ result: { status: 'ok', removed: 2 } })
    expect(await two.call('unsubscribe', ['tx', PAIR, 'eth'])).toMatchObject({ result: { status: 'ok', removed: 0 } })
    await feed({ pairs: [pairUpdate({ trades: [trade()] })] })
    await Promise.all([one.settle(), two.settle()])
    expect([one.frames, two.frames]).toEqual([[], []])
  })

  it('pushes once, under the newer id, after a repeated subscribe', async () => {
    const one = await client()
    await one.call('subscribe', ['tx', PAIR, 'eth'], 1)
    await one.call('subscribe', ['tx', PAIR, 'eth'], 2)
    await feed({ pairs: [pairUpdate({ trades: [trade()] })] })
    await one.settle()
    expect(one.frames.map(({ id }) => id)).toEqual([2])
  })

  it('pushes the ids of swaps that a reorg retracted', async () => {
    const one = await client()
    await one.call('subscribe', ['tx', PAIR, 'eth'], 9)
    const retracted = [{ pair: PAIR, ids: ['101-7', '101-8'], gone: false }]
    await feed({ kind: 'retract', number: 100, retracted, pairs: [pairUpdate()] })
    expect(await one.topic('retract')).toMatchObject({
      id: 9,
      result: {
        topic: 'retract',
        id: PAIR,
        chain: 'eth',
        to_block: 100,
        ids: ['101-7', '101-8'],
        cursor: `1:eth:${node.seq}:1`,
      },
    })
  })
})

describe('kline', () => {
  it('pushes every field, with the interval names of the interface', async () => {
    const one = await client()
    for (const interval of INTERVALS) await one.call('subscribe', ['kline', PAIR, interval, 'eth'], interval)
    await feed({ pairs: [pairUpdate({ candles: INTERVALS.map((interval) => candle({ interval, time: T0 + 1 })) })] })
    for (const interval of INTERVALS) {
      const push = await one.take((frame) => frame.id === interval)
      const { eth, usd } = (push.result?.kline ?? {}) as { eth: object; usd: object }
      expect([missingFields('klineEth', eth), missingFields('klineUsd', usd)]).toEqual([[], []])
      const name = interval === 's1' ? 's1' : interval.slice(1)
      expect(push.result).toMatchObject({ id: `${PAIR}-eth`, topic: 'kline', interval: name })
      expect(eth).toEqual({ open: '0.001', high: '0.0025', low: '0.0005', close: '0.002', volume: '0.1', time: T0 + 1 })
      expect(usd).toEqual({
        ...{ open: '1', high: '2.5', low: '0.5', close: '2', volume: '100', time: T0 + 1, swap: '' },
        ...{ amount_24h: '21', change: '100', change_v2: '25', count_24h: '5', high_24h: '2.5', low_24h: '1.5' },
        volume_24h: '42.5',
      })
      expect(push.result).not.toHaveProperty('final')
    }
  })

  it('marks a candle as final once chain time has passed its end', async () => {
    const one = await client()
    await one.call('subscribe', ['kline', PAIR, 'k1', 'eth'])
    await feed({ pairs: [pairUpdate({ candles: [candle()] })] })
    expect((await one.topic('kline')).result).not.toHaveProperty('final')
    await feed({ time: T0 + 59, now: T0 + 59 })
    await one.settle()
    expect(one.frames).toEqual([])
    await feed({ time: T0 + 60, now: T0 + 60, pairs: [pairUpdate({ candles: [candle({ time: T0 + 60 })] })] })
    const [closing, opened] = [await one.topic('kline'), await one.topic('kline')]
    expect(closing.result).toMatchObject({ final: true, kline: { usd: { time: T0, close: '2' } } })
    expect(opened.result).toMatchObject({ kline: { usd: { time: T0 + 60 } } })
    expect(opened.result).not.toHaveProperty('final')
  })

  it('pushes candles corrected or removed by a reorg, including those of a removed pair', async () => {
    const one = await client()
    await one.call('subscribe', ['kline', PAIR, 'k5', 'eth'], 1)
    await one.call('subscribe', ['kline', OTHER_PAIR, 'k5', 'eth'], 2)
    const pairs = [
      pairUpdate({ candles: [candle({ interval: 'k5', close_u: 1.5 })] }),
      pairUpdate({ pair: OTHER_PAIR, candles: [candle({ interval: 'k5', removed: true })] }),
    ]
    const retracted = [{ pair: OTHER_PAIR, ids: [], gone: true }]
    await feed({ kind: 'retract', pairs, retracted })
    expect((await one.take(({ id }) => id === 1)).result).toMatchObject({
      corrected: true,
      kline: { usd: { close: '1.5' } },
    })
    const removed = await one.take(({ id }) => id === 2)
    expect(removed.result).toMatchObject({ removed: true })
    expect(removed.result).not.toHaveProperty('corrected')
    await feed({ pairs: [pairUpdate({ pair: OTHER_PAIR, candles: [candle({ interval: 'k5' })] })] })
    expect((await one.take(({ id }) => id === 2)).result).not.toHaveProperty('removed')
    await feed({ kind: 'retract', retracted })
    expect((await one.take(({ id }) => id === 2)).result).toMatchObject({ removed: true })
    await feed({ pairs: [pairUpdate({ pair: OTHER_PAIR })] })
  })

  it('pushes a main pair switch to kline subscriptions of the old and the new pair', async () => {
    const one = await client()
    await one.call('subscribe', ['kline', PAIR, 'k1', 'eth'], 1)
    await one.call('subscribe', ['kline', OTHER_PAIR, 'k60', 'eth'], 2)
    await one.call('subscribe', ['price', [`${TOKEN}-eth`]], 3)
    const change = { token: TOKEN, old_pair: PAIR, new_pair: OTHER_PAIR }
    await feed({ main_pair_changes: [change], tokens: [tokenUpdate({ main_pair: OTHER_PAIR })] })
    const frames = [await one.take(({ id }) => id === 1), await one.take(({ id }) => id === 2)]
    for (const frame of frames) {
      expect(frame).not.toHaveProperty('sent_time')
      expect(frame.result).not.toHaveProperty('topic')
      expect(frame.result?.status).toBe('ok')
      const data = frame.result?.data as Record<string, object>
      expect([
        missingFields('switchData', data),
        missingFields('newMainPairData', data.new_main_pair_data ?? {}),
      ]).toEqual([[], []])
      expect(data).toMatchObject({
        ...{ chain: 'eth', event: 'switch_main_pair', id: `${PAIR}-eth`, tag: '', token: TOKEN },
        ...{ old_main_pair: PAIR, new_main_pair: OTHER_PAIR },
        new_main_pair_data: { pair: OTHER_PAIR, init_reserve0: 1000, reserve0: 5_000_000, reserve1: 2, tvl: 4000 },
      })
    }
    expect((await one.topic('price')).result?.prices).toMatchObject([{ pair: OTHER_PAIR, is_main_pair: true }])
    await feed({ tokens: [tokenUpdate()] })
  })
})

describe('price', () => {
  it('pushes one entry with every field, by token-id and by pair-id', async () => {
    const one = await client()
    await one.call('subscribe', ['price', [`${TOKEN}-eth`]], 1)
    await one.call('subscribe', ['price', [`${PAIR}-eth`, `${OTHER_PAIR}-eth`]], 2)
    await feed({ pairs: [pairUpdate({ trades: [trade()] })] })
    const [byToken, byPair] = [await one.take(({ id }) => id === 1), await one.take(({ id }) => id === 2)]
    expect(byToken.result).toEqual(byPair.result)
    const [entry, ...more] = (byToken.result?.prices ?? []) as object[]
    expect([missingFields('priceEntry', entry ?? {}), more]).toEqual([[], []])
    expect(entry).toEqual({
      ...{
        chain: 'eth',
        pair: PAIR,
        pair_id: `${PAIR}-eth`,
        token: TOKEN,
        token_id: `${TOKEN}-eth`,
        target_token: TOKEN,
      },
      ...{ is_main_pair: true, uprice: '2', last_price: '1.6', reserve0: '5000000', reserve1: '2', price_change: '60' },
      ...{ price_change_24h: '25', volume_24_u: '42.5', direction: 'up', time: T0 + 1, change: '25', tvl: '4000' },
      ...{ makers_24h: '3', tx_amount_24h: '21', tx_count_24h: '5' },
    })
  })

  it('pushes nothing when only the statistics of a pair change', async () => {
    const one = await client()
    await one.call('subscribe', ['price', [`${PAIR}-eth`]])
    await feed({ pairs: [pairUpdate({ tvl: 5000 })] })
    await one.settle()
    expect(one.frames).toEqual([])
  })

  it('keeps an overlapping subscription when the other one ends', async () => {
    const one = await client()
    await one.call('subscribe', ['price', [`${PAIR}-eth`]], 1)
    one.send(
      JSON.stringify({
        jsonrpc: '2.0',
        method: 'subscribe',
        params: ['price', [`${PAIR}-eth`, `${OTHER_PAIR}-eth`]],
        id: 1,
      }),
    )
    await one.call('unsubscribe', ['price', [`${PAIR}-eth`]])
    one.frames.length = 0
    await feed({ pairs: [pairUpdate({ trades: [trade()] })] })
    expect(await one.topic('price')).toMatchObject({ id: 1 })
  })
})

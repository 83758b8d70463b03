/** Pushes of a chain's signals. */
import { expect, it } from 'vitest'
import type { LiquidityTrade } from '../../../services/core/domain/records.js'
import {
  candle,
  OTHER_PAIR,
  PAIR,
  pairInfo,
  pairUpdate,
  T0,
  TOKEN,
  tokenInfo,
  tokenUpdate,
  trade,
  updateWindows,
} from '../updates.js'
import { undeclared } from './declared.js'
import { usePushRig } from './rig.js'

const node = usePushRig()
const { client, feed } = node

const withdrawal = (given: Partial<LiquidityTrade>): LiquidityTrade => ({
  ...{ tx_index: 1, log_index: 9, sub: 0, tx_hash: '0xout', id: '103-9', kind: 'remove', sender: '0xrouter' },
  ...{ wallet: '0xwallet', amount0: '600', amount1: '60', reserve0: '400', reserve1: '40' },
  ...{ amount_usd: 20_000, amount_native: 10, price0_usd: 1, price1_usd: 1000, ...given },
})

const events = {
  pairs: [
    pairUpdate({ trades: [trade({ amount_usd: 49_999 }), trade({ id: '103-8', amount_usd: 50_000, sell: true })] }),
    pairUpdate({
      pair: OTHER_PAIR,
      trades: [trade({ id: '103-2', amount_usd: 60_000, flags: 2 }), trade({ id: '103-3', amount_usd: Number.NaN })],
      liquidity: [
        withdrawal({ id: '103-10', amount0: '399' }),
        withdrawal({ id: '103-11', reserve0: null }),
        withdrawal({ id: '103-12' }),
        withdrawal({ id: '103-13', kind: 'create', amount_usd: 9_999 }),
        withdrawal({ id: '103-14', kind: 'create' }),
      ],
    }),
  ],
}

it('pushes each event that is a signal, and nothing else', async () => {
  const one = await client()
  await one.call('subscribe', ['signal', 'eth'], 4)
  await feed(events)
  await one.settle()
  const pushed = one.frames.filter(({ id }) => id === 4)
  expect(pushed.map(({ result }) => [result?.id, result?.cursor])).toEqual([
    ['103-8-whale_sell', `1:eth:${node.seq}:2`],
    ['103-12-liquidity_pulled', `1:eth:${node.seq}:8`],
    ['103-14-first_liquidity', `1:eth:${node.seq}:10`],
  ])
  expect(pushed[0]?.result).toMatchObject({
    topic: 'signal',
    signal: {
      ...{
        signal_type: 'whale_sell',
        event_id: '103-8',
        token: TOKEN,
        symbol: 'TKN',
        chain: 'eth',
        pair_address: PAIR,
      },
      ...{ tx_hash: '0xhash', wallet_address: '0xwallet', amount_usd: '50000', price_usd: '2', signal_time: T0 + 1 },
    },
  })
  expect(pushed.flatMap((frame) => undeclared('signal', frame))).toEqual([])
})

it('pushes a graduation instead of first liquidity, whatever the deposit is worth', async () => {
  const one = await client()
  await one.call('subscribe', ['signal', 'eth'], 5)
  const pair = `0x${'9a'.repeat(20)}`
  const token = `0x${'9b'.repeat(20)}`
  await feed({
    tokens: [tokenUpdate({ token, info: tokenInfo({ launch_stage: 'graduated', launch_pool: pair }) })],
    pairs: [
      pairUpdate({
        pair,
        info: pairInfo({ token0: token, target: 0 }),
        liquidity: [
          withdrawal({ id: '104-1', kind: 'create', amount_usd: 5 }),
          withdrawal({ id: '104-2', kind: 'add' }),
        ],
      }),
    ],
  })
  await one.settle()
  const pushed = one.frames.filter(({ id }) => id === 5)
  expect(pushed.map(({ result }) => result?.id)).toEqual(['104-1-graduation'])
})

it('pushes a breakout with the trade that reaches the level, numbered as the candle of its hour', async () => {
  const one = await client()
  await one.call('subscribe', ['signal', 'eth'], 6)
  // 1,000 before, 9,000 of this hour, then 1,000 and 50,000.
  const hour = candle({ interval: 'k60', time: T0, volume_u: 60_000 })
  const windows = updateWindows({ buy_volume: 61_000, sell_volume: 0 })
  const trades = [trade({ id: '105-1', amount_usd: 1000 }), trade({ id: '105-2', amount_usd: 50_000 })]
  const breakout = { pairs: [pairUpdate({ windows, trades, candles: [candle(), hour] })] }
  await feed(breakout)
  await one.settle()
  const pushed = one.frames.filter(({ id }) => id === 6).map(({ result }) => result)
  expect(pushed.map((result) => [result?.id, result?.cursor])).toEqual([
    ['105-2-whale_buy', `1:eth:${node.seq}:2`],
    ['105-1-volume_breakout', `1:eth:${node.seq}:4`],
  ])
  const after = await client()
  await after.call('subscribe', ['signal', 'eth', { since: pushed[0]?.cursor }], 7)
  await after.settle()
  expect(after.frames.filter(({ id }) => id === 7).map(({ result }) => result)).toEqual(pushed.slice(1))
})

it('resumes after a cursor, over updates without a signal', async () => {
  const before = await client()
  await before.call('subscribe', ['signal', 'eth'], 1)
  await feed(events)
  await before.settle()
  const [first, ...missed] = before.frames.filter(({ id }) => id === 1).map(({ result }) => result)
  await feed({ pairs: [pairUpdate({ trades: [trade()] })] })
  await feed({ kind: 'retract', number: 90, retracted: [{ pair: PAIR, ids: ['103-8'], gone: false }] })
  const after = await client()
  await after.call('subscribe', ['signal', 'eth', { since: first?.cursor }], 2)
  await after.settle()
  const results = after.frames.filter(({ id }) => id === 2).map(({ result }) => result)
  expect(results.slice(0, missed.length)).toEqual(missed)
  expect(results.slice(missed.length)).toMatchObject([{ topic: 'retract', id: PAIR, ids: ['103-8'] }])
})

it('refuses a chain that is not indexed', async () => {
  const one = await client()
  const { error } = await one.call('subscribe', ['signal', 'moon'], 1)
  expect(error).toMatchObject({ code: -32602, message: 'Chain "moon" is not indexed.' })
})

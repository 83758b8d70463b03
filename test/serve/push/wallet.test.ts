/** Pushes of a wallet's events, in any pair. */
import { expect, it } from 'vitest'
import type { LiquidityTrade } from '../../../services/core/domain/records.js'
import { OTHER_PAIR, PAIR, pairUpdate, trade } from '../updates.js'
import { undeclared } from './declared.js'
import { usePushRig } from './rig.js'

const node = usePushRig()
const { client, feed } = node
const WALLET = `0x${'7a'.repeat(20)}`

const deposit: LiquidityTrade = {
  ...{ tx_index: 1, log_index: 9, sub: 0, tx_hash: '0xadd', id: '103-9', kind: 'add', sender: '0xrouter' },
  ...{ wallet: WALLET, amount0: '2500000', amount1: '1000000000000000', reserve0: null, reserve1: null },
  ...{ amount_usd: Number.NaN, amount_native: 0.002, price0_usd: 0.4, price1_usd: 1000 },
}

const ofWallet = {
  pairs: [
    pairUpdate({ trades: [trade(), trade({ id: '103-8', wallet: WALLET })] }),
    pairUpdate({ pair: OTHER_PAIR, trades: [trade({ id: '103-10', wallet: WALLET })], liquidity: [deposit] }),
  ],
}

it('pushes the swaps and liquidity events of the wallet alone, with the fields of tx and liq', async () => {
  const one = await client()
  await one.call('subscribe', ['wallet', WALLET.toUpperCase().replace('0X', '0x'), 'eth'], 5)
  await one.call('subscribe', ['multi_tx', pairUpdate().info?.token0, 'eth'], 6)
  await one.call('subscribe', ['liq', OTHER_PAIR, 'eth'], 7)
  await feed(ofWallet)
  await one.settle()
  const resultsOf = (id: number) => one.frames.filter((frame) => frame.id === id).map(({ result }) => result ?? {})
  const [first, , swap, second] = [resultsOf(6)[1], resultsOf(6)[0], resultsOf(6)[2], resultsOf(7)[0]]
  const cursor = (n: number) => `1:eth:${node.seq}:${n}`
  expect(resultsOf(5)).toEqual([
    { id: WALLET, topic: 'wallet', event: 'swap', tx: first?.tx, cursor: cursor(2) },
    { id: WALLET, topic: 'wallet', event: 'swap', tx: swap?.tx, cursor: cursor(4) },
    { id: WALLET, topic: 'wallet', event: 'liquidity', tx: second?.tx, cursor: cursor(5) },
  ])
  expect(one.frames.filter(({ id }) => id === 5).flatMap((frame) => undeclared('wallet', frame))).toEqual([])
})

it('tells of every retract of the chain, since an orphaned event may have been of the wallet', async () => {
  const one = await client()
  await one.call('subscribe', ['wallet', WALLET, 'eth'], 5)
  await feed({ kind: 'retract', number: 90, retracted: [{ pair: PAIR, ids: ['103-8'], gone: false }] })
  expect((await one.take(({ id }) => id === 5)).result).toMatchObject({ topic: 'retract', id: PAIR, ids: ['103-8'] })
})

it('resumes after a cursor without losing or repeating an event', async () => {
  const before = await client()
  await before.call('subscribe', ['wallet', WALLET, 'eth'], 1)
  await feed(ofWallet)
  await before.settle()
  const [first, ...missed] = before.frames.filter(({ id }) => id === 1).map(({ result }) => result)
  await feed()
  const after = await client()
  await after.call('subscribe', ['wallet', WALLET, 'eth', { since: first?.cursor }], 2)
  await after.settle()
  expect(after.frames.filter(({ id }) => id === 2).map(({ result }) => result)).toEqual(missed)
})

it('names the swaps of the wallet in the notice of a gap', async () => {
  const one = await client()
  await one.call('subscribe', ['wallet', WALLET, 'eth', { since: '0:eth:1:0' }], 3)
  const { result } = await one.take(({ id, result: pushed }) => id === 3 || pushed?.topic === 'gap')
  expect(result).toMatchObject({ topic: 'gap', chain: 'eth' })
  expect(String(result?.refill)).toContain(`/v2/address/tx?wallet_address=${WALLET}&chain=eth`)
})

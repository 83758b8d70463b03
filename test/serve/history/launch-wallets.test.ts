/** What the first buyers still have is that of a count over the surviving trades, through reorgs. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyBuyers, UNKNOWN_RATES } from '../../../services/serve/history/first-buyers.js'
import { createLaunchWallets } from '../../../services/serve/history/launch-wallets.js'
import { createQueryLanes } from '../../../services/serve/history/query-lanes.js'
import { applyUpdate } from '../../../services/serve/memory/apply-update.js'
import { createServedChain, trimFlushed } from '../../../services/serve/memory/served-chain.js'
import { countOf, seedOf } from '../../rig/counts.js'
import { row, storeOfFile } from '../rig.js'
import { storeRows } from '../stored-steps.js'
import { type FoldedStep, foldSteps, type Made, type Step, steps } from '../trade-history.js'
import { T0, TOKEN } from '../updates.js'

const store = storeOfFile('launches')
let runs = 0

const FIRST_BLOCK = 101
const PROVIDER = 'ann'
const SUPPLY = '200000'

/** Of these histories, every buy is in a transaction of its own or in the next one, and pays one of two amounts. */
function vary({ made }: FoldedStep): void {
  for (const { trade, block } of made) {
    trade.tx_index = trade.log_index * (block % 2 === 0 ? 1 : 2)
    if (!trade.sell) trade.amount_in = String(7 + (Number(trade.amount_out) % 200 === 0 ? 1 : 0))
  }
}

async function ratesOf(list: readonly Step[], hasLaunch = true) {
  runs += 1
  const chain = `launch${runs}`
  const folded = foldSteps(chain, list)
  folded.forEach(vary)
  await storeRows(store(), chain, folded)
  const creation = { kind: 'create', wallet: PROVIDER, block_number: FIRST_BLOCK, time: T0, version: 1, is_deleted: 0 }
  const rows = ['p0', 'p1'].map((pair) => row('liquidity_rows', { chain, pair, ...creation, id: pair }))
  if (hasLaunch) await store().insert('liquidity_rows', rows.join(''))
  const state = createServedChain(chain)
  for (const { update } of folded) applyUpdate(state, update, 1)
  const { update, made } = folded.at(-1) as FoldedStep
  trimFlushed(state, { epoch: update.epoch, seq: update.seq })
  const launches = createLaunchWallets(createQueryLanes(store()), async () => new Map(), { nowMs: () => 0 })
  const token = state.tokens.get(TOKEN)
  if (token === undefined) throw new Error('the token is missing')
  // Not much more than one swap moves, so that every one shows.
  token.info = { ...token.info, total_supply: SUPPLY }
  return { found: (await launches.of(state, TOKEN)).rates, made }
}

/** Written after docs/data.md, one wallet at a time. */
function counted(made: readonly Made[]) {
  const own = made.filter(({ pair }) => pair === 'p0' || pair === 'p1')
  const pair = own.some((one) => one.pair === 'p0') ? 'p0' : 'p1'
  const buys = own.filter((one) => one.pair === pair && !one.trade.sell && one.block < FIRST_BLOCK + 3)
  const named = buys.filter(({ trade }) => trade.wallet !== '')
  const isNear = (a: Made, b: Made) => a.block === b.block && Math.abs(a.trade.tx_index - b.trade.tx_index) <= 1
  /** Of wallets connected by transactions next to each other. */
  const runOf = (one: Made, seen = new Set<Made>()): Set<Made> => {
    seen.add(one)
    for (const other of named) if (!seen.has(other) && isNear(one, other)) runOf(other, seen)
    return seen
  }
  const others = (one: Made, among: Iterable<Made>) => [...among].some(({ trade }) => trade.wallet !== one.trade.wallet)
  const groups = {
    sniper_wallet_rate: named,
    insider_wallet_rate: named.filter(({ block }) => block === FIRST_BLOCK),
    bundle_wallet_rate: named.filter((one) => others(one, runOf(one))),
    cluster_wallet_rate: named.filter((one) =>
      others(
        one,
        named.filter(({ block, trade }) => block === one.block && trade.amount_in === one.trade.amount_in),
      ),
    ),
  }
  const keptBy = (wallet: string) =>
    own
      .filter(({ trade }) => trade.wallet === wallet)
      .reduce((sum, { trade }) => sum + (trade.sell ? -BigInt(trade.amount_in) : BigInt(trade.amount_out)), 0n)
  return Object.fromEntries(
    Object.entries(groups).map(([name, group]) => {
      const wallets = new Set(group.map(({ trade }) => trade.wallet))
      if (name === 'insider_wallet_rate') wallets.add(PROVIDER)
      const kept = [...wallets].map(keptBy).reduce((sum, raw) => (raw > 0n ? sum + raw : sum), 0n)
      return [name, Number((kept * 1_000_000n) / BigInt(SUPPLY)) / 1_000_000]
    }),
  )
}

it('equals a count over the surviving trades', async () => {
  let different = 0
  const property = fc.asyncProperty(steps(0), async (list) => {
    const { found, made } = await ratesOf(list)
    const isTraded = made.some(({ pair }) => pair !== 'p2')
    expect(found).toEqual(isTraded ? counted(made) : UNKNOWN_RATES)
    different += new Set(Object.values(found)).size > 2 ? 1 : 0
  })
  await fc.assert(property, { numRuns: countOf('launchHistories'), seed: seedOf('launchHistories') })
  expect(different).toBeGreaterThan(0)
}, 300_000)

it('is unknown where the launch is not in the history', async () => {
  const swap = { pair: 0, sell: false, flags: 0, price: 2, amount: 5, wallet: 'ben' }
  const list: Step[] = [{ kind: 'block', forwardS: 1, swaps: [swap] }]
  expect((await ratesOf(list, false)).found).toEqual(UNKNOWN_RATES)
  expect((await ratesOf(list)).found).not.toEqual(UNKNOWN_RATES)
})

describe('first buyers', () => {
  const buy = (blockNumber: number, txIndex: number, wallet: string, paidRaw: string) => ({
    ...{ blockNumber, txIndex, wallet, paidRaw },
  })
  const launch = { blockNumber: 10, provider: 'dev' }
  const named = (buyers: ReturnType<typeof classifyBuyers>) =>
    Object.fromEntries(Object.entries(buyers).map(([name, wallets]) => [name, [...wallets].sort()]))

  it('are told apart by block, neighbouring transactions and equal amounts', () => {
    const buys = [
      ...[buy(10, 1, 'ann', '5'), buy(10, 2, 'ben', '6'), buy(10, 9, 'cy', '5')],
      ...[buy(11, 3, 'dan', '7'), buy(12, 3, 'eve', '7'), buy(13, 1, 'fay', '7'), buy(13, 2, 'gus', '7')],
    ]
    expect(named(classifyBuyers(launch, buys))).toEqual({
      snipers: ['ann', 'ben', 'cy', 'dan', 'eve'],
      insiders: ['ann', 'ben', 'cy', 'dev'],
      bundled: ['ann', 'ben'],
      clustered: ['ann', 'cy'],
    })
  })

  it('do not bundle with themselves', () => {
    const buys = [buy(10, 1, 'ann', '5'), buy(10, 2, 'ann', '5')]
    expect(named(classifyBuyers(launch, buys))).toMatchObject({ bundled: [], clustered: [] })
  })
})

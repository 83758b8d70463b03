/** What the first buyers still have is that of a count over the surviving trades, through reorgs. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LiquidityTrade } from '../../../services/core/domain/records.js'
import { classifyBuyers, UNKNOWN_RATES } from '../../../services/serve/history/first-buyers.js'
import { createHotHistory } from '../../../services/serve/history/hot/hot-history.js'
import { createLaunchWallets } from '../../../services/serve/history/launch-wallets.js'
import { createQueryLanes } from '../../../services/serve/history/query-lanes.js'
import { applyUpdate } from '../../../services/serve/memory/apply-update.js'
import { createServedChain, trimFlushed } from '../../../services/serve/memory/served-chain.js'
import { countOf, seedOf } from '../../rig/counts.js'
import { row, storeOfFile } from '../rig.js'
import { storeRows, versionOf } from '../stored-steps.js'
import { type FoldedStep, foldSteps, type Made, type Step, swap } from '../trade-history.js'
import { TOKEN, tokenUpdate } from '../updates.js'

const store = storeOfFile('launches')
let runs = 0

const PROVIDER = 'ann'
const SUPPLY = '200000'
const OWN_PAIRS = ['p0', 'p1']
const HOT_BYTES = 1_000_000
const WAIT_MS = 60_000
const HOLD = { holdMs: 0, nowMs: () => 0 }

type Creation = { pair: string; block: number; timeS: number }

/**
 * As the fold publishes them: a pair is created with its first trade, every traded token is in the update. Of these histories,
 * every buy is in a transaction of its own or in the next one, and pays one of two amounts.
 */
function complete(folded: readonly FoldedStep[], hasLaunch: boolean): void {
  for (const { made } of folded)
    for (const { trade, block } of made) {
      trade.tx_index = trade.log_index * (block % 2 === 0 ? 1 : 2)
      if (!trade.sell) trade.amount_in = String(7 + (Number(trade.amount_out) % 200 === 0 ? 1 : 0))
    }
  let finalized = Number.MAX_SAFE_INTEGER
  for (const { update } of [...folded].reverse()) {
    finalized = Math.min(finalized, update.number)
    update.finalized_number = finalized
  }
  for (const { update, made } of folded) {
    for (const entry of update.pairs) {
      const first = made.find(({ pair }) => pair === entry.pair)
      if (first === undefined) throw new Error('a pair without trades')
      const { block: created_block, timeS: created_at } = first
      if (entry.info !== null) entry.info = { ...entry.info, created_block, created_at }
      Object.assign(entry, { first_trade_at: created_at, first_trade_block: created_block })
      const isNew = update.kind === 'block' && created_block === update.number
      if (isNew && hasLaunch) entry.liquidity = [creationEvent(created_block)]
    }
    if (update.kind === 'block' && update.number > 100) update.tokens = [tokenUpdate({ token: TOKEN, info: null })]
    for (const token of update.tokens) if (token.info !== null) token.info.total_supply = SUPPLY
  }
}

function creationEvent(block: number): LiquidityTrade {
  return {
    ...{ tx_index: 0, log_index: 0, sub: 0, tx_hash: '0xnew', id: `${block}-new`, kind: 'create', sender: PROVIDER },
    ...{ wallet: PROVIDER, amount0: '1', amount1: '1', reserve0: null, reserve1: null, amount_usd: 1 },
    ...{ amount_native: 1, price0_usd: 1, price1_usd: 1 },
  }
}

async function storeSteps(chain: string, folded: readonly FoldedStep[], creations: Map<string, Creation>) {
  await storeRows(store(), chain, folded)
  const rows: string[] = []
  for (const { update } of folded) {
    const put = ({ pair, block, timeS }: Creation, is_deleted: number) => {
      const version = versionOf(update.seq)
      const place = { chain, pair, time: timeS, block_number: block, version, is_deleted }
      rows.push(row('liquidity_rows', { ...creationEvent(block), ...place }))
    }
    for (const { pair, liquidity } of update.pairs) {
      if (liquidity.length === 0) continue
      const creation = { pair, block: update.number, timeS: update.time }
      creations.set(pair, creation)
      put(creation, 0)
    }
    for (const { pair, gone } of update.retracted) {
      const creation = creations.get(pair)
      if (gone && creation !== undefined) put(creation, 1)
    }
  }
  if (rows.length > 0) await store().insert('liquidity_rows', rows.join(''))
}

/** At some steps rows are stored, at some the rates are asked for: of a node that keeps them, and of one that does not. */
async function play(list: readonly Step[], turns: readonly Turn[], hasLaunch = true) {
  runs += 1
  const chain = `launch${runs}`
  const folded = foldSteps(chain, list)
  complete(folded, hasLaunch)
  const state = createServedChain(chain)
  const lanes = createQueryLanes(store())
  const open = (maxBytes: number) => createHotHistory(lanes, async () => {}, { ...HOLD, maxBytes })
  const [kept, unkept] = [open(HOT_BYTES), open(0)]
  const nodes = { kept: createLaunchWallets(lanes, kept, WAIT_MS), unkept: createLaunchWallets(lanes, unkept, WAIT_MS) }
  const creations = new Map<string, Creation>()
  const found: Record<string, number | null>[] = []
  let stored = 0
  for (const [at, step] of folded.entries()) {
    const early = turns[at % turns.length]?.asksEarly === true ? [nodes.kept.of(state, TOKEN)] : []
    const outcome = applyUpdate(state, step.update, 1)
    if (outcome.kind === 'applied') kept.apply(outcome.applied)
    const isLast = at === folded.length - 1
    const { stores, trims, asks } = turns[at % turns.length] as Turn
    if (stores || isLast) {
      await storeSteps(chain, folded.slice(stored, at + 1), creations)
      stored = at + 1
    }
    const newest = folded[stored - 1]?.update
    if ((trims || isLast) && newest !== undefined) trimFlushed(state, { epoch: newest.epoch, seq: newest.seq })
    await Promise.all(early)
    if (!asks && !isLast) continue
    for (const [name, launches] of Object.entries(nodes)) {
      const { rates, provider } = await launches.of(state, TOKEN)
      expect([name, at, rates]).toEqual([name, at, hasLaunch ? counted(step.made) : UNKNOWN_RATES])
      if (name === 'kept') expect((await launches.rates(state, [TOKEN])).of(TOKEN)).toEqual(rates)
      expect(provider).toBe(hasLaunch && state.targetPairs.of(TOKEN).length > 0 ? PROVIDER : '')
      found.push(rates)
    }
  }
  return found
}

/** Written after docs/data.md, one wallet at a time. */
function counted(made: readonly Made[]) {
  const own = made.filter(({ pair }) => OWN_PAIRS.includes(pair))
  const firsts = OWN_PAIRS.flatMap((pair) => own.find((one) => one.pair === pair) ?? [])
  const [first] = firsts.sort((a, b) => a.timeS - b.timeS || (a.pair < b.pair ? -1 : 1))
  if (first === undefined) return UNKNOWN_RATES
  const { pair, block: firstBlock } = first
  const buys = own.filter((one) => one.pair === pair && !one.trade.sell && one.block < firstBlock + 3)
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
    insider_wallet_rate: named.filter(({ block }) => block === firstBlock),
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

/** `trims`: memory drops what is stored. */
type Turn = { stores: boolean; trims: boolean; asks: boolean; asksEarly: boolean }
const sometimes = fc.nat(3).map((n) => n === 0)
const turn = fc.record({ stores: sometimes, trims: fc.boolean(), asks: fc.boolean(), asksEarly: sometimes })

/** Quick blocks, so that reorgs may be deep, and more reorgs than most chains have. */
const block = fc.record({
  kind: fc.constant('block' as const),
  forwardS: fc.integer({ min: 0, max: 15 }),
  swaps: fc.array(swap, { maxLength: 4, size: 'max' }),
})
const retract = fc.record({ kind: fc.constant('retract' as const), depth: fc.integer({ min: 1, max: 4 }) })
const history = fc.array(fc.oneof({ weight: 5, arbitrary: block }, { weight: 1, arbitrary: retract }), {
  ...{ minLength: 40, maxLength: 60 },
})

it('equals a count over the surviving trades, from memory and from the store, through reorgs', async () => {
  let different = 0
  const turns = fc.array(turn, { minLength: 11, maxLength: 17 })
  const property = fc.asyncProperty(history, turns, async (list, taken) => {
    for (const rates of await play(list, taken)) different += new Set(Object.values(rates)).size > 2 ? 1 : 0
  })
  await fc.assert(property, { numRuns: countOf('launchHistories'), seed: seedOf('launchHistories') })
  expect(different).toBeGreaterThan(0)
})

const SWAP = { pair: 0, sell: false, flags: 0, price: 2, amount: 5, wallet: 'ben' }
const ALWAYS: Turn = { stores: true, trims: true, asks: true, asksEarly: false }

it('counts a trade once that arrives between the request and its reading', async () => {
  const trades: Step = { kind: 'block', forwardS: 1, swaps: [SWAP] }
  const list: Step[] = [trades, ...Array<Step>(3).fill({ kind: 'block', forwardS: 1, swaps: [] }), trades]
  const quiet: Turn = { stores: false, trims: false, asks: false, asksEarly: false }
  await play(list, [...list.map(() => quiet), { ...quiet, asksEarly: true }])
})

it('is unknown where the launch is not in the history', async () => {
  await play([{ kind: 'block', forwardS: 1, swaps: [SWAP] }], [ALWAYS], false)
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

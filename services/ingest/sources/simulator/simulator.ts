/**
 * A simulated market as a source: first a thin history up to now, then blocks in real time.
 * The same seed, start and rates give the same blocks, across any restarts.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChainFacts } from '../../../core/domain/chains.js'
import type { Sleep } from '../../../core/runtime/backoff.js'
import type { Source, SourceItem, SourceRecord } from '../../source.js'
import { createAddressBook } from './addresses.js'
import { createMarket, flagshipAddress, type Market } from './chain-market.js'
import { type Origin, openSnapshots, type SnapshotStore, type Snapshots } from './market-snapshots.js'
import type { MarketState } from './market-state.js'
import { requireMoney } from './venues.js'

export type SimulatorOptions = {
  seed: number
  /** All chains together, 1 to 50,000. */
  swapsPerS: number
  /** Seconds of history written before now on a first start. */
  historyS: number
  /** About how many swaps that history has; of a market that is never resumed, since positions do not carry it. */
  historySwaps?: number
  /** Their native coins, anchors, stables and majors are the markets' money. */
  chains: readonly ChainFacts[]
  /** Stores the markets' state, so that a resume only recomputes what came since. */
  snapshots: SnapshotStore
  /** Swaps and slots between two snapshots. */
  snapshotEvery?: number
  nowMs(): number
  sleep: Sleep
  /** 0 to 1 while the history is being written. */
  onHistory?(done: number): void
}

export type SimulatorPosition = {
  startS: number
  historyS: number
  /** Slots played, over all chains. */
  step: number
  /** The rates, each from a step on. */
  rates: [step: number, swapsPerS: number][]
}

/** Takes about a second to recompute. */
const SNAPSHOT_EVERY = 40_000
/** Work between two turns of the event loop. */
const TURN_EVERY = 300
const HISTORY_STEP = 0.01

export function openSimulator(options: SimulatorOptions): Source<SimulatorPosition> {
  const { seed, chains } = options
  for (const facts of chains) requireMoney(facts)
  return {
    id: `simulator:${seed}`,
    name: 'simulator',
    async *items(from, signal) {
      const names = chains.map(({ chain }) => chain)
      const snapshots = await openSnapshots(options.snapshots, seed, names)
      const run = await startRun(options, snapshots, from)
      yield* play(options, snapshots, run, signal)
    },
  }
}

type Run = { origin: Origin; markets: Interleaved; rates: SimulatorPosition['rates'] }

async function startRun(options: SimulatorOptions, snapshots: Snapshots, from?: SimulatorPosition): Promise<Run> {
  const { seed, swapsPerS } = options
  const origin = from === undefined ? await firstOrigin(options, snapshots) : originOf(options, from)
  const kept = snapshots.latest(origin, from?.step ?? 0)
  const { historySwaps } = options
  const plan = { ...origin, seed, chains: options.chains, ...(historySwaps === undefined ? {} : { historySwaps }) }
  const markets = interleave(plan, kept)
  const rates: SimulatorPosition['rates'] = from === undefined ? [] : [...from.rates]
  for (let work = 0; from !== undefined && markets.step < from.step; ) {
    work += workOf(markets.advance(rateAt(rates, markets.step)))
    if (work > TURN_EVERY) {
      await nextTurn()
      work = 0
    }
  }
  if (rates.at(-1)?.[1] !== swapsPerS) rates.push([markets.step, swapsPerS])
  // A position from before the snapshots' run: they do not apply.
  if (JSON.stringify(snapshots.origin) !== JSON.stringify(origin)) await snapshots.begin(origin)
  return { origin, markets, rates }
}

/**
 * Stored before the first block: if a crash comes before any position is stored, the log may already hold blocks, and only
 * the same start gives the same blocks again.
 */
async function firstOrigin(options: SimulatorOptions, snapshots: Snapshots): Promise<Origin> {
  if (snapshots.origin !== undefined && !snapshots.wasPublished) return snapshots.origin
  const startS = Math.floor(options.nowMs() / 1000) - options.historyS
  const origin = originOf(options, { startS, historyS: options.historyS })
  await snapshots.begin(origin)
  return origin
}

function originOf(options: SimulatorOptions, { startS, historyS }: Pick<Origin, 'startS' | 'historyS'>): Origin {
  return { seed: options.seed, chains: options.chains.map(({ chain }) => chain), startS, historyS }
}

function rateAt(rates: SimulatorPosition['rates'], step: number): number {
  return rates.findLast(([from]) => from <= step)?.[1] ?? 1
}

async function* play(
  { swapsPerS, snapshotEvery = SNAPSHOT_EVERY, nowMs, sleep, onHistory }: SimulatorOptions,
  snapshots: Snapshots,
  { origin, markets, rates }: Run,
  signal: AbortSignal,
): AsyncGenerator<SourceItem<SimulatorPosition>> {
  const { startS, historyS } = origin
  const reportHistory = createHistoryReporter(origin, onHistory)
  // A position is read when it is about to be stored: by then the previous one is stored.
  let asked = markets.step
  let stored = markets.step
  let sinceSnapshot = 0
  let sinceTurn = 0
  while (!signal.aborted) {
    const waitMs = markets.nextMs - nowMs()
    reportHistory(markets.nextMs)
    if (waitMs > 0) {
      yield { kind: 'idle' }
      await sleep(waitMs, signal)
      continue
    }
    const record = markets.advance(swapsPerS)
    const step = markets.step
    if (record !== undefined) {
      const position = (): SimulatorPosition => {
        if (step > asked) [stored, asked] = [asked, step]
        return { startS, historyS, step, rates }
      }
      yield { kind: 'record', record, position }
    }
    const work = workOf(record)
    sinceSnapshot += work
    sinceTurn += work
    if (sinceSnapshot >= snapshotEvery && (await snapshots.keep(step, markets.states, stored))) sinceSnapshot = 0
    if (sinceTurn > TURN_EVERY) {
      sinceTurn = 0
      await nextTurn()
    }
  }
}

/** In slots and swaps: a swap comes with about three other events. */
const workOf = (record: ReturnType<Interleaved['advance']>): number =>
  record?.kind === 'block' ? 1 + (record.block.events.length >> 2) : 1

function createHistoryReporter({ startS, historyS }: Origin, report?: (done: number) => void): (atMs: number) => void {
  let reported = -1
  return (atMs) => {
    if (report === undefined || reported === 1) return
    const done = historyS === 0 ? 1 : Math.max(0, Math.min(1, (atMs / 1000 - startS) / historyS))
    if (done < 1 && done < reported + HISTORY_STEP) return
    reported = done
    report(done)
  }
}

/** Pairs that trade all the time, one per chain: the native coin against the anchor. */
export function flagships(
  seed: number,
  chains: readonly ChainFacts[],
): { chain: string; pair: string; token: string }[] {
  return chains.map((facts) => {
    const book = createAddressBook(facts.family, seed, facts.chain)
    return { chain: facts.chain, pair: flagshipAddress(book), token: requireMoney(facts).native }
  })
}

/** The markets of all chains as one stream, in order of time. */
export type Interleaved = {
  /** When the next slot of any chain is due. */
  readonly nextMs: number
  /** Slots played so far. */
  readonly step: number
  advance(swapsPerS: number): SourceRecord | undefined
  readonly states: MarketState[]
}

export type InterleavePlan = {
  seed: number
  chains: readonly ChainFacts[]
  startS: number
  historyS: number
  historySwaps?: number
}

export function interleave(
  { chains, ...plan }: InterleavePlan,
  kept?: { step: number; states: readonly MarketState[] },
): Interleaved {
  const markets = chains.map((facts, at) => createMarket({ ...plan, facts, chains }, kept?.states[at]))
  let step = kept?.step ?? 0
  // At equal times the first chain of the list comes first.
  const next = (): Market => markets.reduce((first, market) => (market.nextMs < first.nextMs ? market : first))
  return {
    get nextMs() {
      return next().nextMs
    },
    get step() {
      return step
    },
    get states() {
      return markets.map(({ state }) => state)
    },
    advance(swapsPerS) {
      step += 1
      return next().advance(swapsPerS)
    },
  }
}

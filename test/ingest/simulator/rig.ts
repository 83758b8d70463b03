import { BUILT_IN_CHAINS } from '../../../services/core/config/built-in-chains.js'
import type { ChainFacts } from '../../../services/core/domain/chains.js'
import type { Block, Event } from '../../../services/core/domain/records.js'
import type { SourceItem, SourceRecord } from '../../../services/ingest/source.js'
import type { SnapshotStore } from '../../../services/ingest/sources/simulator/market-snapshots.js'
import {
  type InterleavePlan,
  interleave,
  openSimulator,
  type SimulatorOptions,
  type SimulatorPosition,
} from '../../../services/ingest/sources/simulator/simulator.js'

export const CHAINS: readonly ChainFacts[] = ['eth', 'bsc', 'solana'].map(factsOf)

export function factsOf(chain: string): ChainFacts {
  const facts = BUILT_IN_CHAINS.find((known) => known.chain === chain)
  if (facts === undefined) throw new Error(`${chain} is not built in`)
  return facts
}

export const START_S = 1_763_000_000
export const DAY_S = 86_400
/** For runs through the source: half of their records are live. */
export const HISTORY_S = 300
export const RATE = 20

export type Played = InterleavePlan & { liveS: number; swapsPerS: number }

/** Everything the markets produce from their start to `liveS` seconds after their history. */
export function played(over: Partial<Played> = {}): SourceRecord[] {
  const { liveS = 0, swapsPerS = RATE, ...plan } = over
  const whole = { seed: 1, chains: CHAINS, startS: START_S, historyS: 3 * DAY_S, ...plan }
  const markets = interleave(whole)
  const endMs = (whole.startS + whole.historyS + liveS) * 1000
  const records: SourceRecord[] = []
  while (markets.nextMs < endMs) {
    const record = markets.advance(swapsPerS)
    if (record !== undefined) records.push(record)
  }
  return records
}

export const chainOfRecord = (record: SourceRecord): string =>
  record.kind === 'block' ? record.block.chain : record.retract.chain

/** A chain's blocks without retracted ones. */
export function survivors(records: readonly SourceRecord[], chain: string): Block[] {
  const kept: Block[] = []
  for (const record of records) {
    if (chainOfRecord(record) !== chain) continue
    if (record.kind === 'block') kept.push(record.block)
    else while ((kept.at(-1)?.number ?? 0) > record.retract.to_number) kept.pop()
  }
  return kept
}

export function eventsOf<T extends Event['type']>(blocks: readonly Block[], type: T): Extract<Event, { type: T }>[] {
  const isOfType = (event: Event): event is Extract<Event, { type: T }> => event.type === type
  return blocks.flatMap(({ events }) => events.filter(isOfType))
}

export function memorySnapshots(first?: string): SnapshotStore & { saved: string[] } {
  const saved = first === undefined ? [] : [first]
  return {
    saved,
    load: async () => saved.at(-1),
    save: async (snapshot) => {
      saved.push(snapshot)
    },
  }
}

export type Given = { record: SourceRecord; position: () => SimulatorPosition }

export type Run = Partial<SimulatorOptions> & {
  from?: SimulatorPosition
  /** Stops after this many records. */
  records: number
  /** Stores a position after this many records, like a consumer's batches. */
  storeEvery?: number
  onStored?: (position: SimulatorPosition) => void
  clock?: { ms: number }
}

/** Plays a source against a clock that jumps to each awaited time. */
export async function runSimulator({ from, records, storeEvery = 50, onStored, ...over }: Run): Promise<Given[]> {
  const clock = over.clock ?? { ms: (START_S + HISTORY_S) * 1000 }
  const stop = new AbortController()
  const source = openSimulator({
    ...{ seed: 1, swapsPerS: RATE, historyS: HISTORY_S, chains: CHAINS, snapshots: memorySnapshots() },
    snapshotEvery: 400,
    nowMs: () => clock.ms,
    sleep: async (ms) => {
      clock.ms += ms
    },
    ...over,
  })
  const given: Given[] = []
  for await (const item of source.items(from, stop.signal) as AsyncGenerator<SourceItem<SimulatorPosition>>) {
    if (item.kind !== 'record') continue
    given.push(item)
    if (given.length % storeEvery === 0) {
      const position = item.position()
      onStored?.(position)
    }
    if (given.length >= records) stop.abort()
  }
  return given
}

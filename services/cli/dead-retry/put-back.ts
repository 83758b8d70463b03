/**
 * A chain's records with dead ones put back where they belong: a record between two that do not follow each other or at the
 * end, an event in its block. The result continues from record to record wherever the given ones did.
 */
import type { Block, Event } from '../../core/domain/records.js'
import type { SourceRecord } from '../../ingest/source.js'

/** `entries`: as they are on the log. `record` is undefined if they cannot be read. */
export type LogGroup<Entry> = { record: SourceRecord | undefined; entries: readonly Entry[] }

export type DeadRecord = { offset: number; record: SourceRecord }
export type DeadEvent = { offset: number; event: Event; blockNumber: number; timeS: number }

export type Step<Entry> =
  | { kind: 'kept'; entries: readonly Entry[] }
  /** A block with more events. */
  | { kind: 'changed'; block: Block; offsets: number[] }
  | { kind: 'new'; record: SourceRecord; offset: number }

/** Each of the chain's records has a name, also if it is repeated. */
export const nameOf = (record: SourceRecord): string =>
  record.kind === 'block' ? record.block.hash : `${record.retract.from_hash}>${record.retract.to_hash}`

export const blockKey = ({ number, timeS }: { number: number; timeS: number }): string => `${number}@${timeS}`

type Head = { hash: string; number: number; timeS: number; finalizedNumber: number }

export async function* putBack<Entry>(
  groups: AsyncIterable<LogGroup<Entry>>,
  records: readonly DeadRecord[],
  events: readonly DeadEvent[],
  maxTimeBackS: number,
): AsyncGenerator<Step<Entry>> {
  const waiting = new Set(records)
  const eventsOf = new Map<string, DeadEvent[]>()
  for (const one of events) {
    const key = blockKey({ number: one.blockNumber, timeS: one.timeS })
    eventsOf.set(key, [...(eventsOf.get(key) ?? []), one])
  }
  let head: Head | undefined

  function* insert(found: readonly DeadRecord[]): Generator<Step<Entry>> {
    for (const one of found) {
      waiting.delete(one)
      head = headAfter(head, one.record)
      yield { kind: 'new', ...one }
    }
  }

  for await (const { record, entries } of groups) {
    if (record === undefined) {
      yield { kind: 'kept', entries }
      continue
    }
    const missing = head === undefined ? before(record, waiting) : between(head, record, waiting, maxTimeBackS)
    if (missing !== undefined) yield* insert(missing)
    // What does not fit is a repeated record, or the fold stops at it: the head stays either way.
    if (head === undefined || fits(head, record, maxTimeBackS)) head = headAfter(head, record)
    const added = record.kind === 'block' ? freeEvents(record.block, eventsOf) : []
    if (record.kind === 'retract' || added.length === 0) yield { kind: 'kept', entries }
    else
      yield {
        ...{ kind: 'changed', block: withEvents(record.block, added) },
        offsets: added.map(({ offset }) => offset),
      }
  }
  for (;;) {
    const current = head
    const next =
      current === undefined ? roots(waiting) : [...waiting].filter(({ record }) => fits(current, record, maxTimeBackS))
    // Of two that fit, nothing says which one the chain kept.
    if (next.length !== 1) return
    yield* insert(next)
  }
}

/** Blocks that continue no other one: where a chain begins that has nothing on the log. */
function roots(waiting: ReadonlySet<DeadRecord>): DeadRecord[] {
  const names = new Set([...waiting].map(({ record }) => nameOf(record)))
  return [...waiting].filter(({ record }) => record.kind === 'block' && !names.has(record.block.parent_hash))
}

/** The dead blocks below the first block of the log. */
function before(record: SourceRecord, waiting: ReadonlySet<DeadRecord>): DeadRecord[] {
  const found: DeadRecord[] = []
  let wanted = record.kind === 'block' ? record.block : undefined
  while (wanted !== undefined) {
    const { parent_hash, number } = wanted
    const below = [...waiting].find(
      (one) => one.record.kind === 'block' && one.record.block.hash === parent_hash && one.record.block.number < number,
    )
    if (below !== undefined) found.unshift(below)
    wanted = below?.record.kind === 'block' ? below.record.block : undefined
  }
  return found
}

/** The dead records that lead from the head to a record; undefined: none do. */
function between(
  head: Head,
  record: SourceRecord,
  waiting: ReadonlySet<DeadRecord>,
  maxTimeBackS: number,
  tried = new Set<DeadRecord>(),
): DeadRecord[] | undefined {
  if (fits(head, record, maxTimeBackS)) return []
  for (const one of waiting) {
    if (tried.has(one) || !fits(head, one.record, maxTimeBackS)) continue
    tried.add(one)
    const rest = between(headAfter(head, one.record), record, waiting, maxTimeBackS, tried)
    if (rest !== undefined) return [one, ...rest]
  }
  return undefined
}

/** As the fold accepts records (services/aggregate/accept-record.ts). */
function fits(head: Head, record: SourceRecord, maxTimeBackS: number): boolean {
  if (record.kind === 'retract')
    return record.retract.from_hash === head.hash && record.retract.to_number >= head.finalizedNumber
  const { parent_hash, number, time } = record.block
  return parent_hash === head.hash && number > head.number && time >= head.timeS - maxTimeBackS
}

function headAfter(head: Head | undefined, record: SourceRecord): Head {
  if (record.kind === 'block') {
    const { hash, number, time, finalized_number } = record.block
    const { timeS = 0, finalizedNumber = 0 } = head ?? {}
    return { hash, number, timeS: Math.max(timeS, time), finalizedNumber: Math.max(finalizedNumber, finalized_number) }
  }
  const { to_hash, to_number } = record.retract
  return { hash: to_hash, number: to_number, timeS: head?.timeS ?? 0, finalizedNumber: head?.finalizedNumber ?? 0 }
}

/** The dead events of a block whose position in it is free. */
function freeEvents(block: Block, eventsOf: ReadonlyMap<string, readonly DeadEvent[]>): DeadEvent[] {
  const dead = eventsOf.get(blockKey({ number: block.number, timeS: block.time }))
  if (dead === undefined) return []
  const taken = new Set(block.events.map(placeOf))
  return dead.filter(({ event }) => {
    const place = placeOf(event)
    const isFree = !taken.has(place)
    taken.add(place)
    return isFree
  })
}

/** Of an event in its block. */
export const placeOf = ({ tx_index, log_index, sub }: Event): string => `${tx_index}:${log_index}:${sub}`

function withEvents(block: Block, added: readonly DeadEvent[]): Block {
  const events = [...block.events, ...added.map(({ event }) => event)]
  events.sort((a, b) => a.tx_index - b.tx_index || a.log_index - b.log_index || a.sub - b.sub)
  return { ...block, events }
}

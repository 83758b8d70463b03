/** What a dead letter holds, read again with today's validation: a record, an event of a block, or why it stays dead. */
import type { ChainFamily } from '../../core/domain/chains.js'
import type { DeadLetter, Event } from '../../core/domain/records.js'
import { blocksOf } from '../../core/log/port.js'
import type { SourceRecord } from '../../ingest/source.js'
import { isObject } from '../../ingest/validate/check-fields.js'
import { readLine } from '../../ingest/validate/read-line.js'
import { readEvent } from '../../ingest/validate/validate-event.js'

export type LetterContext = {
  chain: string
  family: (chain: string) => ChainFamily
  /** Of the data's simulated market; undefined: real data. */
  seed: number | undefined
}

export type ReadLetter =
  /** `dead`: its events that are still invalid. */
  | { kind: 'record'; record: SourceRecord; dead: DeadLetter[] }
  /** The letter does not name its block's hash: number and time must be enough. */
  | { kind: 'event'; event: Event; blockNumber: number; timeS: number }
  | { kind: 'refused'; why: string }
  /** Of another chain. */
  | { kind: 'other' }

export function readLetter(letter: DeadLetter, context: LetterContext): ReadLetter {
  const { chain } = context
  if (isOnLog(letter)) return refused(onLog(letter, chain))
  if (/\(raw cut to \d+ of \d+ bytes\)$/.test(letter.detail))
    return refused('the letter holds only a part of the input: import the file again, into a new data directory')
  const raw = Buffer.from(letter.raw.buffer, letter.raw.byteOffset, letter.raw.byteLength)
  const value = jsonObject(raw)
  // Events do not name their chain, lines do.
  const isEvent = value !== undefined && letter.block_number !== null && !('chain' in value)
  return isEvent ? readDeadEvent(value, letter, context) : readDeadLine(raw, letter, context)
}

const isOnLog = ({ source }: DeadLetter): boolean => blocksOf(source.split('@')[0] ?? '') !== undefined

function onLog({ position }: DeadLetter, chain: string): string {
  return position === null
    ? `the record is on the log: \`dextape replay --chain ${chain}\` reads it with this version`
    : `its block has the event: \`dextape replay --chain ${chain}\` folds it with newer rules, \`dextape backfill --chain ${chain} --dead\` reads missing descriptions from the nodes`
}

function readDeadLine(raw: Buffer, letter: DeadLetter, { chain, family, seed }: LetterContext): ReadLetter {
  const read = readLine(raw, { source: letter.source, family })
  if (read.kind === 'dead') return letter.chain === chain ? refused(stillInvalid(read.letter)) : { kind: 'other' }
  const record: SourceRecord = read.kind === 'block' ? { kind: 'block', block: read.block } : read
  const named = read.kind === 'block' ? read.block.chain : read.retract.chain
  if (named !== chain) return { kind: 'other' }
  if (read.simulatedSeed !== seed) return refused('its market is another one than that of the data')
  return { kind: 'record', record, dead: read.kind === 'block' ? read.dead : [] }
}

function readDeadEvent(
  value: Record<string, unknown>,
  { block_number, at }: DeadLetter,
  { chain, family }: LetterContext,
): ReadLetter {
  if (!('type' in value))
    return refused(`it holds what a node returned: \`dextape backfill --chain ${chain} --dead\` decodes it again`)
  const read = readEvent(value, family(chain))
  if (!read.ok) return refused(stillInvalid(read.problem))
  return { kind: 'event', event: read.event, blockNumber: block_number ?? 0, timeS: at }
}

const refused = (why: string): ReadLetter => ({ kind: 'refused', why })

const stillInvalid = ({ reason }: { reason: string }): string => `still invalid (${reason})`

function jsonObject(raw: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(raw.toString('utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * One line of a recording → a block with the events that hold, a retract, or a dead letter. Pure, and total: whatever the
 * bytes are, they are used or dead-lettered.
 */
import { isUtf8 } from 'node:buffer'
import { isChainName } from '../../core/config/chain-facts.js'
import type { ChainFamily } from '../../core/domain/chains.js'
import type { Block, DeadLetter, Event, Retract } from '../../core/domain/records.js'
import { readEvent } from './event.js'
import { Fields, isObject, jsonOf, type Problem, shown } from './fields.js'

export type LineContext = {
  /** `file:line` */
  source: string
  family: (chain: string) => ChainFamily
}

export type ReadLine =
  | ({ kind: 'block'; block: Block; dead: DeadLetter[] } & Marked)
  | ({ kind: 'retract'; retract: Retract } & Marked)
  | { kind: 'dead'; letter: DeadLetter }

/** Only on lines of a simulated market: its seed. */
export type Marked = { simulatedSeed?: number }

/** The field that carries it. */
export const SEED_FIELD = 'simulated_seed'
const SEED_MAX = 2 ** 32 - 1

/** The chain of a dead line that does not tell one. */
export const UNKNOWN_CHAIN = 'unknown'
/** Times are epoch seconds in 32 bits in the store; larger ones are nearly always milliseconds. */
const TIME_MAX = 2 ** 32 - 1

export function readLine(line: Buffer, context: LineContext): ReadLine {
  if (!isUtf8(line)) return deadLine(line, context, { reason: 'not_utf8', detail: 'the line is not UTF-8 text' })
  const text = line.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const detail = (error as Error).message.slice(0, 200)
    return deadLine(line, context, { reason: 'malformed_json', detail }, { chain: statedChain(text) })
  }
  if (!isObject(value)) {
    const detail = `a line must be an object, got ${shown(value)}`
    return deadLine(line, context, { reason: 'not_a_record', detail })
  }
  return readRecord(value, line, context)
}

function readRecord(value: Record<string, unknown>, line: Buffer, context: LineContext): ReadLine {
  const { chain, kind = 'block' } = value
  if (typeof chain !== 'string' || !isChainName(chain)) {
    const problem: Problem =
      chain === undefined || chain === null
        ? { reason: 'missing_field', detail: '"chain" is missing' }
        : { reason: 'bad_chain', detail: `"chain" must be 1 to 32 of a-z, 0-9 and _, got ${shown(chain)}` }
    return deadLine(line, context, problem)
  }
  const family = context.family(chain)
  const fields = new Fields(value, family === 'evm')
  const marked: Marked = fields.isAbsent(SEED_FIELD) ? {} : { simulatedSeed: fields.integer(SEED_FIELD, SEED_MAX) }
  if (kind === 'retract') {
    const retract = readRetract(chain, fields)
    if (fields.problem === undefined) return { kind: 'retract', retract, ...marked }
    return deadLine(line, context, fields.problem, { chain, blockNumber: safeNumber(value.from_number) })
  }
  const blockNumber = safeNumber(value.number)
  const at = safeNumber(value.time) ?? 0
  if (kind !== 'block') {
    const problem: Problem = { reason: 'unknown_kind', detail: `"kind" must be block or retract, got ${shown(kind)}` }
    return deadLine(line, context, problem, { chain, blockNumber, at })
  }
  const head = readHead(chain, fields)
  const events = fields.list('events')
  if (fields.problem !== undefined) return deadLine(line, context, fields.problem, { chain, blockNumber, at })
  return { kind: 'block', ...readEvents(head, events, family, line, context), ...marked }
}

function readRetract(chain: string, fields: Fields): Retract {
  const retract = {
    chain,
    from_number: fields.integer('from_number', Number.MAX_SAFE_INTEGER),
    from_hash: fields.id('from_hash'),
    to_number: fields.integer('to_number', Number.MAX_SAFE_INTEGER),
    to_hash: fields.id('to_hash'),
  }
  if (retract.to_number >= retract.from_number)
    fields.refuse('out_of_range', `"to_number" ${retract.to_number} must be below "from_number" ${retract.from_number}`)
  return retract
}

function readHead(chain: string, fields: Fields): Omit<Block, 'events'> {
  return {
    chain,
    number: fields.integer('number', Number.MAX_SAFE_INTEGER),
    hash: fields.id('hash'),
    parent_hash: fields.id('parent_hash'),
    time: fields.integer('time', TIME_MAX),
    // 0: nothing is known to be final.
    finalized_number: fields.integerOr('finalized_number', Number.MAX_SAFE_INTEGER, 0),
    part: fields.integerOr('part', 0, 0),
    last_part: fields.integerOr('last_part', 0, 0),
  }
}

function readEvents(
  head: Omit<Block, 'events'>,
  values: readonly unknown[],
  family: ChainFamily,
  line: Buffer,
  context: LineContext,
): { block: Block; dead: DeadLetter[] } {
  const events: Event[] = []
  const dead: DeadLetter[] = []
  const seen = new Set<string>()
  const bury = (problem: Problem, position: string | null, value: unknown) =>
    dead.push({
      chain: head.chain,
      ...problem,
      source: context.source,
      block_number: head.number,
      position,
      raw: rawOf(value, line),
      at: head.time,
    })
  for (const value of values) {
    const read = readEvent(value, family)
    if (!read.ok) {
      bury(read.problem, read.position, value)
      continue
    }
    const { tx_index, log_index, sub } = read.event
    const position = `${tx_index}:${log_index}:${sub}`
    if (seen.has(position)) {
      const detail = `another event of this block has the position ${position}`
      bury({ reason: 'duplicate_event', detail }, position, value)
      continue
    }
    seen.add(position)
    events.push(read.event)
  }
  events.sort((a, b) => a.tx_index - b.tx_index || a.log_index - b.log_index || a.sub - b.sub)
  return { block: { ...head, events }, dead }
}

type Known = { chain?: string; blockNumber?: number | null; at?: number }

export function deadLine(line: Buffer, context: LineContext, problem: Problem, known: Known = {}): ReadLine {
  return {
    kind: 'dead',
    letter: {
      chain: known.chain ?? UNKNOWN_CHAIN,
      ...problem,
      source: context.source,
      block_number: known.blockNumber ?? null,
      position: null,
      raw: line,
      at: known.at ?? 0,
    },
  }
}

/** A line that is no JSON may still say which chain it was meant for. */
function statedChain(text: string): string {
  const stated = /"chain"\s*:\s*"([^"]{1,40})"/.exec(text.slice(0, 4096))?.[1]
  return stated !== undefined && isChainName(stated) ? stated : UNKNOWN_CHAIN
}

function rawOf(value: unknown, line: Buffer): Buffer {
  const json = jsonOf(value)
  return json === undefined ? line : Buffer.from(json)
}

function safeNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/**
 * Assigns a transaction's log lines to the instructions that wrote them, walking both in execution order. The runtime writes
 * `Program X invoke [n]` and `success` or `failed` around each; programs cannot write such lines: theirs start with `Program log:`
 * or `Program data:`.
 */

import type { Instruction } from '../transaction.js'
import { base64Bytes } from './parse-wire.js'

const PROGRAM = 'Program '
const LOG = 'Program log: '
const DATA = 'Program data: '
const INVOKE = ' invoke ['
const CUT = 'Log truncated'

const [LETTER_P, LETTER_L, LETTER_D, LETTER_I, LETTER_S, LETTER_F, LETTER_C, COLON, SPACE] = Array.from(
  'Pldisfc: ',
  (letter) => letter.charCodeAt(0),
)

const NO_DATA: readonly Uint8Array[] = []
const NO_LINES: readonly string[] = []

/** The lines of an instruction that logs nothing. */
export function keepSilent(instruction: Instruction): void {
  instruction.programData = NO_DATA
  instruction.programLogs = NO_LINES
}

/** An instruction that has begun and not ended. */
type Open = {
  /** Null: not in the instruction lists. */
  instruction: Instruction | null
  isRead: boolean
  data: Uint8Array[] | null
  lines: string[] | null
}

/** A cursor before the next logged instruction. Compares characters instead of patterns: most of a transaction's text is its logs. */
export class Invocations {
  private readonly open: Open[] = []
  private at = 0
  private line = ''
  /** Depth of the next instruction, 0 for a top-level one; -1: there is none, or the logs are truncated before it. */
  depth = -1

  constructor(private readonly logs: readonly string[]) {
    this.advance()
  }

  /** Whether the next instruction is this program's. */
  isOf(programId: string): boolean {
    const end = PROGRAM.length + programId.length
    return this.line.charCodeAt(end) === SPACE && this.line.startsWith(programId, PROGRAM.length)
  }

  /** Advances to the next. The instruction gets its lines once they are known to be complete; `isRead`: whether they will be read. */
  enter(instruction: Instruction | null, isRead: boolean): void {
    this.open.push({ instruction, isRead, data: null, lines: null })
    this.advance()
  }

  private advance(): void {
    const { logs, open } = this
    this.depth = -1
    for (; this.at < logs.length; this.at += 1) {
      const line = logs[this.at] ?? ''
      const kind = kindOf(line)
      if (kind === 'invoke') {
        // The runtime nests strictly; anything else is not a valid log.
        const isNested = line.endsWith(`${INVOKE}${open.length + 1}]`)
        if (isNested) {
          this.depth = open.length
          this.line = line
          this.at += 1
        } else this.at = logs.length
        return
      }
      if (line === CUT) {
        this.at = logs.length
        return
      }
      const writer = open[open.length - 1]
      if (writer === undefined || kind === 'consumed') continue
      if (kind === 'end') {
        open.pop()
        if (writer.instruction === null) continue
        writer.instruction.programData = writer.data ?? NO_DATA
        writer.instruction.programLogs = writer.lines ?? NO_LINES
      } else if (writer.isRead) collect(writer, kind, line)
    }
  }
}

function collect(writer: Open, kind: 'log' | 'data' | 'other', line: string): void {
  if (kind === 'data') {
    writer.data ??= []
    writer.data.push(payloadOf(line.slice(DATA.length)))
    return
  }
  writer.lines ??= []
  writer.lines.push(kind === 'log' ? line.slice(LOG.length) : line)
}

/** After `Program ` comes the kind of line, or the program's key (which has neither `l` nor a colon) and its state. */
function kindOf(line: string): 'log' | 'data' | 'invoke' | 'end' | 'consumed' | 'other' {
  const start = PROGRAM.length
  if (line.charCodeAt(0) !== LETTER_P || line.charCodeAt(start - 1) !== SPACE) return 'other'
  const first = line.charCodeAt(start)
  if (first === LETTER_L && line.charCodeAt(start + 3) === COLON) return 'log'
  if (first === LETTER_D && line.charCodeAt(start + 4) === COLON) return 'data'
  const word = line.indexOf(' ', start)
  const next = line.charCodeAt(word + 1)
  if (next === LETTER_I && line.startsWith(INVOKE, word)) return 'invoke'
  if (next === LETTER_S && line.endsWith(' success')) return 'end'
  if (next === LETTER_F && line.startsWith(' failed', word)) return 'end'
  if (next === LETTER_C && line.startsWith(' consumed ', word)) return 'consumed'
  return 'other'
}

/** A payload may have several parts (`sol_log_data`), events have one. Anything else is an unknown event. */
function payloadOf(text: string): Uint8Array {
  try {
    return base64Bytes(text)
  } catch {
    return new Uint8Array(0)
  }
}

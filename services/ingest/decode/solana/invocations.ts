/**
 * A transaction's log lines told apart by the instruction that wrote them. The runtime writes `Program X invoke [n]` and `success` or `failed` around each;
 * programs cannot write such lines, their own start with `Program log:` or `Program data:`.
 */
import { base64Bytes } from './parse-wire.js'

export type Invocation = {
  programId: string
  /** 0 for a top-level instruction. */
  depth: number
  /** Its `Program data:` payloads, in base64. */
  data: readonly string[]
  lines: readonly string[]
  /** False: the logs were cut before its end. */
  isWhole: boolean
}

const PROGRAM = 'Program '
const LOG = 'Program log: '
const DATA = 'Program data: '
const INVOKE = ' invoke ['
const SUCCESS = ' success'
const FAILED = ' failed'
const CONSUMED = ' consumed '
const CUT = 'Log truncated'

/** In the order of execution. By single letters and not by patterns: most of a transaction's text is its logs. */
export function invocationsOf(logs: readonly string[]): Invocation[] {
  const all: Invocation[] = []
  const open: Invocation[] = []
  for (const line of logs) {
    const at = open[open.length - 1]
    const kind = kindOf(line)
    if (kind === 'log') push(at, 'lines', line.slice(LOG.length))
    else if (kind === 'data') push(at, 'data', line.slice(DATA.length))
    else if (kind === 'end') {
      open.pop()
      if (at !== undefined) at.isWhole = true
    } else if (kind === 'invoke') {
      const word = line.indexOf(' ', PROGRAM.length)
      // The runtime nests strictly; what does not is no log of one.
      if (line.slice(word) !== `${INVOKE}${open.length + 1}]`) break
      const programId = line.slice(PROGRAM.length, word)
      const next: Invocation = { programId, depth: open.length, data: NONE, lines: NONE, isWhole: false }
      all.push(next)
      open.push(next)
    } else if (line === CUT) break
    else if (kind === 'other') push(at, 'lines', line)
  }
  return all
}

/** Most log nothing of their own. */
const NONE: readonly string[] = []

function push(at: Invocation | undefined, where: 'data' | 'lines', line: string): void {
  if (at === undefined) return
  if (at[where] === NONE) at[where] = [line]
  else (at[where] as string[]).push(line)
}

const [LETTER_L, LETTER_D, LETTER_I, LETTER_S, LETTER_F, LETTER_C] = ['l', 'd', 'i', 's', 'f', 'c'].map((letter) =>
  letter.charCodeAt(0),
)

/** After `Program ` comes what kind of line it is, or the program's key, which has no `l`, and what is said of it. */
function kindOf(line: string): 'log' | 'data' | 'invoke' | 'end' | 'consumed' | 'other' {
  const first = line.charCodeAt(PROGRAM.length)
  if (first === LETTER_L && line.startsWith(LOG)) return 'log'
  if (first === LETTER_D && line.startsWith(DATA)) return 'data'
  if (!line.startsWith(PROGRAM)) return 'other'
  const word = line.indexOf(' ', PROGRAM.length)
  const next = line.charCodeAt(word + 1)
  if (next === LETTER_I && line.startsWith(INVOKE, word)) return 'invoke'
  if (next === LETTER_S && line.length === word + SUCCESS.length && line.endsWith(SUCCESS)) return 'end'
  if (next === LETTER_F && line.startsWith(FAILED, word)) return 'end'
  if (next === LETTER_C && line.startsWith(CONSUMED, word)) return 'consumed'
  return 'other'
}

/** A payload may have several parts (`sol_log_data`), which events do not; garbage is an event nobody knows. */
export function payloadOf(text: string): Uint8Array {
  try {
    return base64Bytes(text)
  } catch {
    return new Uint8Array(0)
  }
}

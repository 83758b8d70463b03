/**
 * A transaction's log lines told apart by the instruction that wrote them. The runtime writes `Program X invoke [n]` and `success` or `failed` around each;
 * programs cannot write such lines, their own start with `Program log:` or `Program data:`.
 */
import { base64Bytes } from './parse-wire.js'

export type Invocation = {
  programId: string
  /** 0 for a top-level instruction. */
  depth: number
  data: Uint8Array[]
  lines: string[]
  /** False: the logs were cut before its end. */
  isWhole: boolean
}

const INVOKE = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) invoke \[(\d{1,2})\]$/
const END = /^Program [1-9A-HJ-NP-Za-km-z]{32,44} (?:success|failed)/
const CONSUMED = /^Program [1-9A-HJ-NP-Za-km-z]{32,44} consumed /
const LOG = 'Program log: '
const DATA = 'Program data: '
const CUT = 'Log truncated'

/** In the order of execution. */
export function invocationsOf(logs: readonly string[]): Invocation[] {
  const all: Invocation[] = []
  const open: Invocation[] = []
  for (const line of logs) {
    const at = open[open.length - 1]
    if (line.startsWith(LOG)) at?.lines.push(line.slice(LOG.length))
    else if (line.startsWith(DATA)) at?.data.push(payloadOf(line.slice(DATA.length)))
    else if (line === CUT) break
    else {
      const invoke = INVOKE.exec(line)
      if (invoke !== null) {
        const [, programId = '', height] = invoke
        // The runtime nests strictly; what does not is no log of one.
        if (Number(height) !== open.length + 1) break
        const next: Invocation = { programId, depth: open.length, data: [], lines: [], isWhole: false }
        all.push(next)
        open.push(next)
      } else if (END.test(line)) {
        const ended = open.pop()
        if (ended !== undefined) ended.isWhole = true
      } else if (!CONSUMED.test(line)) at?.lines.push(line)
    }
  }
  return all
}

/** A payload may have several parts (`sol_log_data`), which events do not; garbage is an event nobody knows. */
function payloadOf(text: string): Uint8Array {
  try {
    return base64Bytes(text)
  } catch {
    return new Uint8Array(0)
  }
}

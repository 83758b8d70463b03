/**
 * The lists of top-level and inner instructions → the tree of calls, each with the log lines it wrote: both are walked in execution
 * order. The runtime writes `Program X invoke [n]` and `success` or `failed` around each; programs cannot write such lines: theirs
 * start with `Program log:` or `Program data:`.
 */
import { BadTransaction } from '../decode-errors.js'
import type { Instruction } from '../transaction.js'
import { type MintOf, transferOf } from './parse-transfer.js'
import { base64Bytes } from './parse-wire.js'
import type { IsRead, RawInstruction, RawTransaction } from './raw-transaction.js'

/** The runtime allows five levels of calls, nine since SIMD-0268. */
const MAX_DEPTH = 16

type Node = Instruction & { inner: Node[] }

const NO_DATA = new Uint8Array(0)

/** `mintOf`: for transfers without a mint. `isRead`: whether a program's log lines will be read. */
export function buildTree(
  { top, inner }: Pick<RawTransaction, 'top' | 'inner'>,
  logs: readonly string[] | null,
  mintOf: MintOf,
  isRead: IsRead,
): Instruction[] {
  for (const index of inner.keys())
    if (index >= top.length)
      throw new BadTransaction('innerInstructions.index', `is ${index}, but there are ${top.length} instructions`)
  const invocations = new Invocations(logs ?? [])
  const tree: Node[] = []
  let order = 0
  for (let index = 0; index < top.length; index += 1) {
    const raw = top[index]
    if (raw === undefined) continue
    const root = nodeOf(raw, order, 0, mintOf)
    const isLogged = invocations.depth === 0 && invocations.isOf(raw.programId)
    if (isLogged) invocations.enter(root, isRead(raw.programId))
    // Precompiles (signature checks) log nothing.
    else if (invocations.depth !== -1) keepSilent(root)
    order += 1
    tree.push(root)
    const called = inner.get(index)
    if (called !== undefined) order = addCalls(root, called, order, isLogged)
    // Instructions missing from the lists are still in the logs.
    while (invocations.depth > 0) invocations.enter(null, false)
  }
  return tree

  function addCalls(root: Node, calls: readonly RawInstruction[], first: number, isRootLogged: boolean): number {
    const stack = [root]
    let isAligned = isRootLogged
    let at = first
    for (const raw of calls) {
      isAligned = isAligned && isOf(invocations, raw)
      const depth = depthOf(raw, isAligned ? invocations.depth : 1)
      if (depth > stack.length || depth > MAX_DEPTH)
        throw new BadTransaction('stackHeight', `is ${depth + 1}, but only ${stack.length} calls are open`)
      const node = nodeOf(raw, at, depth, mintOf)
      if (isAligned) invocations.enter(node, isRead(raw.programId))
      at += 1
      stack.length = depth
      stack[depth - 1]?.inner.push(node)
      stack.push(node)
    }
    return at
  }
}

/** Without its logs, which are added once they are known to be complete. */
function nodeOf(raw: RawInstruction, order: number, depth: number, mintOf: MintOf): Node {
  const { programId, accounts } = raw
  const data = typeof raw.data === 'string' ? NO_DATA : raw.data
  const transfer = transferOf(raw, data, mintOf)
  return { programId, accounts, data, inner: [], order, depth, transfer, programData: null, programLogs: null }
}

function isOf(invocations: Invocations, { programId, stackHeight }: RawInstruction): boolean {
  if (invocations.depth < 1 || !invocations.isOf(programId)) return false
  return stackHeight === null || stackHeight === invocations.depth + 1
}

/** From the node, else from the logs, else right below the top-level instruction. */
function depthOf({ stackHeight }: RawInstruction, logged: number): number {
  if (stackHeight === null) return logged
  if (stackHeight < 2)
    throw new BadTransaction('stackHeight', `is ${stackHeight} in an inner instruction; expected 2 or more`)
  return stackHeight - 1
}

const PROGRAM = 'Program '
const LOG = 'Program log: '
const DATA = 'Program data: '
const INVOKE = ' invoke ['
const CUT = 'Log truncated'

const [LETTER_P, LETTER_L, LETTER_D, LETTER_I, LETTER_S, LETTER_F, LETTER_C, COLON, SPACE] = Array.from(
  'Pldisfc: ',
  (letter) => letter.charCodeAt(0),
)

const NO_PAYLOADS: readonly Uint8Array[] = []
const NO_LINES: readonly string[] = []

/** The lines of an instruction that logs nothing. */
function keepSilent(instruction: Instruction): void {
  instruction.programData = NO_PAYLOADS
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
class Invocations {
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
        writer.instruction.programData = writer.data ?? NO_PAYLOADS
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

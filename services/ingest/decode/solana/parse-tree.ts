/** The lists of top-level and inner instructions → the tree of calls, each with its own log lines. */
import { type Invocation, invocationsOf, payloadOf } from './invocations.js'
import { base58Data } from './parse-instruction.js'
import { type MintOf, transferOf } from './parse-transfer.js'
import type { RawInstruction, RawTransaction } from './raw-transaction.js'
import { BadTransaction } from './shape.js'
import type { Instruction } from './transaction.js'

/** The runtime allows five levels of calls, nine since SIMD-0268. */
const MAX_DEPTH = 16

type Node = Instruction & { inner: Node[] }

/** What an instruction that logs nothing logged. */
const SILENT = { data: [], lines: [], isWhole: true }
/** Of logs that are missing, or cut before it. */
const UNTOLD = { data: [], lines: [], isWhole: false }

type Told = Pick<Invocation, 'data' | 'lines' | 'isWhole'>

/** `mintOf`: of a token account, for transfers that do not name it. */
export function buildTree(
  { top, inner }: Pick<RawTransaction, 'top' | 'inner'>,
  logs: readonly string[] | null,
  mintOf: MintOf,
): Instruction[] {
  for (const index of inner.keys())
    if (index >= top.length) throw new BadTransaction('innerInstructions.index', `is ${index} of ${top.length}`)
  const invocations = logs === null ? [] : invocationsOf(logs)
  const tree: Node[] = []
  let logged = 0
  let order = 0
  for (let index = 0; index < top.length; index += 1) {
    const raw = top[index]
    if (raw === undefined) continue
    const first = invocations[logged]
    // Precompiles (signature checks) log nothing.
    const isLogged = first !== undefined && first.depth === 0 && first.programId === raw.programId
    const root = nodeOf(raw, order, 0, isLogged ? first : first === undefined ? UNTOLD : SILENT, mintOf)
    if (isLogged) logged += 1
    order += 1
    tree.push(root)
    let isAligned = isLogged
    const stack = [root]
    for (const called of inner.get(index) ?? []) {
      const invocation = invocations[logged]
      isAligned = isAligned && isOf(invocation, called)
      const told = isAligned ? invocation : undefined
      const depth = depthOf(called, told)
      if (depth > stack.length || depth > MAX_DEPTH)
        throw new BadTransaction('stackHeight', `is ${depth + 1} below ${stack.length} calls`)
      const node = nodeOf(called, order, depth, told ?? UNTOLD, mintOf)
      if (isAligned) logged += 1
      order += 1
      stack.length = depth
      stack[depth - 1]?.inner.push(node)
      stack.push(node)
    }
    // What the lists leave out was logged all the same.
    while ((invocations[logged]?.depth ?? 0) > 0) logged += 1
  }
  return tree
}

function nodeOf(raw: RawInstruction, order: number, depth: number, told: Told, mintOf: MintOf): Node {
  const { programId, accounts, data } = raw
  const programLogs = told.isWhole ? told.lines : null
  if (typeof data !== 'string') {
    const transfer = transferOf(raw, data, mintOf)
    const programData = payloadsOf(told)
    return { programId, accounts, data, inner: [], order, depth, transfer, programData, programLogs }
  }
  // Of a program nobody reads: made out only when somebody does all the same.
  return {
    programId,
    accounts,
    get data() {
      return base58Data(data)
    },
    inner: [],
    order,
    depth,
    transfer: null,
    get programData() {
      return payloadsOf(told)
    },
    programLogs,
  }
}

const NO_PAYLOADS: readonly Uint8Array[] = []

function payloadsOf({ data, isWhole }: Told): readonly Uint8Array[] | null {
  if (!isWhole) return null
  return data.length === 0 ? NO_PAYLOADS : data.map(payloadOf)
}

function isOf(invocation: Invocation | undefined, { programId, stackHeight }: RawInstruction): boolean {
  if (invocation === undefined || invocation.depth === 0 || invocation.programId !== programId) return false
  return stackHeight === null || stackHeight === invocation.depth + 1
}

/** As the node tells; else as the logs do; else right below the top-level instruction. */
function depthOf({ stackHeight }: RawInstruction, invocation: Invocation | undefined): number {
  if (stackHeight !== null) {
    if (stackHeight < 2) throw new BadTransaction('stackHeight', `is ${stackHeight} in an inner instruction`)
    return stackHeight - 1
  }
  return invocation?.depth ?? 1
}

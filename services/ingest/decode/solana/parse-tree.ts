/** The lists of top-level and inner instructions → the tree of calls, each with its own log lines. */
import { type Invocation, invocationsOf } from './invocations.js'
import { transferOf } from './parse-transfer.js'
import type { RawInstruction, RawTransaction } from './raw-transaction.js'
import { BadTransaction } from './shape.js'
import type { Instruction, TokenBalance } from './transaction.js'

/** The runtime allows five levels of calls, nine since SIMD-0268. */
const MAX_DEPTH = 16

type Node = Instruction & { inner: Node[]; programData: Uint8Array[] | null; programLogs: string[] | null }

/** `mintOf`: of a token account, for transfers that do not name it. */
export function buildTree(
  { top, inner }: Pick<RawTransaction, 'top' | 'inner'>,
  logs: readonly string[] | null,
  mintOf: (account: string) => TokenBalance['mint'] | null,
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
    const root = nodeOf(raw, 0)
    tree.push(root)
    const first = invocations[logged]
    // Precompiles (signature checks) log nothing.
    const isLogged = first !== undefined && first.depth === 0 && first.programId === raw.programId
    if (isLogged) {
      take(root, first)
      logged += 1
    } else if (logs !== null && logged < invocations.length) {
      root.programData = []
      root.programLogs = []
    }
    let isAligned = isLogged
    const stack = [root]
    for (const called of inner.get(index) ?? []) {
      const invocation = invocations[logged]
      isAligned = isAligned && isOf(invocation, called)
      const depth = depthOf(called, isAligned ? invocation : undefined)
      if (depth > stack.length || depth > MAX_DEPTH)
        throw new BadTransaction('stackHeight', `is ${depth + 1} below ${stack.length} calls`)
      const node = nodeOf(called, depth)
      stack.length = depth
      stack[depth - 1]?.inner.push(node)
      stack.push(node)
      if (isAligned && invocation !== undefined) {
        take(node, invocation)
        logged += 1
      }
    }
    // What the lists leave out was logged all the same.
    while ((invocations[logged]?.depth ?? 0) > 0) logged += 1
  }
  return tree

  function nodeOf(raw: RawInstruction, depth: number): Node {
    const { programId, accounts, data } = raw
    const node: Node = {
      ...{ programId, accounts, data, depth, order, inner: [] },
      transfer: transferOf(raw, mintOf),
      programData: null,
      programLogs: null,
    }
    order += 1
    return node
  }
}

function take(node: Node, { data, lines, isWhole }: Invocation): void {
  if (!isWhole) return
  node.programData = data
  node.programLogs = lines
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

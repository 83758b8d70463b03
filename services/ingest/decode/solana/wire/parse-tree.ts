/** The lists of top-level and inner instructions → the tree of calls, each with its own log lines. */

import { BadTransaction } from '../decode-errors.js'
import type { Instruction } from '../transaction.js'
import { Invocations, keepSilent } from './invocations.js'
import type { MintOf } from './parse-parsed.js'
import { transferOf } from './parse-transfer.js'
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

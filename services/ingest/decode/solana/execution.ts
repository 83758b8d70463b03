/** A transaction's instructions as they ran: a call before what it calls. */
import type { Instruction, SolanaTransaction } from './transaction.js'

const RUN_OF = new WeakMap<SolanaTransaction, readonly Instruction[]>()

/** The place in the list is the instruction's `order`. */
export function inOrder(transaction: SolanaTransaction): readonly Instruction[] {
  const known = RUN_OF.get(transaction)
  if (known !== undefined) return known
  const run: Instruction[] = []
  for (const instruction of transaction.instructions) append(instruction, run)
  RUN_OF.set(transaction, run)
  return run
}

/** The instruction itself and everything below it. */
export function subtree(instruction: Instruction): Instruction[] {
  const run: Instruction[] = []
  append(instruction, run)
  return run
}

/** The order of the last call below it, or its own. */
export function lastOrder(instruction: Instruction): number {
  let at = instruction
  for (let next = at.inner.at(-1); next !== undefined; next = at.inner.at(-1)) at = next
  return at.order
}

function append(instruction: Instruction, run: Instruction[]): void {
  run.push(instruction)
  for (const inner of instruction.inner) append(inner, run)
}

/** A transaction's instructions as they ran: a call before what it calls. */
import type { Instruction, SolanaTransaction } from '../transaction.js'

/** Of the transaction asked for last: decoders ask many times for one, then for the next. A weak map of all would cost more than making it. */
let last: { transaction: SolanaTransaction; run: readonly Instruction[] } | null = null

/** The place in the list is the instruction's `order`. */
export function inOrder(transaction: SolanaTransaction): readonly Instruction[] {
  if (last?.transaction === transaction) return last.run
  const run: Instruction[] = []
  for (const instruction of transaction.instructions) append(instruction, run)
  last = { transaction, run }
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

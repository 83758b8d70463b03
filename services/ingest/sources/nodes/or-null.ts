import { type FaultKind, NodeFault } from './node-fault.js'

/** Null where the answer is a fault of one of these kinds: then it is an answer too. */
export async function orNull<T>(asked: Promise<T>, kinds: readonly FaultKind[]): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof NodeFault && kinds.includes(error.kind)) return null
    throw error
  }
}

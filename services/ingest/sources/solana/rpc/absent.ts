/** What did not come, told from what cannot. */
import { type FaultKind, NodeFault } from '../../nodes/node-fault.js'

const ABSENCES: ReadonlySet<FaultKind> = new Set<FaultKind>(['unknown_block', 'lags'])
/** In a short time a question may meet nothing else, though the block is there. */
const PASSING: ReadonlySet<FaultKind> = new Set<FaultKind>([
  ...ABSENCES,
  'unavailable',
  'timeout',
  'rate_limited',
  'node_error',
  'lies',
])

export const isPassing = (error: unknown): error is NodeFault => error instanceof NodeFault && PASSING.has(error.kind)

/** Null: nobody has it, or who was asked last is behind. */
export const orAbsent = <T>(asked: Promise<T>): Promise<T | null> => orNull(asked, ABSENCES)

/** Null: it did not come in the time that was given. */
export const ifItComes = <T>(asked: Promise<T>): Promise<T | null> => orNull(asked, PASSING)

async function orNull<T>(asked: Promise<T>, kinds: ReadonlySet<FaultKind>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof NodeFault && kinds.has(error.kind)) return null
    throw error
  }
}

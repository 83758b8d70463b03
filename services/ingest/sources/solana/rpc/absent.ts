/** What did not come, told from what cannot. */
import { type FaultKind, NodeFault, orNull } from '../../nodes/node-fault.js'

const ABSENCES: readonly FaultKind[] = ['unknown_block', 'lags']
/** In a short time a question may meet nothing else, though the block is there. */
const PASSING: readonly FaultKind[] = [...ABSENCES, 'unavailable', 'timeout', 'rate_limited', 'node_error', 'lies']

export const isPassing = (error: unknown): error is NodeFault =>
  error instanceof NodeFault && PASSING.includes(error.kind)

/** Null: nobody has it, or who was asked last is behind. */
export const orAbsent = <T>(asked: Promise<T>): Promise<T | null> => orNull(asked, ABSENCES)

/** Null: it did not come in the time that was given. */
export const ifItComes = <T>(asked: Promise<T>): Promise<T | null> => orNull(asked, PASSING)

/** The interface's documents. Absent on somebody's own machine, what needs them skips; on CI a missing file fails. */
import { hasSpec, readSpec, type Spec } from './spec.js'
import { hasWireFacts, readWireFacts, type WireFacts } from './wire-facts.js'

export type Documents = { spec: Spec; facts: WireFacts }

export function readDocuments(): Documents | undefined {
  if (!(hasSpec && hasWireFacts) && process.env.CI === undefined) return undefined
  return { spec: readSpec(), facts: readWireFacts() }
}

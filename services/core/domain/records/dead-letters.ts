// Generated from schemas/avro by `npm run generate`; a test fails when it differs.

/** What could not be decoded or applied, with its reason and raw form */
export interface DeadLetter {
  chain: string
  /** a code */
  reason: string
  detail: string
  /** where it came from: file and line, topic and offset */
  source: string
  block_number: number | null
  /** tx_index:log_index:sub of the event */
  position: string | null
  raw: Uint8Array
  /** chain time where known, else 0 */
  at: number
}

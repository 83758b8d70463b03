/** Generated and recorded transactions, all converted to the encoding `json`. */

import type { JsonTransaction } from '../../../ingest/decode/solana/encodings.js'
import { realTransactions } from '../../../ingest/decode/solana/real-transactions.js'
import { generatedTransactions } from '../generated/transactions.js'
import { fromParsed, type ParsedTransaction } from './from-parsed.js'
import { fromYellowstone, type YellowstoneTransaction } from './from-yellowstone.js'

/** `original`: as it was recorded. */
export type JsonForm = { name: string; slot: number; value: JsonTransaction; original: unknown }

let held: readonly JsonForm[] | undefined

/** Empty without recordings. */
export function recordedInJson(): readonly JsonForm[] {
  held ??= realTransactions().map(({ name, slot, value }) => ({ name, slot, original: value, value: inJson(value) }))
  return held
}

export function generatedInJson(): readonly JsonForm[] {
  return generatedTransactions().map(({ name, slot, value }) => ({ name, slot, value, original: value }))
}

/** The transactions that the generated chain repeats. */
export function everyInJson(): readonly JsonForm[] {
  return [...generatedInJson(), ...recordedInJson()]
}

function inJson(value: Record<string, unknown>): JsonTransaction {
  const { transaction, meta, version } = value as ParsedTransaction | YellowstoneTransaction | JsonTransaction as {
    transaction: { message: { accountKeys: unknown[]; versioned?: boolean } }
    meta: unknown
    version?: unknown
  }
  if (transaction.message.versioned !== undefined)
    return fromYellowstone({ transaction, meta } as YellowstoneTransaction)
  const isParsed = typeof transaction.message.accountKeys[0] === 'object'
  return isParsed
    ? fromParsed({ version, transaction, meta } as ParsedTransaction)
    : ({ version, transaction, meta } as JsonTransaction)
}

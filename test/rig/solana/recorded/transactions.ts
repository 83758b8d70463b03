/** The transactions recorded on mainnet, all in the encoding `json`, whatever shape they were recorded in. */

import type { JsonTransaction } from '../../../ingest/decode/solana/encodings.js'
import { realTransactions } from '../../../ingest/decode/solana/real-transactions.js'
import { fromParsed, type ParsedTransaction } from './from-parsed.js'
import { fromYellowstone, type YellowstoneTransaction } from './from-yellowstone.js'

export type Recorded = { name: string; slot: number; value: JsonTransaction; original: unknown }

let held: readonly Recorded[] | undefined

export function recordedTransactions(): readonly Recorded[] {
  // Those that lie with the tests are there in encodings that tell less.
  held ??= realTransactions()
    .filter(({ name }) => !name.startsWith('fixtures/'))
    .map(({ name, slot, value }) => ({ name, slot, original: value, value: inJson(value) }))
  return held
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

/** The recorded transactions mean the same in every encoding the rig serves them in. */
import { describe, expect, it } from 'vitest'
import { memoryBook } from '../../../services/ingest/decode/solana/block/book.js'
import { decodeSolanaBlock } from '../../../services/ingest/decode/solana/block/decode-block.js'
import { rulesOf } from '../../ingest/decode/solana/block/decoded.js'
import { asBase58, asBase64 } from '../../ingest/decode/solana/encodings.js'
import { asParsed } from '../../rig/solana/recorded/as-parsed.js'
import type { ParsedTransaction } from '../../rig/solana/recorded/from-parsed.js'
import { recordedTransactions } from '../../rig/solana/recorded/transactions.js'

const RULES = rulesOf({ balances: 'all' })
const told = (value: unknown, slot: number) => {
  const { events, lost } = decodeSolanaBlock(slot, [{ index: 3, value }], memoryBook(), RULES)
  return { events, lost: lost.map(({ reason, detail, order }) => ({ reason, detail, order })) }
}

describe.each(recordedTransactions())('$name', ({ value, original, slot }) => {
  it.each([
    ['json', value],
    ['jsonParsed', asParsed(value)],
    ['base64', asBase64(value)],
    ['base58', asBase58(value)],
  ])('as %s has the recording’s events', (_, encoded) => {
    expect(told(encoded, slot)).toEqual(told(original, slot))
  })
})

const parsed = recordedTransactions().filter(({ name }) => name.startsWith('anchores/'))

it.each(parsed)('$name: parsed again it is what the node gave', ({ value, original }) => {
  const { transaction, meta } = original as ParsedTransaction
  const again = asParsed(value) as ParsedTransaction
  expect(again.transaction).toEqual(transaction)
  expect(again.meta).toEqual(meta)
})

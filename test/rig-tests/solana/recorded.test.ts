/** Transactions decode the same in every encoding the rig serves. */
import { expect, it } from 'vitest'
import { memoryBook } from '../../../services/ingest/decode/solana/block/book.js'
import { decodeSolanaBlock } from '../../../services/ingest/decode/solana/block/decode-block.js'
import { rulesOf } from '../../ingest/decode/solana/block/decoded.js'
import { asBase58, asBase64, asYellowstone, type JsonTransaction } from '../../ingest/decode/solana/encodings.js'
import { recordedCases } from '../../rig/recordings.js'
import { asParsed } from '../../rig/solana/recorded/as-parsed.js'
import { fromParsed, type ParsedTransaction } from '../../rig/solana/recorded/from-parsed.js'
import { fromYellowstone, type YellowstoneTransaction } from '../../rig/solana/recorded/from-yellowstone.js'
import { generatedInJson, type JsonForm, recordedInJson } from '../../rig/solana/recorded/transactions.js'

const RULES = rulesOf({ balances: 'all' })
const decodeValue = (value: unknown, slot: number) => {
  const { events, lost } = decodeSolanaBlock(slot, [{ index: 3, value }], memoryBook(), RULES)
  return { events, lost: lost.map(({ reason, detail, order }) => ({ reason, detail, order })) }
}

const ENCODINGS: readonly (readonly [name: string, encode: (value: JsonTransaction) => unknown])[] = [
  ['json', (value) => value],
  ['jsonParsed', asParsed],
  ['base64', asBase64],
  ['base58', asBase58],
]
const inEncodings = (forms: readonly JsonForm[]) =>
  forms.flatMap((form) => ENCODINGS.map(([encoding, encode]) => ({ ...form, encoding, encode })))

it.each([...inEncodings(generatedInJson()), ...recordedCases('encodings', 120, () => inEncodings(recordedInJson()))])(
  '$name as $encoding has the events of the original',
  ({ value, original, slot, encode }) => {
    const { events, lost } = decodeValue(original, slot)
    expect(events.length).toBeGreaterThan(0)
    expect(decodeValue(encode(value), slot)).toEqual({ events, lost })
  },
)

it.each(generatedInJson())('$name: converts to the parsed and streamed forms and back', ({ value }) => {
  expect(fromParsed(asParsed(value) as ParsedTransaction)).toEqual(withLookups(value))
  const streamed = asYellowstone(value, (bytes) => [...bytes]) as YellowstoneTransaction
  const { version: _, ...back } = fromYellowstone(streamed)
  expect(decodeValue(back, 1)).toEqual(decodeValue(value, 1))
})

/** The parsed form has a list of lookups even if it is empty. */
function withLookups({ transaction, ...rest }: JsonTransaction): JsonTransaction {
  return { ...rest, transaction: { ...transaction, message: { addressTableLookups: [], ...transaction.message } } }
}

const parsed = recordedCases('parsed by nodes', 7, () =>
  recordedInJson().filter(({ name }) => name.startsWith('anchores/')),
)

it.each(parsed)('$name: parsing it again gives the node’s form', ({ value, original }) => {
  const { transaction, meta } = original as ParsedTransaction
  const again = asParsed(value) as ParsedTransaction
  expect(again.transaction).toEqual(transaction)
  expect(again.meta).toEqual(meta)
})

/** A block as `getBlock` and `blockSubscribe` return it (solana.com/docs/rpc/http/getblock). */
import { asBase58, asBase64, type JsonTransaction } from '../../ingest/decode/solana/encodings.js'
import type { LedgerBlock } from './ledger.js'
import { asParsed } from './recorded/as-parsed.js'
import { invalidParams, unsupportedVersion } from './rpc-errors.js'

export type BlockOptions = {
  encoding?: string
  transactionDetails?: string
  rewards?: boolean
  maxSupportedTransactionVersion?: number
}

export type BlockAnswer = {
  blockHeight: number | null
  blockTime: number | null
  blockhash: string
  parentSlot: number
  previousBlockhash: string
  transactions?: { transaction: unknown; meta: unknown; version?: unknown }[]
  signatures?: string[]
  rewards?: unknown[]
}

export function blockAnswer(block: LedgerBlock, options: BlockOptions): BlockAnswer {
  const { transactionDetails = 'full', rewards = true } = options
  const { blockHeight, blockTimeS, blockhash, parentSlot, previousBlockhash, transactions } = block
  const answer: BlockAnswer = { blockHeight, blockTime: blockTimeS, blockhash, parentSlot, previousBlockhash }
  if (transactionDetails === 'full') answer.transactions = transactions.map((each) => encoded(each, options))
  else if (transactionDetails === 'signatures')
    answer.signatures = transactions.map(({ transaction }) => transaction.signatures[0] ?? '')
  else if (transactionDetails !== 'none') throw invalidParams(`transactionDetails ${transactionDetails} is not served`)
  if (rewards) answer.rewards = []
  return answer
}

function encoded(value: JsonTransaction, { encoding = 'json', maxSupportedTransactionVersion: most }: BlockOptions) {
  const { version, ...unversioned } = value
  // A request without `maxSupportedTransactionVersion` gets no version and only legacy transactions.
  if (typeof version === 'number' && (most === undefined || version > most)) throw unsupportedVersion(version)
  const transaction = inEncoding(most === undefined ? unversioned : value, encoding)
  return transaction as NonNullable<BlockAnswer['transactions']>[number]
}

function inEncoding(value: JsonTransaction, encoding: string): unknown {
  switch (encoding) {
    case 'json':
      return value
    case 'jsonParsed':
      return asParsed(value)
    case 'base64':
      return asBase64(value)
    case 'base58':
      return asBase58(value)
    default:
      throw invalidParams(`Invalid params: unknown variant \`${encoding}\`.`)
  }
}

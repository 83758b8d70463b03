/** Transactions as a Geyser endpoint sends them. */
import { decodeBase58, encodeBase58 } from '../../../../../services/ingest/decode/solana/keys/base58.js'
import {
  geyserService,
  type SubscribeUpdate,
} from '../../../../../services/ingest/sources/solana/geyser/geyser-service.js'
import { generatedTransactions } from '../../../../rig/solana/generated/transactions.js'
import { asYellowstone } from '../../../decode/solana/encodings.js'
import { type RealTransaction, realTransactions } from '../../../decode/solana/real-transactions.js'

/** As a Geyser endpoint would send them, signatures in base58. */
export function generatedForGeyser(): RealTransaction[] {
  return generatedTransactions().map(({ name, slot, value }) => {
    const sent = asYellowstone(value, (bytes) => bytes) as { transaction: object; meta: object }
    const transaction = { ...sent.transaction, signatures: value.transaction.signatures }
    return { name, slot, value: { transaction, meta: sent.meta } }
  })
}

/** Only these were recorded from a Geyser endpoint. */
export function recordedFromGeyser(): RealTransaction[] {
  return realTransactions().filter(({ name }) => name.startsWith('vixen/'))
}

type Info = { transaction: { signatures: string[] }; meta: object }

/** Converts bytes that the recording has as base58 back to bytes. */
export function wireTransaction({ value }: RealTransaction, index: number): object {
  const { transaction, meta } = value as Info
  const signatures = transaction.signatures.map((signature) => decodeBase58(signature))
  return wireInfo(index, { ...transaction, signatures }, meta)
}

export function wireInfo(index: number, transaction: object = {}, meta: object = {}, isVote = false): object {
  const types = geyserService()
  return { isVote, index, transaction: types.transaction.serialize(transaction), meta: types.meta.serialize(meta) }
}

export function hashOf(slot: number, fork = 0): string {
  const bytes = new Uint8Array(32).fill(7)
  new DataView(bytes.buffer).setFloat64(8, slot)
  bytes[31] = fork
  return encodeBase58(bytes)
}

export function blockUpdate(slot: number, transactions: readonly object[] = [], changed: object = {}): SubscribeUpdate {
  return {
    block: {
      slot,
      blockhash: hashOf(slot),
      parentSlot: slot - 1,
      parentBlockhash: hashOf(slot - 1),
      blockTime: { timestamp: 1_760_000_000 + slot },
      executedTransactionCount: transactions.length,
      transactions,
      ...changed,
    },
  }
}

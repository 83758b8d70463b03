/**
 * Senders that came with their blocks: where most transactions of a chain's blocks are needed, headers are requested
 * with their transactions, and nothing is requested twice.
 */
import { isAddress, isHash } from './hex.js'

export interface ListedSenders {
  /** Caches the senders of a whole block. Malformed transactions are skipped: they are requested by hash later. */
  keep(blockHash: string, transactions: unknown): void
  /** Returns and drops what is cached for a block. */
  take(blockHash: string): ReadonlyMap<string, string> | undefined
  /** Records how many of a range's transactions were needed. */
  wanted(count: number, of: number): void
  /** Whether enough transactions are needed for whole blocks to pay off. */
  readonly isDense: boolean
}

type WireTransaction = { hash?: unknown; from?: unknown; blockHash?: unknown } | null

/** A transaction within its block costs a tenth of a single request, so whole blocks pay off at a third. */
const DENSE_SHARE = 0.33
const SHARE_OF_NEW = 0.3
/** Bounds what is never taken. */
const KEPT_BLOCKS = 5_000

export function createListedSenders(): ListedSenders {
  const kept = new Map<string, Map<string, string>>()
  let share: number | null = null
  return {
    keep(blockHash, transactions) {
      if (!Array.isArray(transactions)) return
      const senders = new Map<string, string>()
      for (const transaction of transactions as WireTransaction[]) {
        const { hash, from, blockHash: block } = transaction ?? {}
        if (isHash(hash) && isAddress(from) && typeof block === 'string' && block.toLowerCase() === blockHash)
          senders.set(hash.toLowerCase(), from.toLowerCase())
      }
      if (kept.size >= KEPT_BLOCKS) kept.clear()
      kept.set(blockHash, senders)
    },
    take(blockHash) {
      const senders = kept.get(blockHash)
      kept.delete(blockHash)
      return senders
    },
    wanted(count, of) {
      if (of > 0) share = share === null ? count / of : share + (count / of - share) * SHARE_OF_NEW
    },
    get isDense() {
      return share !== null && share >= DENSE_SHARE
    },
  }
}

/**
 * Senders that came with their blocks: where most transactions of a chain's blocks are wanted, headers are asked for with the
 * transactions in them, and nothing is asked twice.
 */
import { isAddress, isHash } from './hex.js'

export interface ListedSenders {
  /** Of a block as it came, transactions and all. Those that are not whole are left out: they are asked for by name. */
  keep(blockHash: string, transactions: unknown): void
  /** Hands out what is known of a block, once. */
  take(blockHash: string): ReadonlyMap<string, string> | undefined
  /** How many of a range's transactions were wanted. */
  wanted(count: number, of: number): void
  /** Whether whole blocks would mostly be of use. */
  readonly isDense: boolean
}

type WireTransaction = { hash?: unknown; from?: unknown; blockHash?: unknown } | null

/** A transaction in its block is a tenth of what it is alone, with its request: a third of them pays. */
const DENSE_SHARE = 0.33
const SHARE_OF_NEW = 0.3
/** What nobody takes must not stay. */
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

/**
 * How senders are requested: with their blocks where most are needed, else by transaction, receipt or block. Some nodes
 * recover a signature for each transaction and have the sender ready in its receipt (ten times faster, measured on
 * anvil); others are faster with whole blocks. So each way is tried on a few transactions, and the fastest is used.
 */
import { isAddress, isHash } from './hex.js'

export type SenderWay = 'transaction' | 'receipt' | 'block'

export interface SenderWays {
  /** A way that was not measured yet; undefined if all were. */
  untried(hasWhole: boolean): SenderWay | undefined
  best(hasWhole: boolean): SenderWay
  measured(way: SenderWay, count: number, ms: number): void
  /** Marks a way as unsupported. Returns whether another is left. */
  refused(way: SenderWay): boolean
  isRefused(way: SenderWay): boolean
}

const WAYS: readonly SenderWay[] = ['transaction', 'receipt', 'block']
/** Smaller samples measure the network, not the node. */
export const MIN_SAMPLE = 50
const SHARE_OF_NEW = 0.3
/** Single requests also cost work here, so they must be clearly faster. Receipts are the largest responses. */
const HANDICAP: Record<SenderWay, number> = { transaction: 2, receipt: 2.5, block: 1 }
/** After this many jobs the other ways are measured again: one slow sample may have been chance. */
const TRY_AGAIN_AFTER = 500

export function createSenderWays(): SenderWays {
  const msEach = new Map<SenderWay, number>()
  const refused = new Set<SenderWay>()
  let jobs = 0
  const cost = (way: SenderWay) => (msEach.get(way) ?? Number.POSITIVE_INFINITY) * HANDICAP[way]
  const among = (hasWhole: boolean) => WAYS.filter((way) => !refused.has(way) && (hasWhole || way !== 'block'))

  function best(hasWhole: boolean): SenderWay {
    if (msEach.size === 0 && hasWhole && !refused.has('block')) return 'block'
    return among(hasWhole).reduce((one, other) => (cost(other) < cost(one) ? other : one))
  }

  return {
    untried: (hasWhole) => among(hasWhole).find((way) => !msEach.has(way)),
    best,
    measured(way, count, ms) {
      if (count < MIN_SAMPLE) return
      const known = msEach.get(way)
      const each = ms / count
      msEach.set(way, known === undefined ? each : known + (each - known) * SHARE_OF_NEW)
      if (++jobs % TRY_AGAIN_AFTER === 0) for (const other of WAYS) if (other !== way) msEach.delete(other)
    },
    refused(way) {
      refused.add(way)
      return !(refused.has('transaction') && refused.has('receipt'))
    },
    isRefused: (way) => refused.has(way),
  }
}

/**
 * Senders that came with their blocks: where most transactions of a chain's blocks are needed, headers are requested
 * with their transactions, and nothing is requested twice.
 */
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

import type { Placed } from '../memory/event-overlay.js'

export type EventQuery = {
  pair: string
  limit: number
  fromS: number | undefined
  toS: number | undefined
  sort: 'asc' | 'desc'
  /** Return only items after this position, in the order of `sort`. */
  after: Place | undefined
  /** Only items of blocks up to this one. */
  upToBlock?: number
}

/** Position of an event in its pair's history. */
export type Place = Placed<{ tx_index: number; log_index: number; sub: number }>
export type Ordered = Place & { id: string }

/** Ascending from a given start: the first `limit`; otherwise the last `limit`, in the requested order. */
export function readsForward({ sort, fromS, after }: EventQuery): boolean {
  return sort === 'asc' && (fromS !== undefined || after !== undefined)
}

export function isIncluded(event: Ordered, { after, sort, upToBlock = Number.MAX_SAFE_INTEGER }: EventQuery): boolean {
  if (event.blockNumber > upToBlock) return false
  return after === undefined || (sort === 'asc' ? inOrder(event, after) > 0 : inOrder(event, after) < 0)
}

/** By time first: block times may decrease, and clients page by time. */
export function inOrder(a: Place, b: Place): number {
  return a.timeS - b.timeS || inChainOrder(a, b)
}

export function inChainOrder(a: Place, b: Place): number {
  return a.blockNumber - b.blockNumber || a.tx_index - b.tx_index || a.log_index - b.log_index || a.sub - b.sub
}

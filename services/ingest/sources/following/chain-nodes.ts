/**
 * What following a chain needs from its nodes, for every chain family. Every answer is verified before it is returned:
 * a node that lies or lags is an error that names it.
 */

export type Header = {
  number: number
  hash: string
  parentHash: string
  /** Set where numbers may be skipped (a slot without a block); else it is `number - 1`. */
  parentNumber?: number
  timeS: number
}

/** The newest block: at least its number. */
export type Head = Header | { number: number }

export interface ChainNodes<B extends Header> {
  /** The newest block of the healthy endpoints. */
  head(signal: AbortSignal): Promise<Head>
  /** Yields whenever the head may have changed (a node's notice, else a poll at the pace of the chain's blocks). */
  heads(signal: AbortSignal): AsyncGenerator<Head>
  /** Null if no healthy endpoint has it (any more). `number`: the block's own. */
  headerByHash(hash: string, number: number, signal: AbortSignal): Promise<Header | null>
  /** Null if there is no such block (yet). */
  headerByNumber(number: number, signal: AbortSignal): Promise<Header | null>
  /** The last final block reported by the nodes; null if they report none. */
  finalized(signal: AbortSignal): Promise<number | null>
  /** Every block from `from` to `to`, both included, linked by parent hashes. Empty if no number among them has a block. */
  range(from: number, to: number, signal: AbortSignal): Promise<B[]>
  /** Exactly these blocks, even if the head moves meanwhile. */
  blocks(headers: readonly Header[], signal: AbortSignal): Promise<B[]>
  close(): Promise<void>
}

/** Average seconds between these blocks; never zero, because several may share a second. */
export function timeBetween(blocks: readonly Pick<Header, 'timeS'>[]): number {
  const spanS = (blocks.at(-1)?.timeS ?? 0) - (blocks[0]?.timeS ?? 0)
  return Math.max(0.05, spanS / Math.max(1, blocks.length - 1))
}

/** What following a chain asks of its nodes, whatever family it is of. Every answer is checked before it is given: a node that lies or lags is an error with its name. */

export type Header = {
  number: number
  hash: string
  parentHash: string
  /** Where numbers may be left out (a slot without a block); else it is the one below. */
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
  /** Null: no healthy endpoint knows it (any more). `number`: its own. */
  headerByHash(hash: string, number: number, signal: AbortSignal): Promise<Header | null>
  /** Null: nothing is there (yet). */
  headerByNumber(number: number, signal: AbortSignal): Promise<Header | null>
  /** The last final block by the nodes' word; null: they have none. */
  finalized(signal: AbortSignal): Promise<number | null>
  /** Every block from `from` to `to`, both included, linked by parent hashes. Empty: no number between them has a block. */
  range(from: number, to: number, signal: AbortSignal): Promise<B[]>
  /** These very blocks: whatever becomes of the head meanwhile. */
  blocks(headers: readonly Header[], signal: AbortSignal): Promise<B[]>
  close(): Promise<void>
}

/** Seconds from one block to the next, over these. Several may share a second: never nothing. */
export function timeBetween(blocks: readonly Pick<Header, 'timeS'>[]): number {
  const spanS = (blocks.at(-1)?.timeS ?? 0) - (blocks[0]?.timeS ?? 0)
  return Math.max(0.05, spanS / Math.max(1, blocks.length - 1))
}

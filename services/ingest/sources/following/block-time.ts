import type { Header } from './chain-nodes.js'

/** Seconds from one block to the next, over these. Several may share a second: never nothing. */
export function timeBetween(blocks: readonly Pick<Header, 'timeS'>[]): number {
  const spanS = (blocks.at(-1)?.timeS ?? 0) - (blocks[0]?.timeS ?? 0)
  return Math.max(0.05, spanS / Math.max(1, blocks.length - 1))
}

/**
 * A book behind the log: the process died while a batch was only partly published, and over final blocks the book rolls
 * back by whole batches. The blocks in between are read again, into the book alone.
 */

import type { ChainNodes, Header } from './chain-nodes.js'
import { type ChunkSize, inChunks } from './chunks.js'
import type { ChainBook } from './journaled-map.js'

type Mark = { number: number; hash: string }

export type BookCatchUp<B extends Header> = {
  book: ChainBook
  nodes: Pick<ChainNodes<B>, 'range' | 'headerByHash'>
  prepare(blocks: readonly B[], parent: Header, signal: AbortSignal): Promise<(block: B) => unknown>
  chunkSize: ChunkSize
  weightOf(block: B): number
}

/** The end of a range may come late, and a node may lie: retries. */
const ROUNDS = 5

/** `onLog`: hashes of published blocks. False if the nodes' chain does not lead from the book to that block. */
export async function catchBookUp<B extends Header>(
  parts: BookCatchUp<B>,
  to: Mark,
  onLog: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<boolean> {
  const { book, nodes, prepare, chunkSize: size, weightOf } = parts
  const base = book.steps.at(-1)
  let next = base === undefined ? book.first() : base.number + 1
  let last: Header | undefined = base === undefined ? undefined : { ...base, parentHash: '' }
  for (let round = 0; next !== undefined && next <= to.number && round < ROUNDS; round += 1) {
    const fetch = (from: number, end: number) => nodes.range(from, end, signal)
    for await (const blocks of inChunks({ from: next, to: to.number, fetch, size, weightOf })) {
      const [first] = blocks
      if (first === undefined) continue
      const parent: Header = last ?? parentOf(first)
      // One answer that does not link decides nothing.
      if (first.parentHash !== parent.hash) break
      const decode = await prepare(blocks, parent, signal)
      for (const block of blocks) {
        book.begin(block)
        decode(block)
        book.end(block.hash === to.hash || onLog.has(block.hash))
      }
      last = blocks.at(-1)
      next = (last?.number ?? first.number) + 1
    }
    if (last?.hash === to.hash) return true
    if ((await nodes.headerByHash(to.hash, to.number, signal)) === null) return false
  }
  return false
}

function parentOf({ number, parentNumber = number - 1, parentHash, timeS }: Header): Header {
  return { number: parentNumber, hash: parentHash, parentHash: '', timeS }
}

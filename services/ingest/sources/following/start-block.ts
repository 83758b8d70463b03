/** Where a chain's history begins, as a block. */
import type { ChainStart } from '../../../core/config/chain-start.js'
import { DextapeError } from '../../../core/domain/errors.js'
import type { ChainReader, Header } from '../evm/chain-reader.js'

/** The latest block may still be orphaned, and what was never published cannot be gone back to: a start at the head is so many below. */
const BELOW_HEAD = 32

export async function startBlock(
  start: ChainStart,
  chain: string,
  reader: Pick<ChainReader, 'head' | 'headerByNumber'>,
  signal: AbortSignal,
): Promise<Header> {
  const head = await reader.head(signal)
  switch (start.kind) {
    case 'latest':
      return headerAt(Math.max(1, head.number - BELOW_HEAD))
    case 'block':
      if (start.number > head.number) throw notYet(`block ${start.number}`)
      return headerAt(Math.max(1, start.number))
    case 'time':
      if (start.timeS > head.timeS) throw notYet(new Date(start.timeS * 1000).toISOString())
      return firstSince(start.timeS, head.number)
  }

  async function headerAt(number: number): Promise<Header> {
    const header = await reader.headerByNumber(number, signal)
    if (header !== null) return header
    throw new DextapeError({
      code: 'block_missing',
      what: 'No node has the block to start at',
      where: { chain, block: number },
      retry: true,
      fix: 'Use a node that keeps the chain’s history from there, or a later start',
    })
  }

  /** The first block at or after a time. */
  async function firstSince(timeS: number, headNumber: number): Promise<Header> {
    let [low, high] = [1, headNumber]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((await headerAt(middle)).timeS >= timeS) high = middle
      else low = middle + 1
    }
    return headerAt(low)
  }

  function notYet(what: string): DextapeError {
    return new DextapeError({
      code: 'start_ahead',
      what: `The start, ${what}, is ahead of the chain`,
      where: { chain },
      got: `a head of ${head.number}, ${new Date(head.timeS * 1000).toISOString()}`,
      fix: 'Choose an earlier start, or "latest"',
    })
  }
}

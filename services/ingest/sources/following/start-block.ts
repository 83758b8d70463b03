/** Resolves the configured start of a chain's history to a block. */
import type { ChainStart } from '../../../core/config/chain-start.js'
import { DextapeError } from '../../../core/domain/errors.js'
import type { Head, Header } from './chain-nodes.js'

/** The latest block may still be orphaned, and a reorg cannot go below the first published block: "latest" starts this far below the head. */
const BELOW_HEAD = 32
const FORGOTTEN: ReadonlySet<string> = new Set(['state_pruned', 'block_missing'])

export interface StartNodes {
  head(signal: AbortSignal): Promise<Head>
  /** The first block at or above a number; null if there is none. */
  headerFrom(number: number, signal: AbortSignal): Promise<Header | null>
}

export async function startBlock(
  start: ChainStart,
  chain: string,
  nodes: StartNodes,
  signal: AbortSignal,
): Promise<Header> {
  const head = await nodes.head(signal)
  switch (start.kind) {
    case 'latest':
      return headerAt(Math.max(1, head.number - BELOW_HEAD))
    case 'block':
      if (start.number > head.number) throw notYet(`block ${start.number}`)
      return headerAt(Math.max(1, start.number))
    case 'time':
      await refuseAhead(start.timeS)
      return firstSince(start.timeS, head.number)
  }

  async function headerAt(number: number): Promise<Header> {
    const header = await nodes.headerFrom(number, signal)
    if (header !== null) return header
    throw new DextapeError({
      code: 'block_missing',
      what: 'No node has the start block',
      where: { chain, block: number },
      retry: true,
      fix: 'Use a node with history from that block, or a later start',
    })
  }

  /** The first block at or after a time. */
  async function firstSince(timeS: number, headNumber: number): Promise<Header> {
    let [low, high] = [1, headNumber]
    let forgotten: { below: number; error: unknown } | undefined
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      try {
        if ((await headerAt(middle)).timeS >= timeS) high = middle
        else low = middle + 1
      } catch (error) {
        // Nodes may have pruned old blocks, with or without saying so; the start may still lie above them.
        if (!(error instanceof DextapeError) || !FORGOTTEN.has(error.code)) throw error
        low = middle + 1
        forgotten = { below: low, error }
      }
    }
    if (forgotten?.below === low) throw forgotten.error
    return headerAt(low)
  }

  async function refuseAhead(timeS: number): Promise<void> {
    const newest = 'hash' in head ? head : await nodes.headerFrom(head.number, signal)
    if (newest !== null && timeS > newest.timeS) throw notYet(new Date(timeS * 1000).toISOString())
  }

  function notYet(what: string): DextapeError {
    return new DextapeError({
      code: 'start_ahead',
      what: `Start ${what} is ahead of the chain`,
      where: { chain },
      got: `head ${head.number}`,
      fix: 'Choose an earlier start, or "latest"',
    })
  }
}

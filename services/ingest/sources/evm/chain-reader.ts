/** What the source asks of a chain's nodes. Every answer is checked before it is given: a node that lies or lags is an error with its name. */

import type { EvmLog } from '../../decode/evm/log.js'
import type { Call } from '../../decode/evm/protocol.js'
import type { Header } from '../following/chain-nodes.js'

export type { Header } from '../following/chain-nodes.js'

/** What to ask nodes for. Any of the addresses (none: all) and any of the topics as the first topic. */
export type LogFilter = { addresses: readonly string[]; topics: readonly string[] }

/** A header and all of its block's logs that pass the filter, in order. */
export type CheckedBlock = Header & { logs: readonly EvmLog[] }

export interface ChainReader {
  /** The newest block of the healthy endpoints. */
  head(signal: AbortSignal): Promise<Header>
  /** Yields whenever the head may have changed (a node's notice, else a poll at the pace of the chain's blocks). */
  heads(signal: AbortSignal): AsyncGenerator<Header>
  /** Null: no healthy endpoint knows it (any more). */
  headerByHash(hash: string, signal: AbortSignal): Promise<Header | null>
  headerByNumber(number: number, signal: AbortSignal): Promise<Header | null>
  /** The last final block by the `finalized` tag; null: the nodes do not know the tag. */
  finalized(signal: AbortSignal): Promise<number | null>
  /** Every block from `from` to `to`, both included, linked by parent hashes. */
  blocks(from: number, to: number, filter: LogFilter, signal: AbortSignal): Promise<CheckedBlock[]>
  /** One block by its hash: whatever becomes of the head meanwhile. */
  block(hash: string, filter: LogFilter, signal: AbortSignal): Promise<CheckedBlock>
  /** Who signed each transaction. `wanted`: by block, so that whole blocks can be asked for where that is cheaper. */
  senders(
    wanted: readonly { block: Header; txHashes: readonly string[] }[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>>
  /** Answers in the order of the calls, as of the end of that block; null: reverted, or nothing is there. */
  call(calls: readonly Call[], at: Header, signal: AbortSignal): Promise<(string | null)[]>
  close(): Promise<void>
}

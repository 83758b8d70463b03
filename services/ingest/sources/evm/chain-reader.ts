/**
 * What the source asks of a chain's nodes. Every answer is verified before it is returned: a node that lies or lags is
 * an error that names it.
 */

import type { EvmLog } from '../../decode/evm/log.js'
import type { Call } from '../../decode/evm/protocol.js'
import type { StateRequest } from '../../decode/evm/risk/inspect-token.js'
import type { Header } from '../following/chain-nodes.js'

export type { Header } from '../following/chain-nodes.js'

/** Logs of any of these addresses (empty: all) with any of these topics as topic0. */
export type LogFilter = { addresses: readonly string[]; topics: readonly string[] }

/** A header and all of its block's logs that pass the filter, in order. */
export type CheckedBlock = Header & { logs: readonly EvmLog[] }

export interface ChainReader {
  /** The newest block of the healthy endpoints. */
  head(signal: AbortSignal): Promise<Header>
  /** Yields whenever the head may have changed (a node's notice, else a poll at the pace of the chain's blocks). */
  heads(signal: AbortSignal): AsyncGenerator<Header>
  /** Null if no healthy endpoint has it (any more). */
  headerByHash(hash: string, signal: AbortSignal): Promise<Header | null>
  headerByNumber(number: number, signal: AbortSignal): Promise<Header | null>
  /** The last final block by the `finalized` tag; null if the nodes do not support the tag. */
  finalized(signal: AbortSignal): Promise<number | null>
  /** Every block from `from` to `to`, both included, linked by parent hashes. */
  blocks(from: number, to: number, filter: LogFilter, signal: AbortSignal): Promise<CheckedBlock[]>
  /** One block by hash, even if the head moves meanwhile. */
  block(hash: string, filter: LogFilter, signal: AbortSignal): Promise<CheckedBlock>
  /** Logs of a long range, in order, without proof that they are all. */
  logs?(from: number, to: number, filter: LogFilter, signal: AbortSignal): Promise<EvmLog[]>
  /** Signer of each transaction. `wanted`: by block, so that whole blocks can be requested where that is cheaper. */
  senders(
    wanted: readonly { block: Header; txHashes: readonly string[] }[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>>
  /** Answers in the order of the calls, as of the end of that block; null: reverted, or no contract. */
  call(calls: readonly Call[], at: Header, signal: AbortSignal): Promise<(string | null)[]>
  /** The same for code, storage and trials; null: reverted, or the node cannot answer such a request. */
  state?(requests: readonly StateRequest[], at: Header, signal: AbortSignal): Promise<(string | null)[]>
  close(): Promise<void>
}

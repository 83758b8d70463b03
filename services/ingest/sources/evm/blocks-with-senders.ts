/**
 * An EVM chain's nodes as chain following needs them: blocks with the logs in scope and their transactions' signers.
 */
import { type DecodeRules, mayBeInScope, venueRef } from '../../decode/evm/block/decode-rules.js'
import type { EvmBlock, EvmLog } from '../../decode/evm/log.js'
import { BadLog, type Refusal } from '../../decode/evm/protocol.js'
import type { ChainNodes } from '../following/chain-nodes.js'
import type { ChainReader, CheckedBlock, LogFilter } from './chain-reader.js'

export type WithSendersOptions = {
  reader: ChainReader
  filter: LogFilter
  rules: DecodeRules
  /** Addresses that are not pools: their transactions' signers are not needed. */
  refusals: ReadonlyMap<string, Refusal>
}

export function blocksWithSenders({ reader, filter, rules, refusals }: WithSendersOptions): ChainNodes<EvmBlock> {
  async function withSenders(blocks: readonly CheckedBlock[], signal: AbortSignal): Promise<EvmBlock[]> {
    const wanted = blocks.flatMap((block) => {
      const txHashes = signedFor(block.logs)
      return txHashes.length === 0 ? [] : [{ block, txHashes }]
    })
    const senders = wanted.length === 0 ? new Map() : await reader.senders(wanted, signal)
    return blocks.map((block) => ({ ...block, senders }))
  }

  /** A transaction's logs are adjacent: the first relevant one is enough. */
  function signedFor(logs: readonly EvmLog[]): string[] {
    const found = new Set<string>()
    let last = ''
    for (const log of logs) {
      if (log.txHash === last || !needsSender(log)) continue
      last = log.txHash
      found.add(last)
    }
    return [...found]
  }

  function needsSender(log: EvmLog): boolean {
    try {
      const ref = venueRef(log, rules)
      return ref !== null && !refusals.has(ref.id) && mayBeInScope(rules.scope, ref.id)
    } catch (error) {
      if (error instanceof BadLog) return false
      throw error
    }
  }

  return {
    head: (signal) => reader.head(signal),
    heads: (signal) => reader.heads(signal),
    headerByHash: (hash, _number, signal) => reader.headerByHash(hash, signal),
    headerByNumber: (number, signal) => reader.headerByNumber(number, signal),
    finalized: (signal) => reader.finalized(signal),
    range: async (from, to, signal) => withSenders(await reader.blocks(from, to, filter, signal), signal),
    async blocks(headers, signal) {
      const blocks = await Promise.all(headers.map(({ hash }) => reader.block(hash, filter, signal)))
      return withSenders(blocks, signal)
    },
    close: () => reader.close(),
  }
}

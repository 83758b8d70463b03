/** Estimates what following a scope will cost its nodes, from the chain's last blocks. */
import { timeBetween } from '../following/chain-nodes.js'
import type { ChainReader, Header, LogFilter } from './chain-reader.js'

export type ScopeEstimate = {
  blocks: number
  logs: number
  transactions: number
  blockTimeS: number
  requestsPerS: number
  bytesPerDay: number
}

type Meter = { requests: number; bytesReceived: number }

const DAY_S = 86_400
/** Per block at the head: its header, its logs, and polls of the head and of finality. */
const REQUESTS_A_BLOCK = 2
const LOOKS_A_BLOCK = 2

export async function estimateScope(
  reader: Pick<ChainReader, 'blocks' | 'senders'>,
  head: Header,
  filter: LogFilter,
  sampleBlocks: number,
  meter: () => Meter,
  signal: AbortSignal,
): Promise<ScopeEstimate> {
  const before = meter()
  const sample = await reader.blocks(Math.max(1, head.number - sampleBlocks + 1), head.number, filter, signal)
  const read = meter()
  const wanted = sample.map((block) => ({ block, txHashes: [...new Set(block.logs.map(({ txHash }) => txHash))] }))
  await reader.senders(wanted, signal)
  const after = meter()
  const blockTimeS = timeBetween(sample)
  const perBlock = (after.requests - read.requests) / sample.length + REQUESTS_A_BLOCK + LOOKS_A_BLOCK
  const bytesPerBlock = (after.bytesReceived - before.bytesReceived) / sample.length
  return {
    blocks: sample.length,
    logs: sample.reduce((sum, { logs }) => sum + logs.length, 0),
    transactions: wanted.reduce((sum, { txHashes }) => sum + txHashes.length, 0),
    blockTimeS,
    requestsPerS: perBlock / blockTimeS,
    bytesPerDay: (bytesPerBlock * DAY_S) / blockTimeS,
  }
}

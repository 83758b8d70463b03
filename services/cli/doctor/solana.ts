/** `dextape doctor` on Solana nodes. */

import { type Config, chainFacts, type SolanaSourceConfig } from '../../core/config/index.js'
import { silentLogger } from '../../core/runtime/logger.js'
import { memoryBook } from '../../ingest/decode/solana/block/book.js'
import { decodeSolanaBlock } from '../../ingest/decode/solana/block/decode-block.js'
import { timeBetween } from '../../ingest/sources/following/chain-nodes.js'
import { isPruned } from '../../ingest/sources/nodes/node-fault.js'
import { checkConfiguredMints, solanaRulesOf } from '../../ingest/sources/solana/open-solana-source.js'
import { createSlotReader, type RpcSlotReader } from '../../ingest/sources/solana/rpc/slot-reader.js'
import type { SlotBlock } from '../../ingest/sources/solana/slot-block.js'
import { createTokenFacts } from '../../ingest/sources/solana/token-facts.js'
import {
  nodeRateLimit,
  PATIENCE,
  type Report,
  reportEndpoint,
  reportHead,
  reportNeeds,
  TIMEOUT_MS,
  total,
} from './node-findings.js'

const SAMPLE_SLOTS = 20
const DEPTHS = [1_000, 10_000, 100_000, 1_000_000, 10_000_000] as const
const DAY_S = 86_400
/** Requests for the head and for finality. */
const EXTRA_REQUESTS_PER_BLOCK = 2

export async function checkSolana(
  config: Config,
  source: SolanaSourceConfig,
  report: Report,
  nowMs: () => number,
  signal: AbortSignal,
): Promise<void> {
  const { chain, genesisHash, rpcUrls, commitment, maxRps, geyser } = source
  const reader = createSlotReader({
    ...{
      chain,
      genesisHash,
      urls: rpcUrls,
      commitment,
      logger: silentLogger,
      patience: PATIENCE,
      timeoutMs: TIMEOUT_MS,
    },
    ...(maxRps === undefined ? {} : { maxRps }),
  })
  try {
    await reader.start(signal)
    const { number } = await reader.head(signal)
    const before = total(reader.status()).bytesReceived
    const sample = await reader.range(Math.max(0, number - SAMPLE_SLOTS), number, signal)
    const bytes = total(reader.status()).bytesReceived - before
    for (const status of reader.status()) reportEndpoint(status, report, false)
    const last = sample.at(-1)
    if (last !== undefined) reportHead(last, source.finality, await reader.finalized(signal), nowMs, report)
    await reportDepth(reader, number, report, signal)
    const facts = chainFacts(config, chain)
    const tokens = createTokenFacts(reader.accounts)
    const checked = await checkConfiguredMints(tokens, facts, new Set(source.explicitTokens), silentLogger, signal)
    const absent = checked.filter((one) => one.facts === null)
    if (absent.length > 0)
      report('warn', `tokens not found on this chain: ${absent.map(({ token }) => token).join(', ')}`)
    reportSample(sample, bytes, source, { events: eventsIn(sample), nodeLimit: nodeRateLimit(reader.status()) }, report)
    if (geyser.length > 0)
      report('ok', `${geyser.length} Geyser streams are configured; blocks they deliver are not requested from nodes`)

    function eventsIn(blocks: readonly SlotBlock[]): number {
      const [book, rules] = [memoryBook(), solanaRulesOf(source, facts)]
      return blocks.reduce(
        (sum, block) => sum + decodeSolanaBlock(block.number, block.transactions, book, rules).events.length,
        0,
      )
    }
  } finally {
    await reader.close()
  }
}

/** How far back blocks are available. */
async function reportDepth(reader: RpcSlotReader, head: number, report: Report, signal: AbortSignal): Promise<void> {
  let reached = 0
  for (const depth of DEPTHS.filter((slots) => slots < head)) {
    try {
      if ((await reader.headerFrom(head - depth, signal)) === null) break
    } catch (error) {
      if (isPruned(error)) break
      throw error
    }
    reached = depth
  }
  const back = reached === 0 ? 'near the head only' : `at least ${reached.toLocaleString('en')} slots back`
  report('ok', `blocks are available ${back}; to start or backfill further back, use a node that keeps them`)
}

/** Blocks are read whole whatever the scope: Solana nodes cannot filter them. */
function reportSample(
  sample: readonly SlotBlock[],
  bytes: number,
  { maxRps }: SolanaSourceConfig,
  { events, nodeLimit }: { events: number; nodeLimit: number | undefined },
  report: Report,
): void {
  if (sample.length === 0) return report('warn', 'no block near the head could be read')
  const blockTimeS = timeBetween(sample)
  const transactions = sample.reduce((sum, block) => sum + block.transactions.length, 0)
  const sampled = `the last ${sample.length} blocks, ${blockTimeS.toFixed(2)} s each, had ${events} matching events in ${transactions} transactions`
  const needs = {
    requestsPerS: (1 + EXTRA_REQUESTS_PER_BLOCK) / blockTimeS,
    bytesPerDay: (bytes / sample.length) * (DAY_S / blockTimeS),
  }
  reportNeeds(needs, sampled, { maxRps, nodeLimit }, report)
}

/** `dextape doctor` about Solana's nodes: how far back they know it, and what the scope will ask of them. */
import { type Config, chainFacts, type SolanaSourceConfig } from '../../core/config/index.js'
import { DextapeError } from '../../core/domain/errors.js'
import { silentLogger } from '../../core/runtime/logger.js'
import { memoryBook } from '../../ingest/decode/solana/block/book.js'
import { decodeSolanaBlock } from '../../ingest/decode/solana/block/decode-block.js'
import { timeBetween } from '../../ingest/sources/following/chain-nodes.js'
import { solanaRulesOf } from '../../ingest/sources/solana/open.js'
import { createSlotReader, type RpcSlotReader } from '../../ingest/sources/solana/rpc/reader.js'
import type { SlotBlock } from '../../ingest/sources/solana/slot-block.js'
import { checkConfiguredMints } from '../../ingest/sources/solana/start-checks.js'
import { createTokenFacts } from '../../ingest/sources/solana/token-facts.js'
import { nodesTake, PATIENCE, type Say, sayEndpoint, sayHead, sayNeeds, TIMEOUT_MS, total } from './sayings.js'

const SAMPLE_SLOTS = 20
const DEPTHS = [1_000, 10_000, 100_000, 1_000_000, 10_000_000] as const
const DAY_S = 86_400
/** Looks at the head and at finality, for each block. */
const LOOKS_A_BLOCK = 2

export async function checkSolana(
  config: Config,
  source: SolanaSourceConfig,
  say: Say,
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
    for (const status of reader.status()) sayEndpoint(status, say, false)
    const last = sample.at(-1)
    if (last !== undefined) sayHead(last, source.finality, await reader.finalized(signal), nowMs, say)
    await sayDepth(reader, number, say, signal)
    const facts = chainFacts(config, chain)
    const tokens = createTokenFacts(reader.accounts)
    const checked = await checkConfiguredMints(tokens, facts, new Set(source.explicitTokens), silentLogger, signal)
    const absent = checked.filter((one) => one.facts === null)
    if (absent.length > 0) say('warn', `no tokens on this chain: ${absent.map(({ token }) => token).join(', ')}`)
    saySample(sample, bytes, source, { events: eventsIn(sample), taken: nodesTake(reader.status()) }, say)
    if (geyser.length > 0) say('ok', `${geyser.length} Geyser streams are configured; what they send is not asked for`)

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

/** How far back blocks can be read. */
async function sayDepth(reader: RpcSlotReader, head: number, say: Say, signal: AbortSignal): Promise<void> {
  let reached = 0
  for (const depth of DEPTHS.filter((slots) => slots < head)) {
    try {
      if ((await reader.headerFrom(head - depth, signal)) === null) break
    } catch (error) {
      if (error instanceof DextapeError && error.code === 'state_pruned') break
      throw error
    }
    reached = depth
  }
  const back = reached === 0 ? 'near the head alone' : `at least ${reached.toLocaleString('en')} slots back`
  say('ok', `blocks can be read ${back}; a start or a backfill further back needs a node that keeps them`)
}

/** Every block is read whole, whatever the scope: nodes have no filter for it. */
function saySample(
  sample: readonly SlotBlock[],
  bytes: number,
  { maxRps }: SolanaSourceConfig,
  { events, taken }: { events: number; taken: number | undefined },
  say: Say,
): void {
  if (sample.length === 0) return say('warn', 'no block near the head could be read')
  const blockTimeS = timeBetween(sample)
  const transactions = sample.reduce((sum, block) => sum + block.transactions.length, 0)
  const seen = `the last ${sample.length} blocks, ${blockTimeS.toFixed(2)} s each, had ${events} events of it in ${transactions} transactions`
  const needs = {
    requestsPerS: (1 + LOOKS_A_BLOCK) / blockTimeS,
    bytesPerDay: (bytes / sample.length) * (DAY_S / blockTimeS),
  }
  sayNeeds(needs, seen, { maxRps, taken }, say)
}

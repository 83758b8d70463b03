/** `dextape doctor` on the nodes of an EVM chain. */
import { chainFacts } from '../../core/config/config.js'
import type { EvmSourceConfig } from '../../core/config/evm-source.js'
import type { Config } from '../../core/config/index.js'
import { DextapeError } from '../../core/domain/errors.js'
import { silentLogger } from '../../core/runtime/logger.js'
import type { ChainReader, Header, LogFilter } from '../../ingest/sources/evm/chain-reader.js'
import { resolveScope } from '../../ingest/sources/evm/resolve-scope.js'
import { createChainReader, type RpcChainReader } from '../../ingest/sources/evm/rpc/evm-reader.js'
import { checkConfiguredTokens, checkScopeTokens } from '../../ingest/sources/evm/start-checks.js'
import { timeBetween } from '../../ingest/sources/following/chain-nodes.js'
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

/** A few blocks first; many only where the few were quick. */
const SAMPLE_BLOCKS = { few: 5, many: 50 }
const SLOW_MS = 2_000
const DEPTHS = [100, 1_000, 10_000, 100_000, 1_000_000] as const

export async function checkEvm(
  config: Config,
  source: EvmSourceConfig,
  report: Report,
  nowMs: () => number,
  signal: AbortSignal,
): Promise<void> {
  const { chain, chainId, rpcUrls, maxRps } = source
  const reader = createChainReader({
    ...{ chain, chainId, urls: rpcUrls, logger: silentLogger, patience: PATIENCE, timeoutMs: TIMEOUT_MS },
    ...(maxRps === undefined ? {} : { maxRps }),
  })
  try {
    await reader.start(signal)
    const head = await reader.head(signal)
    await reader.probe(head, signal)
    for (const status of reader.status()) reportEndpoint(status, report)
    reportHead(head, source.finality, await reader.finalized(signal), nowMs, report)
    await reportDepth(reader, head, report, signal)
    const facts = chainFacts(config, chain)
    const tokens = await checkConfiguredTokens(reader, facts, new Set(source.explicitTokens), silentLogger, signal)
    if (facts.anchor === undefined && facts.stables.length === 0)
      report('warn', 'nothing can be priced in USD', `set "anchor" or "stables" in "chains.${chain}"`)
    const absent = tokens.filter((one) => one.facts.decimals === null)
    if (absent.length > 0)
      report('warn', `tokens not found on this chain: ${absent.map(({ token }) => token).join(', ')}`)
    await checkScopeTokens(reader, chain, source.scope.tokens, signal)
    const { filter } = await resolveScope(source, facts, reader, signal)
    const meter = () => total(reader.status())
    const sample = (blocks: number) => estimateScope(reader, head, filter, blocks, meter, signal)
    const beganMs = performance.now()
    const few = await sample(SAMPLE_BLOCKS.few)
    const isSlow = performance.now() - beganMs > SLOW_MS
    reportEstimate(isSlow ? few : await sample(SAMPLE_BLOCKS.many), maxRps, nodeRateLimit(reader.status()), report)
  } finally {
    await reader.close()
  }
}

/** How far back state can be read: pools and tokens are read as of their block. */
async function reportDepth(reader: RpcChainReader, head: Header, report: Report, signal: AbortSignal): Promise<void> {
  const depths = [...DEPTHS.filter((depth) => depth < head.number), head.number - 1]
  let reached = 0
  for (const depth of depths) {
    const header = await reader.headerByNumber(head.number - depth, signal)
    if (header === null || !(await hasState(reader, header, signal))) return reportReached(reached, depth, report)
    reached = depth
  }
  report('ok', 'archive node: state is available for every block')
}

function reportReached(reached: number, missing: number, report: Report): void {
  const back = (depth: number) => `${depth.toLocaleString('en')} blocks back`
  const available = reached === 0 ? '' : `state is available ${back(reached)}; `
  const fix = 'use an archive node to start or backfill from there'
  report('warn', `${available}state ${back(missing)} is not available`, fix)
}

async function hasState(reader: RpcChainReader, at: Header, signal: AbortSignal): Promise<boolean> {
  try {
    await reader.call([{ to: `0x${'0'.repeat(39)}1`, data: '0x' }], at, signal)
    return true
  } catch (error) {
    if (error instanceof DextapeError && (error.code === 'state_pruned' || error.code === 'node_lags')) return false
    throw error
  }
}

function reportEstimate(
  estimate: ScopeEstimate,
  maxRps: number | undefined,
  nodeLimit: number | undefined,
  report: Report,
): void {
  const { blocks, logs, transactions, blockTimeS } = estimate
  const sampled = `the last ${blocks} blocks, ${blockTimeS.toFixed(2)} s each, had ${logs} matching logs in ${transactions} transactions`
  reportNeeds(estimate, sampled, { maxRps, nodeLimit }, report)
}

type ScopeEstimate = {
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

/** Estimates what following a scope will cost its nodes, from the chain's last blocks. */
async function estimateScope(
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

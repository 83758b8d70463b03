/** `dextape doctor` about an EVM chain's nodes: how far back they know it, what they take, and what the scope will ask of them. */
import { chainFacts } from '../../core/config/config.js'
import type { EvmSourceConfig } from '../../core/config/evm-source.js'
import type { Config } from '../../core/config/index.js'
import { DextapeError } from '../../core/domain/errors.js'
import { silentLogger } from '../../core/runtime/logger.js'
import type { Header } from '../../ingest/sources/evm/chain-reader.js'
import { estimateScope, type ScopeEstimate } from '../../ingest/sources/evm/estimate-scope.js'
import { resolveScope } from '../../ingest/sources/evm/resolve-scope.js'
import { createChainReader, type RpcChainReader } from '../../ingest/sources/evm/rpc/evm-reader.js'
import { checkConfiguredTokens, checkScopeTokens } from '../../ingest/sources/evm/start-checks.js'
import { nodesTake, PATIENCE, type Say, sayEndpoint, sayHead, sayNeeds, TIMEOUT_MS, total } from './sayings.js'

/** A look at a few blocks first: where that takes long, it is all that is looked at. */
const SAMPLE_BLOCKS = { few: 5, many: 50 }
const LONG_MS = 2_000
const DEPTHS = [100, 1_000, 10_000, 100_000, 1_000_000] as const

export async function checkEvm(
  config: Config,
  source: EvmSourceConfig,
  say: Say,
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
    for (const status of reader.status()) sayEndpoint(status, say)
    sayHead(head, source.finality, await reader.finalized(signal), nowMs, say)
    await sayDepth(reader, head, say, signal)
    const facts = chainFacts(config, chain)
    const tokens = await checkConfiguredTokens(reader, facts, new Set(source.explicitTokens), silentLogger, signal)
    if (facts.anchor === undefined && facts.stables.length === 0)
      say('warn', 'nothing has a price in USD', `name the chain’s "anchor" or "stables" in "chains.${chain}"`)
    const absent = tokens.filter((one) => one.facts.decimals === null)
    if (absent.length > 0) say('warn', `no tokens on this chain: ${absent.map(({ token }) => token).join(', ')}`)
    await checkScopeTokens(reader, chain, source.scope.tokens, signal)
    const { filter } = await resolveScope(source, facts, reader, signal)
    const meter = () => total(reader.status())
    const sampled = (blocks: number) => estimateScope(reader, head, filter, blocks, meter, signal)
    const beganMs = performance.now()
    const few = await sampled(SAMPLE_BLOCKS.few)
    const isSlow = performance.now() - beganMs > LONG_MS
    sayEstimate(isSlow ? few : await sampled(SAMPLE_BLOCKS.many), maxRps, nodesTake(reader.status()), say)
  } finally {
    await reader.close()
  }
}

/** How far back calls can be made: what a pool or a token was at the time is read by them. */
async function sayDepth(reader: RpcChainReader, head: Header, say: Say, signal: AbortSignal): Promise<void> {
  const depths = [...DEPTHS.filter((depth) => depth < head.number), head.number - 1]
  let reached = 0
  for (const depth of depths) {
    const header = await reader.headerByNumber(head.number - depth, signal)
    if (header === null || !(await hasState(reader, header, signal))) return sayReached(reached, depth, say)
    reached = depth
  }
  say('ok', 'archive: the state of every block can be read')
}

function sayReached(reached: number, missing: number, say: Say): void {
  const back = (depth: number) => `${depth.toLocaleString('en')} blocks back`
  const there = reached === 0 ? '' : `state can be read ${back(reached)}; `
  const fix = 'a start or a backfill from there needs an archive node'
  say('warn', `${there}the state ${back(missing)} cannot be read`, fix)
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

function sayEstimate(estimate: ScopeEstimate, maxRps: number | undefined, taken: number | undefined, say: Say): void {
  const { blocks, logs, transactions, blockTimeS } = estimate
  const seen = `the last ${blocks} blocks, ${blockTimeS.toFixed(2)} s each, had ${logs} logs of it in ${transactions} transactions`
  sayNeeds(estimate, seen, { maxRps, taken }, say)
}

/** `dextape doctor` about an EVM chain's nodes: how far back they know it, what they take, and what the scope will ask of them. */
import { chainFacts } from '../../core/config/config.js'
import type { EvmSourceConfig } from '../../core/config/evm-source.js'
import type { Config } from '../../core/config/index.js'
import { DextapeError } from '../../core/domain/errors.js'
import { silentLogger } from '../../core/runtime/logger.js'
import { PROTOCOLS } from '../../ingest/decode/evm/protocols.js'
import type { Header } from '../../ingest/sources/evm/chain-reader.js'
import { estimateScope, type ScopeEstimate } from '../../ingest/sources/evm/estimate.js'
import { describeNamed } from '../../ingest/sources/evm/named-pools.js'
import { rulesOf } from '../../ingest/sources/evm/open.js'
import { createChainReader, type RpcChainReader } from '../../ingest/sources/evm/rpc/reader.js'
import { filterOf } from '../../ingest/sources/evm/scope-filter.js'
import { checkConfiguredTokens } from '../../ingest/sources/evm/start-checks.js'
import { PATIENCE, type Say, sayEndpoint, sayHead, sayNeeds, TIMEOUT_MS, total } from './sayings.js'

const SAMPLE_BLOCKS = 50
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
    const absent = tokens.filter((one) => one.facts.decimals === null)
    if (absent.length > 0) say('warn', `no tokens on this chain: ${absent.map(({ token }) => token).join(', ')}`)
    const rules = rulesOf(source, facts, [])
    const named = await describeNamed([...rules.scope.pools], rules, PROTOCOLS, head, reader, signal)
    const meter = () => total(reader.status())
    const estimate = await estimateScope(reader, head, filterOf(rules, named), SAMPLE_BLOCKS, meter, signal)
    sayEstimate(estimate, maxRps, say)
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
    if (header === null || !(await hasState(reader, header, signal))) break
    reached = depth
  }
  if (reached >= head.number - 1) return say('ok', 'archive: the state of every block can be read')
  const first = reached === 0 ? 'no block below the head' : `about ${reached.toLocaleString('en')} blocks back`
  say('warn', `state can be read ${first}`, 'a start or a backfill further back needs an archive node')
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

function sayEstimate(estimate: ScopeEstimate, maxRps: number | undefined, say: Say): void {
  const { blocks, logs, transactions, blockTimeS } = estimate
  const seen = `the last ${blocks} blocks, ${blockTimeS.toFixed(2)} s each, had ${logs} logs of it in ${transactions} transactions`
  sayNeeds(estimate, seen, maxRps, say)
}

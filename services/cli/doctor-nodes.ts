/** `dextape doctor` about nodes: whether they answer, how far back they know the chain, what they take, and what the scope will ask of them. */
import { chainFacts } from '../core/config/config.js'
import type { EvmSourceConfig } from '../core/config/evm-source.js'
import type { Config } from '../core/config/index.js'
import { DextapeError } from '../core/domain/errors.js'
import { silentLogger } from '../core/runtime/logger.js'
import { PROTOCOLS } from '../ingest/decode/evm/protocols.js'
import type { Header } from '../ingest/sources/evm/chain-reader.js'
import { estimateScope, type ScopeEstimate } from '../ingest/sources/evm/estimate.js'
import { describeNamed } from '../ingest/sources/evm/named-pools.js'
import { rulesOf } from '../ingest/sources/evm/open.js'
import { createChainReader, type RpcChainReader } from '../ingest/sources/evm/rpc/reader.js'
import { filterOf } from '../ingest/sources/evm/scope-filter.js'
import { checkConfiguredTokens } from '../ingest/sources/evm/start-checks.js'
import type { EndpointStatus } from '../ingest/sources/nodes/status.js'
import type { Finding } from './doctor-checks.js'

const SAMPLE_BLOCKS = 50
/** Short: whoever asks the doctor waits for the answer. */
const PATIENCE = { attempts: 4, ms: 15_000 }
const TIMEOUT_MS = 10_000
const DEPTHS = [100, 1_000, 10_000, 100_000, 1_000_000] as const
const OLD_HEAD_S = 120

export async function checkNodes(
  config: Config,
  sources: readonly EvmSourceConfig[],
  nowMs: () => number,
  signal: AbortSignal,
): Promise<Finding[]> {
  const found = await Promise.all(sources.map((source) => checkChain(config, source, nowMs, signal)))
  return found.flat()
}

async function checkChain(
  config: Config,
  source: EvmSourceConfig,
  nowMs: () => number,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { chain, chainId, rpcUrls, maxRps } = source
  const findings: Finding[] = []
  const say = (level: Finding['level'], what: string, fix?: string) =>
    findings.push({ level, what: `${chain}: ${what}`, ...(fix === undefined ? {} : { fix }) })
  const reader = createChainReader({
    ...{ chain, chainId, urls: rpcUrls, logger: silentLogger, patience: PATIENCE, timeoutMs: TIMEOUT_MS },
    ...(maxRps === undefined ? {} : { maxRps }),
  })
  try {
    await reader.start(signal)
    const head = await reader.head(signal)
    await reader.probe(head, signal)
    for (const status of reader.status()) sayEndpoint(status, say)
    await sayHead(reader, source, head, nowMs, say, signal)
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
  } catch (error) {
    if (!(error instanceof DextapeError)) throw error
    say('fail', error.message)
  } finally {
    await reader.close()
  }
  return findings
}

type Say = (level: Finding['level'], what: string, fix?: string) => void

function sayEndpoint(
  { name, healthy, reason, latencyMs, head, range, batch, perS, errors }: EndpointStatus,
  say: Say,
): void {
  if (!healthy || latencyMs === null) {
    const faults = Object.entries(errors).map(([kind, count]) => `${kind} ${count}`)
    return say('warn', `node ${name} is not to be used: ${reason ?? faults.join(', ')}`, 'see its URL and key')
  }
  const rate = perS === null ? '' : `, ${perS.toFixed(1)} requests/s at most`
  const takes = `ranges of ${range.toLocaleString('en')} blocks, batches of ${batch}${rate}`
  say('ok', `node ${name} answers in ${Math.round(latencyMs)} ms; head ${head ?? 'not asked'}; takes ${takes}`)
}

async function sayHead(
  reader: RpcChainReader,
  { finality }: EvmSourceConfig,
  head: Header,
  nowMs: () => number,
  say: Say,
  signal: AbortSignal,
): Promise<void> {
  const ageS = Math.max(0, Math.round(nowMs() / 1000 - head.timeS))
  const text = `head ${head.number}, ${ageS} s old`
  if (ageS > OLD_HEAD_S) say('warn', text, 'the nodes are behind, or the chain stands still')
  else say('ok', text)
  if (finality.kind === 'depth') return say('ok', `final ${finality.blocks} blocks below the head, as configured`)
  const final = await reader.finalized(signal)
  if (final !== null) say('ok', `final up to block ${final}, ${head.number - final} below the head (the nodes’ tag)`)
  else say('warn', 'the nodes know no "finalized" block: 64 below the head counts', 'set "finality" to a depth')
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
  const { blocks, logs, transactions, blockTimeS, requestsPerS, bytesPerDay } = estimate
  const seen = `the last ${blocks} blocks, ${blockTimeS.toFixed(2)} s each, had ${logs} logs of it in ${transactions} transactions`
  const needs = `the scope needs about ${requestsPerS.toFixed(1)} requests/s and ${gigabytes(bytesPerDay)} a day (${seen})`
  if (maxRps !== undefined && maxRps < requestsPerS)
    say('warn', `${needs}; "max_rps" is ${maxRps}`, 'narrow the scope or raise "max_rps": it would fall behind')
  else say('ok', needs)
}

const gigabytes = (bytes: number): string => `${bytes >= 1e8 ? (bytes / 1e9).toFixed(1) : (bytes / 1e9).toFixed(3)} GB`

function total(statuses: readonly EndpointStatus[]): { requests: number; bytesReceived: number } {
  return {
    requests: statuses.reduce((sum, { requests }) => sum + requests, 0),
    bytesReceived: statuses.reduce((sum, { bytesReceived }) => sum + bytesReceived, 0),
  }
}

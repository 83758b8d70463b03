/** Opens an EVM chain as a source: what is wrong with its configuration is told here, before anything is read. */
import type { EvmSourceConfig } from '../../../core/config/evm-source.js'
import type { ChainFacts } from '../../../core/domain/chains.js'
import { createRules, type DecodeRules } from '../../decode/evm/block/rules.js'
import { PROTOCOLS } from '../../decode/evm/protocols.js'
import type { Venue } from '../../decode/evm/venue.js'
import type { Source } from '../../source.js'
import { decodedScope, moneySet } from '../following/decoded-scope.js'
import { watchFinality } from '../following/finality.js'
import type { ChainPosition } from '../following/follow.js'
import type { OpenSourceOptions } from '../following/open-options.js'
import { createProgress } from '../following/progress.js'
import { startBlock } from '../following/start-block.js'
import { openBook } from './book/kept-book.js'
import type { LogFilter } from './chain-reader.js'
import { keptReferences } from './kept-references.js'
import { describeNamed } from './named-pools.js'
import { readAll } from './read-all.js'
import { findReferencePools } from './reference-pools.js'
import { createChainReader } from './rpc/reader.js'
import { filterOf } from './scope-filter.js'
import { createEvmSource } from './source.js'
import { checkConfiguredTokens } from './start-checks.js'

export type OpenEvmOptions = OpenSourceOptions<EvmSourceConfig>

/** Fails with a `ConfigError` where the configuration does not fit the chain; what may pass can be tried again. */
export async function openEvmSource(options: OpenEvmOptions): Promise<OpenedEvmSource> {
  const { config, bookPath, logger, nowMs = Date.now } = options
  const { chain, chainId, rpcUrls, maxRps } = config
  const reader = createChainReader({
    chain,
    chainId,
    urls: rpcUrls,
    logger,
    ...(maxRps === undefined ? {} : { maxRps }),
  })
  try {
    const { rules, filter } = await resolveScope(options, reader)
    const source = createEvmSource({
      ...{ chain, reader, rules, filter, logger, nowMs },
      id: `evm/${chain}`,
      name: `${chain} nodes`,
      book: openBook({ path: bookPath }),
      firstBlock: (until) =>
        startBlock(config.start, chain, { head: reader.head, headerFrom: reader.headerByNumber }, until),
      finality: watchFinality(config.finality, reader, nowMs),
      progress: createProgress(chain, logger, options.progressMs, nowMs),
    })
    return { source, endpoints: () => reader.status() }
  } catch (error) {
    await reader.close()
    throw error
  }
}

type Reader = ReturnType<typeof createChainReader>

export type OpenedEvmSource = { source: Source<ChainPosition>; endpoints: Reader['status'] }

/** The scope with what only the chain can tell. */
async function resolveScope(
  { config, facts, bookPath, logger, signal }: OpenEvmOptions,
  reader: Reader,
): Promise<{ rules: DecodeRules; filter: LogFilter }> {
  await reader.start(signal)
  await checkConfiguredTokens(reader, facts, new Set(config.explicitTokens), logger, signal)
  const head = await reader.head(signal)
  const own = rulesOf(config, facts, [])
  if (own.scope.pools.size === 0) return { rules: own, filter: filterOf(own, { described: [], awaited: [] }) }
  const named = await describeNamed([...own.scope.pools], own, PROTOCOLS, head, reader, signal)
  for (const { id, reason } of named.awaited)
    logger.warn('a pool cannot be described now; it is followed once its creation is met', { pool: id, reason })
  const references = await referencesOf(named.described.map(({ venue }) => venue))
  const rules = rulesOf(config, facts, references)
  const beside = await describeNamed(references, rules, PROTOCOLS, head, reader, signal)
  return { rules, filter: filterOf(rules, { ...named, described: [...named.described, ...beside.described] }) }

  async function referencesOf(venues: readonly Venue[]): Promise<string[]> {
    const kept = keptReferences(bookPath, config.scope.pools)
    const chosen = kept.read()
    if (chosen !== undefined) return chosen
    const reading = findReferencePools(venues, facts, config.contracts)
    const [pools = []] = await readAll([{ at: head, reading }], reader, signal)
    kept.write(pools)
    if (pools.length > 0) logger.info('pools followed for the prices of money', { chain: config.chain, pools })
    return pools
  }
}

/** What is decoded for a scope; `references`: pools beside it. */
export function rulesOf(config: EvmSourceConfig, facts: ChainFacts, references: readonly string[]): DecodeRules {
  return createRules({
    chain: config.chain,
    scope: decodedScope(config.scope, references),
    money: moneySet(facts),
    protocols: PROTOCOLS,
    contracts: config.contracts,
    wrappedNative: facts.native,
  })
}

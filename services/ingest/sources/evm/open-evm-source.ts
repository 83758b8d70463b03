/** Opens an EVM chain as a source: what is wrong with its configuration is told here, before anything is read. */
import type { EvmSourceConfig } from '../../../core/config/evm-source.js'
import type { Source } from '../../source.js'
import { createProgress } from '../following/catch-up-progress.js'
import { watchFinality } from '../following/finality.js'
import type { ChainPosition } from '../following/follow-chain.js'
import type { OpenSourceOptions } from '../following/open-options.js'
import { startBlock } from '../following/start-block.js'
import { openBook } from './kept-book.js'
import { keptReferences, referenceKey } from './kept-references.js'
import { resolveScope } from './resolve-scope.js'
import { createChainReader } from './rpc/evm-reader.js'
import { createEvmSource } from './source.js'
import { checkConfiguredTokens, checkScopeTokens } from './start-checks.js'

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
    const { rules, filter } = await checkedScope(options, reader)
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

async function checkedScope({ config, facts, bookPath, logger, signal }: OpenEvmOptions, reader: Reader) {
  await reader.start(signal)
  await checkConfiguredTokens(reader, facts, new Set(config.explicitTokens), logger, signal)
  await checkScopeTokens(reader, config.chain, config.scope.tokens, signal)
  const resolved = await resolveScope(config, facts, reader, signal, (find) =>
    keptReferences(bookPath, referenceKey(config, facts), async () => {
      const pools = await find()
      if (pools.length > 0) logger.info('pools followed for the prices of money', { chain: config.chain, pools })
      return pools
    }),
  )
  for (const { id, reason } of resolved.awaited)
    logger.warn('a pool cannot be described now; it is followed once its creation is met', { pool: id, reason })
  return resolved
}

/** Opens an EVM chain as a source. Configuration errors are reported here, before anything is read. */

import type { EvmSourceConfig } from '../../../core/config/evm-source.js'
import type { Logger } from '../../../core/runtime/logger.js'
import type { DecodeRules } from '../../decode/evm/block/decode-rules.js'
import type { Refusal } from '../../decode/evm/protocol.js'
import type { Source } from '../../source.js'
import { createProgress } from '../following/catch-up-progress.js'
import { watchFinality } from '../following/finality.js'
import {
  type ChainPosition,
  type FollowedChain,
  followChain,
  type OpenSourceOptions,
} from '../following/follow-chain.js'
import { startBlock } from '../following/start-block.js'
import { blocksWithSenders } from './blocks-with-senders.js'
import type { ChainReader, LogFilter } from './chain-reader.js'
import { evmDecoder } from './evm-decoder.js'
import { type KeptBook, openBook } from './kept-book.js'
import { keptReferences, referenceKey } from './reference-pools.js'
import { resolveScope } from './resolve-scope.js'
import { createChainReader } from './rpc/evm-reader.js'
import { checkConfiguredTokens, checkScopeTokens } from './start-checks.js'

export type OpenEvmOptions = OpenSourceOptions<EvmSourceConfig>

/** Fails with a `ConfigError` if the configuration does not fit the chain; other errors can be retried. */
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
      if (pools.length > 0) logger.info('following reference pools for USD prices', { chain: config.chain, pools })
      return pools
    }),
  )
  for (const { id, reason } of resolved.awaited)
    logger.warn('pool cannot be described yet; it is followed once its creation log arrives', { pool: id, reason })
  return resolved
}

export type EvmSourceParts = Pick<
  FollowedChain<never>,
  'chain' | 'name' | 'id' | 'firstBlock' | 'finality' | 'progress' | 'nowMs'
> & {
  reader: ChainReader
  rules: DecodeRules
  filter: LogFilter
  book: KeptBook
  logger: Logger
}

const FIRST_RANGE_BLOCKS = 20

export function createEvmSource(parts: EvmSourceParts): Source<ChainPosition> {
  const refusals = new Map<string, Refusal>()
  return followChain({
    ...parts,
    nodes: blocksWithSenders({ ...parts, refusals }),
    decoder: evmDecoder({ ...parts, refusals }),
    weightOf: ({ logs }) => logs.length,
    chunkSize: { blocks: FIRST_RANGE_BLOCKS },
  })
}

/** Opens a Solana cluster as a source: what is wrong with its configuration is told here, before anything is read. */
import type { SolanaSourceConfig } from '../../../core/config/solana-source.js'
import type { ChainFacts } from '../../../core/domain/chains.js'
import { createSolanaRules, type SolanaRules } from '../../decode/solana/block/rules.js'
import { PROGRAMS } from '../../decode/solana/programs.js'
import type { Source } from '../../source.js'
import { createProgress } from '../following/catch-up-progress.js'
import { decodedScope, moneySet } from '../following/configured-scope.js'
import { watchFinality } from '../following/finality.js'
import { type ChainPosition, followChain, type OpenSourceOptions } from '../following/follow-chain.js'
import { startBlock } from '../following/start-block.js'
import type { EndpointStatus } from '../nodes/endpoint-status.js'
import { solanaDecoder } from './decoding.js'
import { createFactsFiller } from './fill-facts.js'
import { openSolanaBook } from './kept-book.js'
import { followStreams, type LiveBlocks, type StreamStatus } from './live-blocks.js'
import { referencePools } from './reference-pools.js'
import { createSlotReader } from './rpc/reader.js'
import { checkConfiguredMints } from './start-checks.js'
import { openStreams } from './streams.js'
import { createTokenFacts } from './token-facts.js'

export type OpenSolanaOptions = OpenSourceOptions<SolanaSourceConfig>

export type OpenedSolanaSource = {
  source: Source<ChainPosition>
  endpoints(): EndpointStatus[]
  streams(): StreamStatus[]
}

/** A block may have thousands of transactions: the first range must not fill the memory. */
const FIRST_RANGE_SLOTS = 2

/** Fails with a `ConfigError` where the configuration does not fit the chain; what may pass can be tried again. */
export async function openSolanaSource(options: OpenSolanaOptions): Promise<OpenedSolanaSource> {
  const { config, facts, bookPath, logger, progressMs, signal, nowMs = Date.now } = options
  const { chain, commitment, maxRps } = config
  const onLost = (stream: string, error: unknown) =>
    logger.warn('a stream of blocks is lost; blocks are asked for until it is back', { chain, stream, error })
  const live = followStreams({ streams: await openStreams(config), onLost })
  const reader = createSlotReader({
    ...{ chain, genesisHash: config.genesisHash, urls: config.rpcUrls, commitment, logger, live },
    ...(maxRps === undefined ? {} : { maxRps }),
  })
  try {
    await reader.start(signal)
    const tokens = createTokenFacts(reader.accounts)
    await checkConfiguredMints(tokens, facts, new Set(config.explicitTokens), logger, signal)
    const name = `${chain} nodes`
    const book = openSolanaBook({ path: bookPath })
    const source = followChain({
      ...{ chain, name, book, logger, nowMs },
      id: `solana/${chain}`,
      nodes: { ...reader, close: () => closeAll(live, reader) },
      decoder: solanaDecoder({
        chain,
        name,
        book,
        rules: solanaRulesOf(config, facts),
        facts: createFactsFiller(tokens),
      }),
      firstBlock: (until) => startBlock(config.start, chain, reader, until),
      finality: watchFinality(config.finality, reader, nowMs),
      progress: createProgress(chain, logger, progressMs, nowMs),
      weightOf: ({ transactions }) => transactions.length,
      chunkSize: { blocks: FIRST_RANGE_SLOTS },
    })
    return { source, endpoints: () => reader.status(), streams: () => live.status() }
  } catch (error) {
    await closeAll(live, reader)
    throw error
  }
}

async function closeAll(live: LiveBlocks, reader: { close(): Promise<void> }): Promise<void> {
  await reader.close()
  await live.close()
}

/** What is decoded for a scope. */
export function solanaRulesOf({ scope }: SolanaSourceConfig, facts: ChainFacts): SolanaRules {
  const isNarrow = scope.pools.length > 0 || scope.tokens.length > 0
  const references = isNarrow ? referencePools(facts) : []
  return createSolanaRules({ scope: decodedScope(scope, references), money: moneySet(facts), programs: PROGRAMS })
}

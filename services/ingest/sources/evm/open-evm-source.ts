/** Opens an EVM chain as a source. Configuration errors are reported here, before anything is read. */
import type { EvmSourceConfig, TokenChecks } from '../../../core/config/evm-source.js'
import type { Logger } from '../../../core/runtime/logger.js'
import { type DecodeRules, mayBeInScope, venueRef } from '../../decode/evm/block/decode-rules.js'
import type { EvmBlock, EvmLog } from '../../decode/evm/log.js'
import { BadLog, type Refusal } from '../../decode/evm/protocol.js'
import type { Source } from '../../source.js'
import { createProgress } from '../following/catch-up-progress.js'
import type { ChainNodes } from '../following/chain-nodes.js'
import { watchFinality } from '../following/finality.js'
import {
  type ChainPosition,
  type FollowedChain,
  followChain,
  type OpenSourceOptions,
} from '../following/follow-chain.js'
import { startBlock } from '../following/start-block.js'
import type { ChainReader, CheckedBlock, LogFilter } from './chain-reader.js'
import { evmDecoder } from './evm-decoder.js'
import { type HolderListParts, type HolderLists, listedTokens, openHolderLists } from './holders/holder-lists.js'
import { type KeptBook, openBook } from './kept-book.js'
import { keptReferences, referenceKey } from './reference-pools.js'
import { resolveScope } from './resolve-scope.js'
import { createChainReader } from './rpc/evm-reader.js'
import { checkConfiguredTokens, checkScopeTokens } from './start-checks.js'

export type OpenEvmOptions = OpenSourceOptions<EvmSourceConfig> & Pick<HolderListParts, 'holdersPerBlock'>

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
      ...(config.risk === undefined ? {} : { risk: config.risk }),
      id: `evm/${chain}`,
      name: `${chain} nodes`,
      book: openBook({ path: bookPath }),
      firstBlock: (until) =>
        startBlock(config.start, chain, { head: reader.head, headerFrom: reader.headerByNumber }, until),
      finality: watchFinality(config.finality, reader, nowMs),
      progress: createProgress(chain, logger, options.progressMs, nowMs),
      holderLists: { ...options, folder: bookPath },
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
  const { tokens, holders = [] } = config.scope
  await checkScopeTokens(reader, config.chain, [...tokens, ...holders], signal)
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
  risk?: TokenChecks
  /** Where lists of holders are kept; undefined: none are made. */
  holderLists?: Pick<HolderListParts, 'folder' | 'progressMs' | 'holdersPerBlock'>
}

const FIRST_RANGE_BLOCKS = 20

export function createEvmSource(parts: EvmSourceParts): Source<ChainPosition> {
  const refusals = new Map<string, Refusal>()
  const holders = holderListsOf(parts)
  const source = followChain({
    ...parts,
    nodes: blocksWithSenders({ ...parts, refusals }),
    decoder: evmDecoder({ ...parts, refusals, holders }),
    weightOf: ({ logs }) => logs.length,
    chunkSize: { blocks: FIRST_RANGE_BLOCKS },
  })
  if (holders === undefined) return source
  return {
    ...source,
    async close() {
      holders.close()
      await source.close?.()
    },
  }
}

function holderListsOf({ holderLists, finality, ...parts }: EvmSourceParts): HolderLists | undefined {
  if (holderLists === undefined) return undefined
  if (parts.rules.scope.holders === undefined && listedTokens(holderLists.folder).length === 0) return undefined
  return openHolderLists({ ...parts, ...holderLists, finalOf: (number) => finality.finalOf(number) })
}

type WithSendersOptions = {
  reader: ChainReader
  filter: LogFilter
  rules: DecodeRules
  /** Addresses that are not pools: their transactions' signers are not needed. */
  refusals: ReadonlyMap<string, Refusal>
}

/** An EVM chain's nodes as chain following needs them: blocks with the logs in scope and their transactions' signers. */
function blocksWithSenders({ reader, filter, rules, refusals }: WithSendersOptions): ChainNodes<EvmBlock> {
  async function withSenders(blocks: readonly CheckedBlock[], signal: AbortSignal): Promise<EvmBlock[]> {
    const wanted = blocks.flatMap((block) => {
      const txHashes = signedFor(block.logs)
      return txHashes.length === 0 ? [] : [{ block, txHashes }]
    })
    const senders = wanted.length === 0 ? new Map() : await reader.senders(wanted, signal)
    return blocks.map((block) => ({ ...block, senders }))
  }

  /** A transaction's logs are adjacent: the first relevant one is enough. */
  function signedFor(logs: readonly EvmLog[]): string[] {
    const found = new Set<string>()
    let last = ''
    for (const log of logs) {
      if (log.txHash === last || !needsSender(log)) continue
      last = log.txHash
      found.add(last)
    }
    return [...found]
  }

  function needsSender(log: EvmLog): boolean {
    try {
      const ref = venueRef(log, rules)
      return ref !== null && !refusals.has(ref.id) && mayBeInScope(rules.scope, ref.id)
    } catch (error) {
      if (error instanceof BadLog) return false
      throw error
    }
  }

  return {
    head: (signal) => reader.head(signal),
    heads: (signal) => reader.heads(signal),
    headerByHash: (hash, _number, signal) => reader.headerByHash(hash, signal),
    headerByNumber: (number, signal) => reader.headerByNumber(number, signal),
    finalized: (signal) => reader.finalized(signal),
    range: async (from, to, signal) => withSenders(await reader.blocks(from, to, filter, signal), signal),
    async blocks(headers, signal) {
      const blocks = await Promise.all(headers.map(({ hash }) => reader.block(hash, filter, signal)))
      return withSenders(blocks, signal)
    },
    close: () => reader.close(),
  }
}

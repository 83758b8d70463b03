/** Opens a Solana cluster as a source. Configuration errors are reported here, before anything is read. */
import type { SolanaSourceConfig } from '../../../core/config/solana-source.js'
import type { ChainFacts, ChainMoney } from '../../../core/domain/chains.js'
import type { Logger } from '../../../core/runtime/logger.js'
import { createSolanaRules, type SolanaRules } from '../../decode/solana/block/decode-rules.js'
import { LOCKER_PROGRAMS } from '../../decode/solana/locks/inspect-locks.js'
import { WRAPPED_SOL } from '../../decode/solana/native-programs.js'
import { PROGRAMS } from '../../decode/solana/programs.js'
import type { Source } from '../../source.js'
import { createProgress } from '../following/catch-up-progress.js'
import { decodedScope, moneyOf, moneySet, type RankedToken, refuseUnusable } from '../following/configured-scope.js'
import { watchFinality } from '../following/finality.js'
import { type ChainPosition, followChain, type OpenSourceOptions } from '../following/follow-chain.js'
import { startBlock } from '../following/start-block.js'
import { endpointNames } from '../nodes/endpoint-name.js'
import type { EndpointStatus } from '../nodes/endpoint-status.js'
import { createTokenChecker } from './check-tokens.js'
import { createFactsFiller } from './fill-facts.js'
import { checkHeldTokens } from './holders/check-held-tokens.js'
import { createHolderLists, type HolderListPace, type HolderLists } from './holders/holder-lists.js'
import { followStreams, type LiveBlocks, type StreamStatus } from './live-blocks.js'
import { type AccountListerOptions, createAccountLister } from './rpc/account-lister.js'
import { blockNoticesStream } from './rpc/block-notices.js'
import { createSlotReader } from './rpc/slot-reader.js'
import type { BlockStream } from './slot-block.js'
import { openSolanaBook, solanaDecoder } from './solana-decoder.js'
import { createTokenFacts, type TokenFacts, type TokenFactsReader } from './token-facts.js'

export type OpenSolanaOptions = OpenSourceOptions<SolanaSourceConfig> & { holderLists?: HolderListOptions }

export type HolderListOptions = HolderListPace & Pick<AccountListerOptions, 'mostAccounts'>

export type OpenedSolanaSource = {
  source: Source<ChainPosition>
  endpoints(): EndpointStatus[]
  streams(): StreamStatus[]
}

/** A block may have thousands of transactions: the first range must fit in memory. */
const FIRST_RANGE_SLOTS = 2

/** Throws a `ConfigError` if the configuration does not fit the chain; transient errors can be retried. */
export async function openSolanaSource(options: OpenSolanaOptions): Promise<OpenedSolanaSource> {
  const { config, facts, bookPath, logger, progressMs, signal, nowMs = Date.now, holderLists = {} } = options
  const { chain, commitment, maxRps } = config
  const nodes = { chain, genesisHash: config.genesisHash, urls: config.rpcUrls, logger, ...(maxRps && { maxRps }) }
  const onLost = (stream: string, error: unknown) =>
    logger.warn('block stream lost, requesting blocks until it reconnects', { chain, stream, error })
  const live = followStreams({ streams: await openStreams(config), onLost })
  const reader = createSlotReader({ ...nodes, commitment, live })
  try {
    await reader.start(signal)
    const tokens = createTokenFacts(reader.accounts)
    await checkConfiguredMints(tokens, facts, new Set(config.explicitTokens), logger, signal)
    const { holders: heldTokens = [] } = config.scope
    await checkHeldTokens(tokens, chain, heldTokens, signal)
    const name = `${chain} nodes`
    const book = openSolanaBook({ path: bookPath })
    const holders = createHolderLists({
      ...{ chain, tokens: heldTokens, book, logger, nowMs, ...holderLists },
      openLister: () => createAccountLister({ ...nodes, ...holderLists }),
    })
    const source = followChain({
      ...{ chain, name, book, logger, nowMs },
      id: `solana/${chain}`,
      nodes: { ...reader, close: () => closeAll(holders, live, reader) },
      decoder: solanaDecoder({
        chain,
        name,
        book,
        rules: solanaRulesOf(config, facts),
        facts: createFactsFiller(tokens),
        holders,
        ...(config.risk === undefined
          ? {}
          : { checker: createTokenChecker(config.risk, reader, tokens, book.tokensOf) }),
        nowMs,
      }),
      firstBlock: (until) => startBlock(config.start, chain, reader, until),
      finality: watchFinality(config.finality, reader, nowMs),
      progress: createProgress(chain, logger, progressMs, nowMs),
      weightOf: ({ transactions }) => transactions.length,
      chunkSize: { blocks: FIRST_RANGE_SLOTS },
    })
    return { source, endpoints: () => reader.status(), streams: () => live.status() }
  } catch (error) {
    await closeAll(undefined, live, reader)
    throw error
  }
}

async function closeAll(
  holders: HolderLists | undefined,
  live: LiveBlocks,
  reader: { close(): Promise<void> },
): Promise<void> {
  holders?.close()
  await reader.close()
  await live.close()
}

/** The decoding rules for a configured scope. */
export function solanaRulesOf({ scope, risk }: SolanaSourceConfig, facts: ChainFacts): SolanaRules {
  const isNarrow = scope.pools.length > 0 || scope.tokens.length > 0
  const references = isNarrow ? referencePools(facts) : []
  return createSolanaRules({
    ...{ scope: decodedScope(scope, references), money: moneySet(facts), programs: PROGRAMS },
    lockers: risk === undefined ? [] : LOCKER_PROGRAMS,
  })
}

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

/** SOL/USDC on mainnet-beta. Each was found in at least two independent public sources. They price SOL: without them a narrow scope
 * would have no USD prices for anything quoted in it. */
const SOL_USDC = [
  '58oQChx4yWmvKdwLLZzBi4ChoCc2fqCUWBkwMihLYQo2', // Raydium v4
  '8sLbNZoA1cfnvMJLPfp98ZLAnFSYCFApfJKMbiXNLwxj', // Raydium CLMM
  'Czfq3xZZDmsdGdUyrNLtRhGc47cXcZtLG4crryfu44zE', // Orca Whirlpool
  '5rCf1DM8LjKTw4YqhnoLcngyZYeNnQqztScTogYHAS6', // Meteora DLMM
]

/** They cost no requests: blocks are always complete. */
export const referencePools = ({ native, anchor }: ChainMoney): readonly string[] =>
  native === WRAPPED_SOL && anchor === USDC ? SOL_USDC : []

/** Sources of pushed blocks: Geyser endpoints, and nodes with sockets if they offer it. */
export async function openStreams(config: SolanaSourceConfig): Promise<BlockStream[]> {
  const { chain, commitment, rpcUrls } = config
  const nodeNames = endpointNames(rpcUrls)
  const notices = rpcUrls.flatMap((url, place) =>
    /^wss?:/i.test(url) ? [blockNoticesStream({ chain, url, commitment, name: nodeNames[place] })] : [],
  )
  return [...(await geyserStreams(config)), ...notices]
}

/** Loaded only if configured: gRPC is large and would slow down every start. */
async function geyserStreams({ chain, commitment, geyser, scope, risk }: SolanaSourceConfig): Promise<BlockStream[]> {
  if (geyser.length === 0) return []
  const [{ geyserStream }, { accountsOfInterest }] = await Promise.all([
    import('./geyser/geyser-stream.js'),
    import('./geyser/geyser-service.js'),
  ])
  const accounts = accountsOfInterest(scope, PROGRAMS, risk === undefined ? [] : LOCKER_PROGRAMS)
  const names = endpointNames(geyser.map(({ url }) => url))
  return geyser.map(({ url, token }, place) =>
    geyserStream({ chain, url, token, commitment, accounts, name: names[place] }),
  )
}

/** `facts` null: not a mint. */
export type CheckedMint = RankedToken & { facts: TokenFacts | null }

/** Throws if a configured token is not a mint; a built-in one is only logged. Returns the tokens with their facts. */
export async function checkConfiguredMints(
  reader: TokenFactsReader,
  facts: ChainFacts,
  explicit: ReadonlySet<string>,
  logger: Logger,
  signal: AbortSignal,
): Promise<CheckedMint[]> {
  const money = moneyOf(facts)
  const found = await reader.of(
    money.map(({ token }) => token),
    signal,
  )
  const checked = money.map((ranked) => ({ ...ranked, facts: found.get(ranked.token) ?? null }))
  const unusable = checked
    .filter((one) => one.facts === null)
    .map(({ token, rank }) => ({ token, rank, reason: 'is not a mint on this cluster' }))
  refuseUnusable(facts.chain, unusable, explicit, 'mints of the Token or the Token-2022 program', logger)
  return checked
}

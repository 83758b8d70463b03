/** Runs the real source on the simulated Solana chain into an embedded log. */
import { rmSync } from 'node:fs'
import { BUILT_IN_CHAINS } from '../../../services/core/config/built-in-chains.js'
import type { SolanaSourceConfig } from '../../../services/core/config/solana-source.js'
import { type Logger, silentLogger } from '../../../services/core/runtime/logger.js'
import { type HolderListOptions, openSolanaSource } from '../../../services/ingest/sources/solana/open-solana-source.js'
import { openPlace, type Place } from '../source-place.js'
import { FIRST_SLOT } from './ledger.js'
import { MAINNET_GENESIS } from './rpc-methods.js'

export type SolanaRunOptions = Partial<
  Pick<SolanaSourceConfig, 'start' | 'scope' | 'commitment' | 'maxRps' | 'geyser'>
> & {
  urls: readonly string[]
  holderLists?: HolderListOptions
  logger?: Logger
  /** As on another machine. */
  isBookLost?: boolean
}

export type SolanaPlace = Place<SolanaRunOptions>

const EVERYTHING = { pools: [], tokens: [], amms: [], balances: 'all' } as const

export function openSolanaPlace(): SolanaPlace {
  const chain = 'solana'
  const facts = BUILT_IN_CHAINS.find((each) => each.chain === chain)
  if (facts === undefined) throw new Error('no built-in chain of that name')
  return openPlace({
    chain,
    async openSource({ urls, holderLists = {}, logger = silentLogger, isBookLost = false, ...over }, bookPath, signal) {
      if (isBookLost) rmSync(bookPath, { recursive: true })
      const config: SolanaSourceConfig = {
        ...{ family: 'solana', chain, genesisHash: MAINNET_GENESIS, rpcUrls: urls, geyser: [], explicitTokens: [] },
        ...{
          scope: EVERYTHING,
          start: { kind: 'block', number: FIRST_SLOT },
          finality: { kind: 'tag' },
          commitment: 'confirmed',
        },
        ...over,
      }
      const parts = { config, facts, bookPath, logger, progressMs: 60_000, signal, holderLists }
      return (await openSolanaSource(parts)).source
    },
  })
}

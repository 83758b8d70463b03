/** Runs the real source on the simulated Solana chain into an embedded log. */
import { BUILT_IN_CHAINS } from '../../../services/core/config/built-in-chains.js'
import type { SolanaSourceConfig } from '../../../services/core/config/solana-source.js'
import { silentLogger } from '../../../services/core/runtime/logger.js'
import { openSolanaSource } from '../../../services/ingest/sources/solana/open-solana-source.js'
import { openPlace, type Place } from '../source-place.js'
import { FIRST_SLOT } from './ledger.js'
import { MAINNET_GENESIS } from './rpc-methods.js'

export type SolanaRunOptions = Partial<
  Pick<SolanaSourceConfig, 'start' | 'scope' | 'commitment' | 'maxRps' | 'geyser'>
> & {
  urls: readonly string[]
}

export type SolanaPlace = Place<SolanaRunOptions>

const EVERYTHING = { pools: [], tokens: [], amms: [], balances: 'all' } as const

export function openSolanaPlace(): SolanaPlace {
  const chain = 'solana'
  const facts = BUILT_IN_CHAINS.find((each) => each.chain === chain)
  if (facts === undefined) throw new Error('no built-in chain of that name')
  return openPlace({
    chain,
    async openSource({ urls, ...over }, bookPath, signal) {
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
      const parts = { config, facts, bookPath, logger: silentLogger, progressMs: 60_000, signal }
      return (await openSolanaSource(parts)).source
    },
  })
}

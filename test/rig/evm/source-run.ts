/** Runs the real source on a test's EVM chain into an embedded log. */
import type { EvmSourceConfig } from '../../../services/core/config/evm-source.js'
import type { ChainFacts } from '../../../services/core/domain/chains.js'
import { silentLogger } from '../../../services/core/runtime/logger.js'
import { openEvmSource } from '../../../services/ingest/sources/evm/open-evm-source.js'
import { openPlace, type Place } from '../source-place.js'
import { type Contracts, knownContracts } from './contracts.js'

export type SourceRunOptions = Partial<Pick<EvmSourceConfig, 'start' | 'scope' | 'finality' | 'maxRps'>> & {
  urls: readonly string[]
}

export type SourcePlace = Place<SourceRunOptions>

const EVERYTHING = { pools: [], tokens: [], amms: [], balances: 'all' } as const

export function chainFactsOf({ tokens: { weth, usdc, usdt, btc } }: Contracts): ChainFacts {
  const money = { anchor: usdc.address, native: weth.address, stables: [usdt.address], majors: [btc.address] }
  return { chain: 'base', family: 'evm', chainId: 8453, title: 'Base', ...money }
}

export function openSourcePlace(contracts: Contracts): SourcePlace {
  const facts = chainFactsOf(contracts)
  const { chain } = facts
  return openPlace({
    chain,
    async openSource({ urls, ...over }, bookPath, signal) {
      const config: EvmSourceConfig = {
        ...{
          family: 'evm',
          chain,
          chainId: 8453,
          rpcUrls: urls,
          scope: EVERYTHING,
          start: { kind: 'block', number: 1 },
        },
        ...{ finality: { kind: 'depth', blocks: 64 }, contracts: knownContracts(contracts), explicitTokens: [] },
        ...over,
      }
      const parts = { config, facts, bookPath, logger: silentLogger, progressMs: 60_000, signal }
      return (await openEvmSource(parts)).source
    },
  })
}

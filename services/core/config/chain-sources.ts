/** Which chains are read from nodes, by file, environment and command line together. */
import type { ChainFacts } from '../domain/chains.js'
import type { KnownContract } from '../domain/exchanges.js'
import { BUILT_IN_CHAINS } from './built-in-chains.js'
import { describeEvmSource, type EvmSourceConfig, evmSource, knownContracts } from './evm-source.js'
import type { ChainSection } from './file-schema.js'
import { nearestName } from './nearest-name.js'
import { describeSolanaSource, type SolanaSourceConfig, solanaSource } from './solana-source.js'

type Sections = Readonly<Record<string, ChainSection>>

/** Only the file can define a new chain: elsewhere an unknown name is a mistake. */
export function mergeChainSections(
  file: Sections,
  over: readonly Sections[],
  problems: string[],
): Record<string, ChainSection> {
  const merged: Record<string, ChainSection> = { ...file }
  const known = [...new Set([...BUILT_IN_CHAINS.map(({ chain }) => chain), ...Object.keys(file)])]
  for (const [chain, section] of over.flatMap((sections) => Object.entries(sections))) {
    if (known.includes(chain)) merged[chain] = { ...merged[chain], ...section }
    else problems.push(unknownChain(chain, known))
  }
  return merged
}

function unknownChain(chain: string, known: readonly string[]): string {
  const nearest = nearestName(chain, known)
  const hint = nearest === undefined ? `known chains are ${known.join(', ')}` : `did you mean "${nearest}"?`
  return `unknown chain "${chain}": ${hint} (your own chain needs a section in "chains")`
}

export type ChainSourceConfig = EvmSourceConfig | SolanaSourceConfig

export type ChainSources = {
  /** By EVM chain: the contracts whose pool events are trusted. */
  contracts: ReadonlyMap<string, readonly KnownContract[]>
  /** The chains that are read from nodes. */
  sources: ReadonlyMap<string, ChainSourceConfig>
}

/** Keys that only one family has. */
const KEYS_OF = {
  evm: ['chain_id', 'contracts', 'lockers'],
  solana: ['geyser', 'commitment', 'genesis_hash'],
} as const

export function chainSources(
  chains: ReadonlyMap<string, ChainFacts>,
  sections: Sections,
  problems: string[],
): ChainSources {
  const contracts = new Map<string, readonly KnownContract[]>()
  const sources = new Map<string, ChainSourceConfig>()
  for (const [chain, facts] of chains) {
    const section = sections[chain] ?? {}
    const other = facts.family === 'evm' ? 'solana' : 'evm'
    const [foreign] = KEYS_OF[other].filter((key) => section[key] !== undefined)
    if (foreign !== undefined) problems.push(`"chains.${chain}.${foreign}" is only valid for chains of family ${other}`)
    const source = facts.family === 'evm' ? evmChain(facts, section) : solanaSource(chain, section, problems)
    if (source.rpcUrls.length > 0) sources.set(chain, source)
    else if (source.family === 'solana' && source.geyser.length > 0)
      problems.push(`"chains.${chain}.geyser" also needs "rpc": blocks missing from a stream are read from these nodes`)
  }
  return { contracts, sources }

  function evmChain(facts: ChainFacts, section: ChainSection): EvmSourceConfig {
    const known = knownContracts(facts.chain, section.contracts, problems)
    contracts.set(facts.chain, known)
    return evmSource(facts, section, known, problems)
  }
}

/** For display. */
export const describeChainSource = (source: ChainSourceConfig): Record<string, unknown> =>
  source.family === 'evm' ? describeEvmSource(source) : describeSolanaSource(source)

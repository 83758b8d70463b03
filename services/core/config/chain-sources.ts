/** Which chains are read from nodes: what the file, the environment and the command line say of them together. */
import type { ChainFacts } from '../domain/chains.js'
import type { KnownContract } from '../domain/evm-contracts.js'
import { BUILT_IN_CHAINS } from './built-in-chains.js'
import { describeEvmSource, type EvmSourceConfig, evmSource, knownContracts } from './evm-source.js'
import type { ChainSection } from './file-schema.js'
import { nearestWord } from './nearest-name.js'
import { describeSolanaSource, type SolanaSourceConfig, solanaSource } from './solana-source.js'

type Sections = Readonly<Record<string, ChainSection>>

/** Only the file makes a new chain: elsewhere a name nobody knows is a mistyped one. */
export function layChains(file: Sections, over: readonly Sections[], problems: string[]): Record<string, ChainSection> {
  const laid: Record<string, ChainSection> = { ...file }
  const known = [...new Set([...BUILT_IN_CHAINS.map(({ chain }) => chain), ...Object.keys(file)])]
  for (const [chain, section] of over.flatMap((sections) => Object.entries(sections))) {
    if (known.includes(chain)) laid[chain] = { ...laid[chain], ...section }
    else problems.push(unknownChain(chain, known))
  }
  return laid
}

function unknownChain(chain: string, known: readonly string[]): string {
  const nearest = nearestWord(chain, known)
  const hint = nearest === undefined ? `known are ${known.join(', ')}` : `did you mean "${nearest}"?`
  return `unknown chain "${chain}": ${hint} (a chain of your own needs a section in "chains")`
}

export type ChainSourceConfig = EvmSourceConfig | SolanaSourceConfig

export type ChainSources = {
  /** By EVM chain: the contracts whose word about new pools counts. */
  contracts: ReadonlyMap<string, readonly KnownContract[]>
  /** The chains that are read from nodes. */
  sources: ReadonlyMap<string, ChainSourceConfig>
}

/** Keys that mean nothing to the other family. */
const KEYS_OF = {
  evm: ['chain_id', 'contracts'],
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
    if (foreign !== undefined) problems.push(`"chains.${chain}.${foreign}": only chains of the family ${other} have it`)
    const source = facts.family === 'evm' ? evmChain(facts, section) : solanaSource(chain, section, problems)
    if (source.rpcUrls.length > 0) sources.set(chain, source)
    else if (source.family === 'solana' && source.geyser.length > 0)
      problems.push(`"chains.${chain}.geyser" needs nodes beside it ("rpc"): what a stream misses is asked of them`)
  }
  return { contracts, sources }

  function evmChain(facts: ChainFacts, section: ChainSection): EvmSourceConfig {
    const known = knownContracts(facts.chain, section.contracts, problems)
    contracts.set(facts.chain, known)
    return evmSource(facts, section, known, problems)
  }
}

/** As a person may see it. */
export const describeChainSource = (source: ChainSourceConfig): Record<string, unknown> =>
  source.family === 'evm' ? describeEvmSource(source) : describeSolanaSource(source)

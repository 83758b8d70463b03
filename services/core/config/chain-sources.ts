/** Which chains are read from nodes: what the file, the environment and the command line say of them together. */
import type { ChainFacts } from '../domain/chains.js'
import { BUILT_IN_CHAINS } from './built-in-chains.js'
import type { Config } from './config.js'
import { evmSource } from './evm-source.js'
import type { ChainSection } from './file-schema.js'
import { knownContracts } from './known-contracts.js'
import { nearestWord } from './nearest.js'

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

/** Keys that only a chain read from nodes has. */
const NODE_KEYS = ['rpc', 'pools', 'tokens', 'amms', 'start', 'balances', 'max_rps', 'finality', 'contracts'] as const

export function chainSources(
  chains: ReadonlyMap<string, ChainFacts>,
  sections: Sections,
  problems: string[],
): Pick<Config, 'contracts' | 'sources'> {
  const contracts = new Map<string, ReturnType<typeof knownContracts>>()
  const sources = new Map<string, ReturnType<typeof evmSource>>()
  for (const [chain, facts] of chains) {
    const section = sections[chain] ?? {}
    if (facts.family !== 'evm') {
      const given = NODE_KEYS.filter((key) => section[key] !== undefined)
      if (given.length > 0)
        problems.push(`"chains.${chain}.${given[0]}": only chains of the family evm are read from nodes`)
      continue
    }
    const known = knownContracts(chain, section.contracts, problems)
    contracts.set(chain, known)
    const source = evmSource(facts, section, known, problems)
    if (source.rpcUrls.length > 0) sources.set(chain, source)
  }
  return { contracts, sources }
}

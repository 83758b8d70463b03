/** Merges the configured chains into the built-in ones and checks the result: address forms, one rank per token. */
import { type ChainFacts, type ChainFamily, normalAddress } from '../domain/chains.js'
import { BUILT_IN_CHAINS } from './built-in-chains.js'
import type { ChainSection } from './file-schema.js'

/** What an address looks like, by family; `form` describes it in error messages. */
export const ADDRESS_FORM: Record<ChainFamily, { pattern: RegExp; form: string }> = {
  evm: { pattern: /^0x[0-9a-fA-F]{40}$/, form: 'an address (0x and 40 hexadecimal digits)' },
  solana: { pattern: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, form: 'an address (32 to 44 base58 characters)' },
}

/** A chain's name is part of topic names and, after a dash, of token and pair ids. `unknown` has the dead letters without a chain. */
export const CHAIN_NAME = /^[a-z0-9][a-z0-9_]{0,31}$/
export const isChainName = (name: string): boolean => CHAIN_NAME.test(name) && name !== 'unknown'

/** A chain known only from a recording is allowed: it has no ranked tokens, so nothing on it has a USD price. */
export function chainFacts(config: { chains: ReadonlyMap<string, ChainFacts> }, chain: string): ChainFacts {
  return config.chains.get(chain) ?? unrankedChain(chain)
}

/** Facts of a chain without configuration: addresses as on EVM chains, no token ranks. */
export function unrankedChain(chain: string): ChainFacts {
  return { chain, family: 'evm', title: chain, stables: [], majors: [] }
}

export function mergeChains(sections: Record<string, ChainSection>, problems: string[]): Map<string, ChainFacts> {
  const chains = new Map(BUILT_IN_CHAINS.map((facts) => [facts.chain, facts]))
  for (const [chain, section] of Object.entries(sections)) {
    if (!isChainName(chain)) {
      problems.push(`"chains.${chain}" is not a valid chain name: use 1 to 32 of a-z, 0-9 and _ (not "unknown")`)
      continue
    }
    chains.set(chain, mergeChain(chains.get(chain) ?? unrankedChain(chain), section, problems))
  }
  return chains
}

function mergeChain(base: ChainFacts, section: ChainSection, problems: string[]): ChainFacts {
  const family = section.family ?? base.family
  const where = `chains.${base.chain}`
  const check = (key: string, address: string): string => {
    if (!ADDRESS_FORM[family].pattern.test(address))
      problems.push(`"${where}.${key}" must be ${ADDRESS_FORM[family].form}, got "${address}"`)
    return normalAddress(family, address)
  }
  const given = {
    anchor: section.anchor === undefined ? undefined : check('anchor', section.anchor),
    native: section.native === undefined ? undefined : check('native', section.native),
    stables: section.stables?.map((address) => check('stables', address)),
    majors: section.majors?.map((address) => check('majors', address)),
  }
  reportTwoRanks(where, given, problems)

  const anchor = given.anchor ?? base.anchor
  const native = given.native ?? base.native
  // A replaced anchor still ranks as money: it becomes a stable unless the stables were given too.
  const defaultStables = given.anchor === undefined || !base.anchor ? base.stables : [base.anchor, ...base.stables]
  const explicit = new Set([given.anchor, given.native, ...(given.stables ?? []), ...(given.majors ?? [])])
  const notGivenElsewhere = (list: readonly string[]) => list.filter((address) => !explicit.has(address))
  const chainId = section.chain_id ?? base.chainId
  const audited = section.audited?.map((address) => check('audited', address)) ?? base.audited
  return {
    chain: base.chain,
    family,
    title: section.title ?? base.title,
    ...(chainId === undefined ? {} : { chainId }),
    ...(anchor === undefined ? {} : { anchor }),
    ...(native === undefined ? {} : { native }),
    stables: given.stables ?? notGivenElsewhere(defaultStables),
    majors: given.majors ?? notGivenElsewhere(base.majors),
    ...(audited === undefined ? {} : { audited }),
  }
}

type GivenMoney = {
  anchor: string | undefined
  native: string | undefined
  stables: string[] | undefined
  majors: string[] | undefined
}

function reportTwoRanks(where: string, given: GivenMoney, problems: string[]): void {
  const rankOf = new Map<string, string>()
  for (const [rank, addresses] of Object.entries(given)) {
    for (const address of [addresses ?? []].flat()) {
      const other = rankOf.get(address)
      if (other !== undefined)
        problems.push(`"${where}": ${address} is in ${other} and in ${rank}; a token has one rank`)
      rankOf.set(address, rank)
    }
  }
}

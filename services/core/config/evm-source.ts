/** What is read of an EVM chain, and from which nodes. */
import { normalAddress } from '../domain/chains.js'
import type { KnownContract } from '../domain/evm-contracts.js'
import { type ChainStart, describeStart, readStart, START_FORM } from './chain-start.js'
import type { ChainSection } from './file-schema.js'
import { ADDRESS_FORM, EVM_ADDRESS } from './known-contracts.js'
import { nearestWord } from './nearest.js'
import { withoutSecrets } from './without-secrets.js'

/** `scoped`: of the tokens the scope's pools trade. */
export type BalancesMode = 'off' | 'scoped' | 'all'

/** Nothing named: everything of the known exchanges. Several lists together: what any of them asks for. */
export type EvmScope = {
  /** Pools' addresses, singletons' pool ids, `<token>_fo`. Lower case. */
  pools: readonly string[]
  tokens: readonly string[]
  amms: readonly string[]
  balances: BalancesMode
}

/** `tag`: what the nodes call finalized; `depth`: so many blocks below the head. */
export type Finality = { kind: 'tag' } | { kind: 'depth'; blocks: number }

export type EvmSourceConfig = {
  chain: string
  /** What the nodes must say they are, where it is known. */
  chainId?: number
  /** http, https, ws or wss. Each may hold a secret. */
  rpcUrls: readonly string[]
  scope: EvmScope
  start: ChainStart
  /** Requests a second over all nodes. */
  maxRps?: number
  finality: Finality
  contracts: readonly KnownContract[]
  /** The chain's money as far as the user named it: what is wrong with these is the user's to mend. */
  explicitTokens: readonly string[]
}

type Facts = { chain: string; chainId?: number }

export function evmSource(
  { chain, chainId }: Facts,
  section: ChainSection,
  contracts: readonly KnownContract[],
  problems: string[],
): EvmSourceConfig {
  const where = (key: string, option: string) => `"chains.${chain}.${key}" (${option})`
  const rpcUrls = section.rpc ?? []
  if (!rpcUrls.every(isNodeUrl))
    problems.push(`each of ${where('rpc', '--rpc')} must be an http://, https://, ws:// or wss:// address`)
  const addresses = (key: 'pools' | 'tokens', option: string, pattern: RegExp, form: string): string[] =>
    (section[key] ?? []).map((address) => {
      if (!pattern.test(address)) problems.push(`each of ${where(key, option)} must be ${form}, got "${address}"`)
      return normalAddress('evm', address)
    })
  const start = readStart(section.start ?? 'latest')
  if (start === undefined) problems.push(`${where('start', '--start')} must be ${START_FORM}, got "${section.start}"`)
  const { finality = 'tag', max_rps: maxRps } = section
  return {
    chain,
    ...(chainId === undefined ? {} : { chainId }),
    rpcUrls,
    scope: {
      pools: addresses('pools', '--pool', POOL, POOL_FORM),
      tokens: addresses('tokens', '--token', EVM_ADDRESS, `an address (${ADDRESS_FORM})`),
      amms: knownAmms(where('amms', '--amm'), section.amms ?? [], contracts, problems),
      balances: section.balances ?? 'off',
    },
    start: start ?? { kind: 'latest' },
    ...(maxRps === undefined ? {} : { maxRps }),
    finality: finality === 'tag' ? { kind: 'tag' } : { kind: 'depth', blocks: finality },
    contracts,
    explicitTokens: moneyOf(section),
  }
}

const POOL = /^0x([0-9a-fA-F]{64}|[0-9a-fA-F]{40}(_fo)?)$/
const POOL_FORM = 'a pool: its address (0x and 40 hexadecimal digits), its id (0x and 64), or a token and "_fo"'

const isNodeUrl = (url: string): boolean => URL.canParse(url) && /^(https?|wss?):$/.test(new URL(url).protocol)

/** A mistyped exchange would be waited for in silence. */
function knownAmms(
  where: string,
  amms: readonly string[],
  contracts: readonly KnownContract[],
  problems: string[],
): string[] {
  const known = [...new Set(contracts.map(({ amm }) => amm))].sort()
  for (const amm of amms) {
    if (known.length === 0 || known.includes(amm)) continue
    const nearest = nearestWord(amm, known)
    const hint = nearest === undefined ? `known are ${known.join(', ')}` : `did you mean "${nearest}"?`
    problems.push(`${where}: no exchange "${amm}" is known on this chain: ${hint}`)
  }
  return [...amms]
}

function moneyOf({ anchor, native, stables = [], majors = [] }: ChainSection): string[] {
  const given = [anchor, native, ...stables, ...majors]
  return given.flatMap((address) => (address === undefined ? [] : [normalAddress('evm', address)]))
}

/** As a person may see it. Of a node only its host is told: providers put their keys into the path. */
export function describeEvmSource(source: EvmSourceConfig): Record<string, unknown> {
  const { rpcUrls, scope, start, maxRps, finality, contracts } = source
  return {
    rpc: rpcUrls.map((url) => withoutSecrets(url, { path: false })),
    ...scope,
    start: describeStart(start),
    max_rps: maxRps ?? 'as the nodes allow',
    finality: finality.kind === 'tag' ? 'tag' : finality.blocks,
    contracts: contracts.length,
  }
}

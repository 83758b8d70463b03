/** What the configuration says of any chain that is read from nodes. */
import { type ChainFamily, normalAddress } from '../domain/chains.js'
import { type ChainStart, describeStart, readStart, START_FORM } from './chain-start.js'
import type { ChainSection } from './file-schema.js'
import { nearestWord } from './nearest-name.js'
import { withoutSecrets } from './without-secrets.js'

/** `scoped`: of the tokens the scope's pools trade. */
export type BalancesMode = 'off' | 'scoped' | 'all'

/** Nothing named: everything of the known exchanges. Several lists together: what any of them asks for. */
export type ChainScope = {
  /** As they stand on the log. */
  pools: readonly string[]
  tokens: readonly string[]
  amms: readonly string[]
  balances: BalancesMode
}

/** `tag`: what the nodes call finalized; `depth`: so many blocks below the head. */
export type Finality = { kind: 'tag' } | { kind: 'depth'; blocks: number }

export type NodeSource = {
  chain: string
  /** http, https, ws or wss. Each may hold a secret. */
  rpcUrls: readonly string[]
  scope: ChainScope
  start: ChainStart
  /** Requests a second over all nodes. */
  maxRps?: number
  finality: Finality
  /** The chain's money as far as the user named it: what is wrong with these is the user's to mend. */
  explicitTokens: readonly string[]
}

type Form = { pattern: RegExp; form: string }

/** What a family takes for an address, and which exchanges it knows. */
export type NodeForms = { family: ChainFamily; pool: Form; token: Form; amms: readonly string[] }

export function nodeSource(chain: string, section: ChainSection, forms: NodeForms, problems: string[]): NodeSource {
  const where = (key: string, option: string) => `"chains.${chain}.${key}" (${option})`
  const rpcUrls = section.rpc ?? []
  if (!rpcUrls.every((url) => isUrl(url, /^(https?|wss?):$/)))
    problems.push(`each of ${where('rpc', '--rpc')} must be an http://, https://, ws:// or wss:// address`)
  const addresses = (key: 'pools' | 'tokens', option: string, { pattern, form }: Form): string[] =>
    (section[key] ?? []).map((address) => {
      if (!pattern.test(address)) problems.push(`each of ${where(key, option)} must be ${form}, got "${address}"`)
      return normalAddress(forms.family, address)
    })
  const start = readStart(section.start ?? 'latest')
  if (start === undefined) problems.push(`${where('start', '--start')} must be ${START_FORM}, got "${section.start}"`)
  const { finality = 'tag', max_rps: maxRps } = section
  return {
    chain,
    rpcUrls,
    scope: {
      pools: addresses('pools', '--pool', forms.pool),
      tokens: addresses('tokens', '--token', forms.token),
      amms: knownAmms(where('amms', '--amm'), section.amms ?? [], forms.amms, problems),
      balances: section.balances ?? 'off',
    },
    start: start ?? { kind: 'latest' },
    ...(maxRps === undefined ? {} : { maxRps }),
    finality: finality === 'tag' ? { kind: 'tag' } : { kind: 'depth', blocks: finality },
    explicitTokens: moneyOf(forms.family, section),
  }
}

export const isUrl = (url: string, protocol: RegExp): boolean =>
  URL.canParse(url) && protocol.test(new URL(url).protocol)

/** A mistyped exchange would be waited for in silence. */
function knownAmms(where: string, amms: readonly string[], known: readonly string[], problems: string[]): string[] {
  for (const amm of amms) {
    if (known.length === 0 || known.includes(amm)) continue
    const nearest = nearestWord(amm, known)
    const hint = nearest === undefined ? `known are ${known.join(', ')}` : `did you mean "${nearest}"?`
    problems.push(`${where}: no exchange "${amm}" is known on this chain: ${hint}`)
  }
  return [...amms]
}

function moneyOf(family: ChainFamily, { anchor, native, stables = [], majors = [] }: ChainSection): string[] {
  const given = [anchor, native, ...stables, ...majors]
  return given.flatMap((address) => (address === undefined ? [] : [normalAddress(family, address)]))
}

/** As a person may see it. Of a node only its host is told: providers put their keys into the path. */
export function describeNodeSource({ rpcUrls, scope, start, maxRps, finality }: NodeSource): Record<string, unknown> {
  return {
    rpc: rpcUrls.map((url) => withoutSecrets(url, { path: false })),
    ...scope,
    start: describeStart(start),
    max_rps: maxRps ?? 'as the nodes allow',
    finality: finality.kind === 'tag' ? 'tag' : finality.blocks,
  }
}

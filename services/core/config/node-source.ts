/** Configuration shared by all chains that are read from nodes. */
import { type ChainFamily, normalAddress } from '../domain/chains.js'
import type { ChainSection } from './file-schema.js'
import { nearestName } from './nearest-name.js'

/** `scoped`: of the tokens the scope's pools trade. */
export type BalancesMode = 'off' | 'scoped' | 'all'

/** All lists empty: everything of the known exchanges. Several lists: whatever matches any of them. */
export type ChainScope = {
  /** In the form the log has. */
  pools: readonly string[]
  tokens: readonly string[]
  amms: readonly string[]
  balances: BalancesMode
  /** Tokens whose holders are all to be known. */
  holders?: readonly string[]
}

/** `tag`: the nodes' finalized tag; `depth`: this many blocks below the head. */
export type Finality = { kind: 'tag' } | { kind: 'depth'; blocks: number }

/** Where a chain's history begins: at the head, at a time, or at a block. */
export type ChainStart = { kind: 'latest' } | { kind: 'time'; timeS: number } | { kind: 'block'; number: number }

export const START_FORM = '"latest", a date (2024-01-05 or 2024-01-05T12:00, UTC) or a block number'

/** Undefined: not in this form. A time without a zone is UTC, so that it means the same on every machine. */
export function readStart(given: string | number): ChainStart | undefined {
  const text = String(given).trim()
  if (text === 'latest') return { kind: 'latest' }
  if (/^\d{1,15}$/.test(text)) return { kind: 'block', number: Number(text) }
  const [, day, time = '00:00', zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2})?)(Z|[+-]\d{2}:\d{2})?)?$/.exec(text) ?? []
  const ms = day === undefined ? Number.NaN : Date.parse(`${day}T${time}${zone}`)
  return Number.isNaN(ms) ? undefined : { kind: 'time', timeS: Math.floor(ms / 1000) }
}

export function describeStart(start: ChainStart): string | number {
  switch (start.kind) {
    case 'latest':
      return 'latest'
    case 'block':
      return start.number
    case 'time':
      return new Date(start.timeS * 1000).toISOString().replace(/(:00)?\.000Z$/, 'Z')
  }
}

export type NodeSource = {
  chain: string
  /** http, https, ws or wss. Each may hold a secret. */
  rpcUrls: readonly string[]
  scope: ChainScope
  start: ChainStart
  /** Requests per second over all nodes. */
  maxRps?: number
  finality: Finality
  /** Money tokens (anchor, native, stables, majors) that the user configured: an error in these is the user's to fix. */
  explicitTokens: readonly string[]
}

type Form = { pattern: RegExp; form: string }

/** A family's address forms and known exchanges. */
export type NodeForms = { family: ChainFamily; pool: Form; token: Form; amms: readonly string[] }

export function nodeSource(chain: string, section: ChainSection, forms: NodeForms, problems: string[]): NodeSource {
  const where = (key: string, option: string) => `"chains.${chain}.${key}" (${option})`
  const rpcUrls = section.rpc ?? []
  if (!rpcUrls.every((url) => isUrl(url, /^(https?|wss?):$/)))
    problems.push(`each of ${where('rpc', '--rpc')} must be an http://, https://, ws:// or wss:// URL`)
  const addresses = (key: 'pools' | 'tokens' | 'holders', option: string, { pattern, form }: Form): string[] =>
    (section[key] ?? []).map((address) => {
      if (!pattern.test(address)) problems.push(`each of ${where(key, option)} must be ${form}, got "${address}"`)
      return normalAddress(forms.family, address)
    })
  const start = readStart(section.start ?? 'latest')
  if (start === undefined) problems.push(`${where('start', '--start')} must be ${START_FORM}, got "${section.start}"`)
  const { finality = 'tag', max_rps: maxRps } = section
  const holders = addresses('holders', '--holders', forms.token)
  return {
    chain,
    rpcUrls,
    scope: {
      pools: addresses('pools', '--pool', forms.pool),
      tokens: addresses('tokens', '--token', forms.token),
      amms: knownAmms(where('amms', '--amm'), section.amms ?? [], forms.amms, problems),
      balances: section.balances ?? 'off',
      ...(holders.length === 0 ? {} : { holders }),
    },
    start: start ?? { kind: 'latest' },
    ...(maxRps === undefined ? {} : { maxRps }),
    finality: finality === 'tag' ? { kind: 'tag' } : { kind: 'depth', blocks: finality },
    explicitTokens: moneyOf(forms.family, section),
  }
}

export const isUrl = (url: string, protocol: RegExp): boolean =>
  URL.canParse(url) && protocol.test(new URL(url).protocol)

/** A mistyped exchange would match nothing, without any message. */
function knownAmms(where: string, amms: readonly string[], known: readonly string[], problems: string[]): string[] {
  for (const amm of amms) {
    if (known.length === 0 || known.includes(amm)) continue
    const nearest = nearestName(amm, known)
    const hint = nearest === undefined ? `known exchanges are ${known.join(', ')}` : `did you mean "${nearest}"?`
    problems.push(`${where}: unknown exchange "${amm}" on this chain: ${hint}`)
  }
  return [...amms]
}

function moneyOf(family: ChainFamily, { anchor, native, stables = [], majors = [] }: ChainSection): string[] {
  const given = [anchor, native, ...stables, ...majors]
  return given.flatMap((address) => (address === undefined ? [] : [normalAddress(family, address)]))
}

/** For display. Of a node only its host: providers put keys into the path. */
export function describeNodeSource({ rpcUrls, scope, start, maxRps, finality }: NodeSource): Record<string, unknown> {
  return {
    rpc: rpcUrls.map((url) => withoutSecrets(url, { path: false })),
    ...scope,
    start: describeStart(start),
    max_rps: maxRps ?? 'as the nodes allow',
    finality: finality.kind === 'tag' ? 'tag' : finality.blocks,
  }
}

/** A URL without user, password and query, and with `path: false` without its path: each may hold a secret. */
export function withoutSecrets(url: string, { path = true } = {}): string {
  try {
    const { protocol, host, pathname } = new URL(url)
    return `${protocol}//${host}${path ? pathname : ''}`
  } catch {
    return '(not a URL)'
  }
}

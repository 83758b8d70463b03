/** Changes what a configuration file says of a chain's nodes and scope; everything else of it stays as written. */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type Document, isCollection, parseDocument } from 'yaml'
import type { ChainSection } from '../../core/config/index.js'
import { type ChainFacts, normalAddress } from '../../core/domain/chains.js'
import { ConfigError } from '../../core/domain/errors.js'

const LISTS = ['pools', 'tokens', 'amms', 'holders', 'rpc', 'geyser'] as const
const ADDRESSES: readonly List[] = ['pools', 'tokens', 'holders']
/** Without any of these, everything of the chain is read. */
const LIMITS = ['pools', 'tokens', 'amms'] as const
const VALUES = ['start', 'balances', 'max_rps', 'commitment'] as const
type List = (typeof LISTS)[number]
type Items = Partial<Record<List, readonly string[]>>

/** Calls `check` with the changed file before it takes the place of the old one. */
export function editFile(path: string, edit: (document: Document) => void, check: (file: string) => void): void {
  const text = readFileSync(path, 'utf8')
  const document = parseDocument(text)
  edit(document)
  const next = `${path}.new`
  const isJson = /^\s*\{/.test(text)
  const changed = isJson ? `${JSON.stringify(document.toJS(), null, 2)}\n` : document.toString()
  // Whoever may read the old file may read the new one, and nobody else.
  writeFileSync(next, changed, { mode: statSync(path).mode })
  try {
    check(next)
  } catch (error) {
    rmSync(next)
    throw error
  }
  renameSync(next, path)
}

/** What was added; nothing is added twice. */
export function addToScope(document: Document, facts: ChainFacts, given: ChainSection): string[] {
  const { chain } = facts
  const added: string[] = []
  const before = sectionOf(document, chain)
  const isNew = (before.rpc ?? []).length === 0
  for (const key of LISTS) {
    const items = ((given as Items)[key] ?? []).filter((item) => !has(facts, before, key, item))
    if (items.length === 0) continue
    if (!isNew && !isLimited(before) && isLimited({ [key]: items })) throw wouldNarrow(chain, items)
    document.setIn(['chains', chain, key], [...(before[key] ?? []), ...items])
    added.push(...items.map((item) => named(key, item)))
  }
  for (const key of VALUES) {
    const { [key]: value } = given
    if (value === undefined) continue
    document.setIn(['chains', chain, key], value)
    added.push(`${key} ${value}`)
  }
  return added
}

/** What was removed. Without items: the whole chain, except what is said of its money and contracts. */
export function removeFromScope(document: Document, facts: ChainFacts, items: Items): string[] {
  const { chain } = facts
  const before = sectionOf(document, chain)
  const given = LISTS.flatMap((key) => (items[key] ?? []).map((item) => [key, item] as const))
  if (given.length === 0) {
    for (const key of [...LISTS, ...VALUES]) document.deleteIn(['chains', chain, key])
    const left = document.getIn(['chains', chain])
    if (isCollection(left) && left.items.length === 0) document.deleteIn(['chains', chain])
    return [`chain ${chain}`]
  }
  for (const [key, item] of given) if (!has(facts, before, key, item)) throw notInScope(chain, key, item)
  for (const key of LISTS) {
    const left = (before[key] ?? []).filter((item) => !has(facts, items, key, item))
    if (left.length === (before[key] ?? []).length) continue
    if (left.length === 0) document.deleteIn(['chains', chain, key])
    else document.setIn(['chains', chain, key], left)
  }
  const after = sectionOf(document, chain)
  if (isLimited(before) && !isLimited(after)) throw wouldWiden(chain)
  if ((after.rpc ?? []).length === 0) throw withoutNodes(chain)
  return given.map(([key, item]) => named(key, item))
}

/** A URL may hold a secret. */
const named = (key: List, item: string): string => (key === 'rpc' || key === 'geyser' ? 'a node' : item)

const isLimited = (section: Items): boolean => LIMITS.some((key) => (section[key] ?? []).length > 0)

/** Addresses of some chains may be written in any case. */
function has({ family }: ChainFacts, section: Items, key: List, item: string): boolean {
  const normal = (one: string) => (ADDRESSES.includes(key) ? normalAddress(family, one) : one)
  return (section[key] ?? []).some((one) => normal(one) === normal(item))
}

function sectionOf(document: Document, chain: string): Items {
  const { chains } = (document.toJS() ?? {}) as { chains?: Record<string, Items> }
  return chains?.[chain] ?? {}
}

function wouldNarrow(chain: string, items: readonly string[]): ConfigError {
  return new ConfigError({
    code: 'scope_narrower',
    what: `All of ${chain} is read: with a pool, token or exchange named, only that would be`,
    got: items.join(', '),
    fix: `To read only that, remove the chain first: dextape scope remove --chain ${chain}`,
  })
}

function wouldWiden(chain: string): ConfigError {
  return new ConfigError({
    code: 'scope_wider',
    what: `Nothing would limit the scope of ${chain} any more: everything of it would be read`,
    fix: `Add what to read first, or remove the chain: dextape scope remove --chain ${chain}`,
  })
}

function withoutNodes(chain: string): ConfigError {
  return new ConfigError({
    code: 'scope_without_nodes',
    what: `${chain} would have no node left`,
    fix: `Add a node first (--rpc), or remove the chain: dextape scope remove --chain ${chain}`,
  })
}

function notInScope(chain: string, key: List, item: string): ConfigError {
  return new ConfigError({
    code: 'scope_unknown',
    what: `Not in "chains.${chain}.${key}" of the configuration file`,
    got: named(key, item),
    fix: 'List what is there: dextape scope',
  })
}

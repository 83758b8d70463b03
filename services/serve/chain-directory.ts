import { chainFacts } from '../core/config/chain-facts.js'
import type { Config } from '../core/config/config.js'
import { addressProblem } from '../core/domain/address-form.js'
import { normalAddress } from '../core/domain/chains.js'
import { SOLANA_AMMS } from '../core/domain/exchanges.js'
import type { Memory } from './memory/memory.js'
import { newestRevision } from './memory/served-chain.js'
import type { Revisions } from './rest/answer-cache.js'
import type { Market } from './views/market-facts.js'

/** Other names that programs use for a chain. */
const ALIASES: ReadonlyMap<string, string> = new Map([['avax', 'avalanche']])

/** Looks up chains by name and resolves ids against them. */
export interface ChainDirectory {
  /** By name or alias: `state.chain` is its name. */
  market(chain: string): Market | undefined
  markets(): Market[]
  /** How many chains there are. */
  readonly size: number
}

export type Id = { address: string; chain: string }

/** What an id names; `id` and `pair …` may also be a pool id or a bonding curve. */
export type IdKind = 'token-id' | 'token address' | 'pair-id' | 'pair address' | 'id' | 'wallet address'

export type IdProblem = { code: 'id_malformed' | 'chain_unknown'; detail: string }

export function createChainDirectory(
  memory: Pick<Memory, 'chain' | 'chains' | 'size'>,
  config: Pick<Config, 'chains' | 'contracts'>,
): ChainDirectory {
  const amms = new Map(
    [...config.contracts].map(([chain, contracts]) => [chain, [...new Set(contracts.map(({ amm }) => amm))].sort()]),
  )
  const known = new WeakMap<Market['state'], Market>()
  const marketOf = (state: Market['state']): Market => {
    const market = known.get(state) ?? newMarket(state)
    known.set(state, market)
    return market
  }
  const newMarket = (state: Market['state']): Market => {
    const facts = chainFacts(config, state.chain)
    // Solana programs have the same address everywhere, so nothing is configured.
    const decoded = facts?.family === 'solana' ? SOLANA_AMMS : amms.get(state.chain)
    return { state, facts, family: config.chains.get(state.chain)?.family, amms: decoded ?? [] }
  }
  return {
    market(chain) {
      const state = memory.chain(chain) ?? memory.chain(ALIASES.get(chain) ?? '')
      return state === undefined ? undefined : marketOf(state)
    },
    markets: () => memory.chains().map(marketOf),
    get size() {
      return memory.size
    },
  }
}

/** What answers about these chains depend on. */
export function revisionsOf(directory: ChainDirectory): Revisions {
  return {
    newest: newestRevision,
    of(chain, isClosed) {
      const state = directory.market(chain)?.state
      return isClosed ? state?.namesRevision : state?.revision
    },
    chainCount: () => directory.size,
  }
}

const ADDRESS = /^[A-Za-z0-9_]{1,128}$/
const EVM_ADDRESS = /^0x[A-Za-z0-9_]+$/

/** Splits `<address>-<chain>` and normalises the address for its chain. */
export function parseId(directory: ChainDirectory, id: string, what: IdKind): (Id & { market: Market }) | IdProblem {
  const dash = id.lastIndexOf('-')
  if (dash <= 0 || dash === id.length - 1) {
    return malformed(`${what} "${shorten(id)}" is malformed: expected <address>-<chain>.`)
  }
  return parseAddress(directory, id.slice(0, dash), id.slice(dash + 1), what)
}

export function parseAddress(
  directory: ChainDirectory,
  address: string,
  chain: string,
  what: IdKind,
): (Id & { market: Market }) | IdProblem {
  if (!ADDRESS.test(address)) return malformed(`${what} "${shorten(address)}" is not a valid address.`)
  const market = directory.market(chain)
  if (market === undefined) return chainUnknown(directory, chain)
  const normal = normalAddress(market.facts?.family ?? 'evm', address)
  const isKnown = market.state.pairs.has(normal) || market.state.tokens.has(normal)
  const reason = isKnown ? undefined : whyImpossible(market, normal, what)
  if (reason === undefined) return { address: normal, chain: market.state.chain, market }
  return malformed(`${what} "${shorten(address)}" is not a valid address on ${market.state.chain}: ${reason}.`)
}

/** On a chain that only a recording names, addresses are whatever the recording has. */
function whyImpossible({ family }: Market, address: string, what: IdKind): string | undefined {
  const isPlain = what.startsWith('token') || what === 'wallet address'
  if (family === undefined) return EVM_ADDRESS.test(address) ? undefined : 'expected a 0x prefix'
  return addressProblem(family, address, isPlain ? 'token' : 'pair')
}

export function chainUnknown(directory: ChainDirectory, chain: string): IdProblem {
  const known = directory.markets().map(({ state }) => state.chain)
  const list = known.length === 0 ? 'none' : known.join(', ')
  return { code: 'chain_unknown', detail: `Chain "${shorten(chain)}" is not indexed. Indexed chains: ${list}.` }
}

function malformed(detail: string): IdProblem {
  return { code: 'id_malformed', detail }
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

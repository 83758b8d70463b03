/** What is decoded on a chain: its protocols by topic, its known contracts, and its scope. */
import { nearestName } from '../../../../core/config/nearest-name.js'
import { ConfigError } from '../../../../core/domain/errors.js'
import type { KnownContract } from '../../../../core/domain/exchanges.js'
import type { Scope } from '../../scope.js'
import type { EvmLog } from '../log.js'
import type { ChainContracts, Protocol } from '../protocol.js'
import type { Venue } from '../venue.js'

export type DecodeRules = {
  chain: string
  contracts: ChainContracts
  scope: Scope
  /** Tokens that rank as money: too widely held to follow their balances unless configured. */
  money: ReadonlySet<string>
  protocolNamed(name: string): Protocol | undefined
  /** Protocols whose venues this topic may create. */
  creatorsOf(topic: string): readonly Protocol[]
  /** Protocols whose venues this topic may change: pools that are their own contract, and singletons. */
  changersOf(topic: string): Changers
  /** Every topic0 that is decoded, without transfers. */
  topics: readonly string[]
}

type Changers = { pools: readonly Protocol[]; singletons: readonly Protocol[] }
const NO_CHANGERS: Changers = { pools: [], singletons: [] }

export type RuleOptions = Pick<DecodeRules, 'chain' | 'scope' | 'money'> & {
  protocols: readonly Protocol[]
  contracts: readonly KnownContract[]
  wrappedNative: string | undefined
}

export function createRules(options: RuleOptions): DecodeRules {
  const { chain, scope, money, protocols, contracts, wrappedNative } = options
  const creators = new Map<string, Protocol[]>()
  const changers = new Map<string, Protocol[]>()
  const note = (map: Map<string, Protocol[]>, topic: string, protocol: Protocol) => {
    const list = map.get(topic)
    if (list === undefined) map.set(topic, [protocol])
    else list.push(protocol)
  }
  for (const protocol of protocols) {
    for (const topic of protocol.creationTopics) note(creators, topic, protocol)
    for (const topic of protocol.topics) note(changers, topic, protocol)
  }
  const changersBy = new Map(
    [...changers].map(([topic, all]): [string, Changers] => [
      topic,
      {
        pools: all.filter(({ isSingleton }) => isSingleton !== true),
        singletons: all.filter(({ isSingleton }) => isSingleton === true),
      },
    ]),
  )
  const byName = new Map(protocols.map((protocol) => [protocol.name, protocol]))
  for (const contract of contracts) if (!byName.has(contract.protocol)) throw unknownProtocol(chain, contract, byName)
  return {
    chain,
    scope,
    money,
    contracts: {
      wrappedNative,
      contracts: new Map(contracts.map((contract) => [contract.address, contract])),
      named: scope.pools,
    },
    protocolNamed: (name) => byName.get(name),
    creatorsOf: (topic) => creators.get(topic) ?? [],
    changersOf: (topic) => changersBy.get(topic) ?? NO_CHANGERS,
    topics: [...new Set([...creators.keys(), ...changers.keys()])],
  }
}

/** Without this error, its pools would silently never appear. */
function unknownProtocol(
  chain: string,
  { address, protocol }: KnownContract,
  byName: ReadonlyMap<string, Protocol>,
): ConfigError {
  const known = [...byName.keys()]
  const nearest = nearestName(protocol, known)
  return new ConfigError({
    code: 'protocol_unknown',
    what: `"chains.${chain}.contracts": unknown protocol "${protocol}" for ${address}`,
    ...(nearest === undefined ? { expected: known.join(', ') } : { fix: `Did you mean "${nearest}"?` }),
  })
}

/** Whether a venue can still be in scope, before its facts are known. */
export function mayBeInScope({ pools, tokens }: Scope, id: string): boolean {
  return (pools.size === 0 && tokens.size === 0) || tokens.size > 0 || pools.has(id)
}

export function isInScope({ pools, tokens, amms }: Scope, venue: Pick<Venue, 'id' | 'amm' | 'tokens'>): boolean {
  if (pools.has(venue.id)) return true
  if (amms.size > 0 && !amms.has(venue.amm)) return false
  if (pools.size === 0 && tokens.size === 0) return true
  return venue.tokens.some((token) => tokens.has(token))
}

/** The venue a log is about and its candidate protocols; null if none. Throws what `venueOf` throws. */
export function venueRef(log: EvmLog, rules: DecodeRules): { id: string; candidates: readonly Protocol[] } | null {
  const { pools, singletons } = rules.changersOf(log.topics[0] ?? '')
  if (singletons.length > 0) {
    // Only a known singleton may emit logs about venues other than itself.
    const emitter = rules.contracts.contracts.get(log.address)
    const singleton = singletons.find(({ name }) => name === emitter?.protocol)
    const id = singleton?.venueOf(log) ?? null
    if (singleton !== undefined) return id === null ? null : { id, candidates: [singleton] }
  }
  return pools.length === 0 ? null : { id: log.address, candidates: pools }
}

/** The venue a known contract's log creates; null if none, or out of scope. */
export function createdVenue(log: EvmLog, rules: DecodeRules): Venue | null {
  const topic = log.topics[0] ?? ''
  const contract = rules.contracts.contracts.get(log.address)
  if (contract === undefined) return null
  const creator = rules.creatorsOf(topic).find(({ name }) => name === contract.protocol)
  const venue = creator?.created(log, contract, rules.contracts) ?? null
  return venue !== null && isWellMade(venue) && isInScope(rules.scope, venue) ? venue : null
}

/** A pool of a token with itself has no price. */
export function isWellMade({ tokens }: Venue): boolean {
  return tokens.length >= 2 && new Set(tokens).size === tokens.length
}

/**
 * Completes a configured scope from the chain: which contracts emit the configured pools' logs, and which reference
 * pools give USD prices.
 */
import type { EvmSourceConfig, TokenChecks } from '../../../core/config/evm-source.js'
import type { ChainFacts } from '../../../core/domain/chains.js'
import { ConfigError } from '../../../core/domain/errors.js'
import { createRules, type DecodeRules } from '../../decode/evm/block/decode-rules.js'
import { POSITION_TOPICS, positionManagersOf } from '../../decode/evm/block/positions.js'
import { CHANGE_TOPICS } from '../../decode/evm/block/risk-checks.js'
import { TRANSFER, WRAPPING_TOPICS } from '../../decode/evm/erc20.js'
import type { EvmLog } from '../../decode/evm/log.js'
import type { Protocol, Reading, Refusal } from '../../decode/evm/protocol.js'
import { PROTOCOLS } from '../../decode/evm/protocols.js'
import { LOCK_TOPICS } from '../../decode/evm/risk/lockers.js'
import type { Venue } from '../../decode/evm/venue.js'
import { decodedScope, moneySet } from '../following/configured-scope.js'
import type { ChainReader, Header, LogFilter } from './chain-reader.js'
import { readAll } from './read-all.js'
import { findReferencePools } from './reference-pools.js'

export type ResolvedScope = { rules: DecodeRules; filter: LogFilter; awaited: NamedPools['awaited'] }

/** `references`: the pools that were found once, or those `find` finds now. */
export async function resolveScope(
  config: EvmSourceConfig,
  facts: ChainFacts,
  reader: Pick<ChainReader, 'head' | 'call'>,
  signal: AbortSignal,
  references: (find: () => Promise<string[]>) => Promise<readonly string[]> = (find) => find(),
): Promise<ResolvedScope> {
  const head = await reader.head(signal)
  const own = rulesOf(config, facts, [])
  const nobody = { described: [], awaited: [] }
  if (own.scope.pools.size === 0) return { rules: own, filter: filterOf(own, nobody, config.risk), awaited: [] }
  const named = await describeNamed([...own.scope.pools], own, PROTOCOLS, head, reader, signal)
  const venues = named.described.map(({ venue }) => venue)
  const beside = await references(async () => {
    // The tokens of a pool that cannot be described yet are unknown; mostly one is the native coin.
    const likely = named.awaited.length === 0 || facts.native === undefined ? [] : [facts.native]
    const reading = findReferencePools(venues, facts, config.contracts, likely)
    const [pools = []] = await readAll([{ at: head, reading }], reader, signal)
    return pools
  })
  const rules = rulesOf(config, facts, beside)
  const { described } = await describeNamed(beside, rules, PROTOCOLS, head, reader, signal)
  const filter = filterOf(rules, { ...named, described: [...named.described, ...described] }, config.risk)
  return { rules, filter, awaited: named.awaited }
}

/** What is decoded for a scope; `references`: pools beside it. */
function rulesOf(config: EvmSourceConfig, facts: ChainFacts, references: readonly string[]): DecodeRules {
  return createRules({
    chain: config.chain,
    scope: decodedScope(config.scope, references),
    money: moneySet(facts),
    protocols: PROTOCOLS,
    contracts: config.contracts,
    wrappedNative: facts.native,
  })
}

/** `checks`: logs are wanted that tell of changes of a token's contract and of its locks. */
export function filterOf(
  { scope, topics, money, contracts }: DecodeRules,
  { described, awaited }: NamedPools,
  checks?: Pick<TokenChecks, 'lockers' | 'positionManagers'>,
): LogFilter {
  const { holders = new Set<string>() } = scope
  const named = [...scope.tokens, ...holders]
  const followsNative = scope.balances === 'all' || named.includes(contracts.wrappedNative ?? '')
  const isFollowing = scope.balances !== 'off' || holders.size > 0
  const moves = isFollowing ? [TRANSFER, ...(followsNative ? WRAPPING_TOPICS : [])] : []
  const lockers = checks?.lockers ?? []
  const changes = checks === undefined ? [] : CHANGE_TOPICS
  const managers = checks === undefined ? [] : positionManagersOf(contracts, checks.positionManagers ?? [])
  const ofLocks = [...(lockers.length === 0 ? [] : LOCK_TOPICS), ...(managers.length === 0 ? [] : POSITION_TOPICS)]
  const wanted = [...topics, ...moves, ...changes, ...ofLocks]
  const isNarrow = scope.pools.size > 0 && scope.tokens.size === 0 && scope.balances !== 'all'
  if (!isNarrow) return { addresses: [], topics: wanted }
  const held = scope.balances === 'off' && checks === undefined ? [] : described.flatMap(({ venue }) => venue.tokens)
  const emitters = [...described.map(({ emitter }) => emitter), ...awaited.flatMap((pool) => pool.emitters)]
  const vaults = [...lockers.map(({ address }) => address), ...managers]
  const addresses = [...emitters, ...held.filter((token) => !money.has(token)), ...holders, ...vaults]
  return { addresses: [...new Set(addresses)], topics: wanted }
}

export type NamedPool = {
  venue: Venue
  /** The contract that emits its logs. */
  emitter: string
}

type NamedPools = {
  described: NamedPool[]
  /** Pools inside a singleton that cannot be described yet; their creation may follow in the blocks to be read. */
  awaited: { id: string; emitters: string[]; reason: string }[]
}

/** Describes the configured pools before anything is read: a mistyped id fails at the start instead of never matching. */
export async function describeNamed(
  ids: readonly string[],
  rules: DecodeRules,
  protocols: readonly Protocol[],
  at: Header,
  reader: Pick<ChainReader, 'call'>,
  signal: AbortSignal,
): Promise<NamedPools> {
  const tasks = ids.map((id) => ({ at, reading: describeAny(id, rules, protocols) }))
  const results = await readAll(tasks, reader, signal)
  const named: NamedPools = { described: [], awaited: [] }
  const refused: string[] = []
  for (const [index, id] of ids.entries()) {
    const result = results[index] ?? { refused: 'the node returned nothing' }
    const emitters = singletonsFor(id, rules, protocols)
    if (!('refused' in result)) named.described.push(result)
    else if (PLAIN.test(id) || emitters.length === 0) refused.push(`${id}: ${result.refused}`)
    else named.awaited.push({ id, emitters, reason: result.refused })
  }
  if (refused.length === 0) return named
  throw new ConfigError({
    code: 'pool_undescribed',
    what: `Cannot follow pool ${refused.join('; ')}`,
    where: { chain: rules.chain, block: at.number },
    fix: 'Check the address and the chain; docs/protocols.md lists the protocols decoded on each chain',
  })
}

function* describeAny(id: string, rules: DecodeRules, protocols: readonly Protocol[]): Reading<NamedPool | Refusal> {
  const reasons: string[] = []
  for (const protocol of protocols) {
    for (const emitter of emittersOf(id, protocol, rules)) {
      const venue = yield* protocol.describe(id, emptyLog(emitter), rules.contracts)
      if (!('refused' in venue)) return { venue, emitter }
      if (!reasons.includes(venue.refused)) reasons.push(venue.refused)
    }
  }
  return { refused: reasons.join(', ') || 'no known contract on this chain uses such pool ids' }
}

const PLAIN = /^0x[0-9a-f]{40}$/

/** Contracts that may emit the pool's logs: itself, or a singleton of the protocol. */
function emittersOf(id: string, protocol: Protocol, { contracts }: DecodeRules): string[] {
  if (protocol.isSingleton !== true) return PLAIN.test(id) ? [id] : []
  if (protocol.ids?.test(id) !== true) return []
  return [...contracts.contracts.values()].filter(({ protocol: name }) => name === protocol.name).map((c) => c.address)
}

function singletonsFor(id: string, rules: DecodeRules, protocols: readonly Protocol[]): string[] {
  return protocols.flatMap((protocol) => emittersOf(id, protocol, rules))
}

/** A log with nothing but its emitter. */
function emptyLog(address: string): EvmLog {
  const nothing = `0x${'0'.repeat(64)}`
  return {
    ...{ address, topics: [], data: '0x', blockNumber: 0, blockHash: nothing },
    ...{ txHash: nothing, txIndex: 0, logIndex: 0 },
  }
}

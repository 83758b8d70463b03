/**
 * Completes a configured scope from the chain: which contracts emit the configured pools' logs, and which reference
 * pools give USD prices.
 */

import type { EvmSourceConfig } from '../../../core/config/evm-source.js'
import type { ChainFacts } from '../../../core/domain/chains.js'
import { createRules, type DecodeRules } from '../../decode/evm/block/decode-rules.js'
import { TRANSFER, WRAPPING_TOPICS } from '../../decode/evm/erc20.js'
import { PROTOCOLS } from '../../decode/evm/protocols.js'
import { decodedScope, moneySet } from '../following/configured-scope.js'
import type { ChainReader, LogFilter } from './chain-reader.js'
import { describeNamed, type NamedPools } from './named-pools.js'
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
  if (own.scope.pools.size === 0) return { rules: own, filter: filterOf(own, nobody), awaited: [] }
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
  const filter = filterOf(rules, { ...named, described: [...named.described, ...described] })
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

export function filterOf(
  { scope, topics, money, contracts }: DecodeRules,
  { described, awaited }: NamedPools,
): LogFilter {
  const followsNative = scope.balances === 'all' || scope.tokens.has(contracts.wrappedNative ?? '')
  const moves = scope.balances === 'off' ? [] : [TRANSFER, ...(followsNative ? WRAPPING_TOPICS : [])]
  const wanted = [...topics, ...moves]
  const isNarrow = scope.pools.size > 0 && scope.tokens.size === 0 && scope.balances !== 'all'
  if (!isNarrow) return { addresses: [], topics: wanted }
  const held = scope.balances === 'off' ? [] : described.flatMap(({ venue }) => venue.tokens)
  const emitters = [...described.map(({ emitter }) => emitter), ...awaited.flatMap((pool) => pool.emitters)]
  const addresses = [...emitters, ...held.filter((token) => !money.has(token))]
  return { addresses: [...new Set(addresses)], topics: wanted }
}

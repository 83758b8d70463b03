/** The scope as nodes understand it: addresses and first topics. What they give too much is left out when it is decoded. */
import type { DecodeRules } from '../../decode/evm/block/decode-rules.js'
import { TRANSFER } from '../../decode/evm/erc20.js'
import { WRAPPING_TOPICS } from '../../decode/evm/wrapped-native.js'
import type { LogFilter } from './chain-reader.js'
import type { NamedPools } from './named-pools.js'

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
  const speakers = [...described.map(({ speaker }) => speaker), ...awaited.flatMap((pool) => pool.speakers)]
  const addresses = [...speakers, ...held.filter((token) => !money.has(token))]
  return { addresses: [...new Set(addresses)], topics: wanted }
}

/**
 * Balancer V3: one Vault for all pools. Part of the fees is set aside for the protocol and the pool's creator without a
 * log, so reserves are read at the block's end. A swap's log names neither trader nor recipient: the Vault is used for
 * both.
 */

import { selectorOf, topicOf } from '../../abi/keccak.js'
import { expectShape, indexedAddress, uintAt, uintsAt } from '../../abi/log-fields.js'
import { addressWord, answeredAddresses, answeredUints, callOf } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import { type Applied, BadLog, type Protocol, type Reading } from '../../protocol.js'
import { isFromOtherContract, type Venue, type VenueState } from '../../venue.js'

// balancer-v3-monorepo: pkg/interfaces/contracts/vault/IVaultEvents.sol, IVaultExtension.sol.
const SWAP = topicOf('Swap(address,address,address,uint256,uint256,uint256,uint256)')
const ADDED = topicOf('LiquidityAdded(address,address,uint8,uint256,uint256[],uint256[])')
const REMOVED = topicOf('LiquidityRemoved(address,address,uint8,uint256,uint256[],uint256[])')
const POOL_TOKENS = selectorOf('getPoolTokens(address)')
/** Tokens, their kinds, raw balances, scaled balances. */
const POOL_TOKEN_INFO = selectorOf('getPoolTokenInfo(address)')

export const balancerV3: Protocol = {
  name: 'balancer-v3',
  isSingleton: true,
  ids: /^0x[0-9a-f]{40}$/,
  // The registration log carries the whole configuration, so a pool is described at its first log instead.
  creationTopics: [],
  topics: [SWAP, ADDED, REMOVED],
  venueOf: (log) => indexedAddress(log, 1),
  created: () => null,
  *describe(id, log, chain) {
    const vault = chain.contracts.get(log.address)
    if (vault?.protocol !== 'balancer-v3') return { refused: `${log.address} is not a known vault` }
    if (id.length !== 42) return { refused: 'it is not a pool address' }
    const [answer] = yield [callOf(vault.address, POOL_TOKENS, addressWord(id))]
    const tokens = answeredAddresses(answer)
    if (tokens === null || tokens.length < 2) return { refused: 'the vault does not return its tokens', isOurs: true }
    const unknown = { fee: null, creator: null }
    return { id, protocol: 'balancer-v3', amm: vault.amm, tokens, ...unknown, facts: { vault: vault.address } }
  },
  emptyState: () => ({ reserves: null }),
  *readState(venue): Reading<VenueState> {
    return { reserves: yield* readBalances(venue) }
  },
  apply(log, venue, state) {
    if (isFromOtherContract(log, venue.facts?.vault)) return { state, events: [] }
    return log.topics[0] === SWAP ? applySwap(log, venue, state) : applyLiquidity(log, venue, state)
  },
  isPricedByTrades: () => true,
  readReserves: readBalances,
}

function* readBalances({ id, tokens, facts }: Venue): Reading<readonly bigint[] | null> {
  const [answer] = yield [callOf(String(facts?.vault), POOL_TOKEN_INFO, addressWord(id))]
  const balances = answeredUints(answer, 2)
  return balances?.length === tokens.length ? balances : null
}

function applySwap(log: EvmLog, venue: Venue, state: VenueState): Applied<VenueState> {
  expectShape(log, 4, 4)
  const tokenIn = venue.tokens.indexOf(indexedAddress(log, 2))
  const tokenOut = venue.tokens.indexOf(indexedAddress(log, 3))
  if (tokenIn < 0 || tokenOut < 0 || tokenIn === tokenOut) throw new BadLog(log, 'not two different tokens of the pool')
  const [amountIn, amountOut] = [uintAt(log, 0), uintAt(log, 1)]
  const [sender, recipient] = [log.address, log.address]
  const swap = { kind: 'swap' as const, log, reserves: null, sender, recipient, tokenIn, tokenOut, amountIn, amountOut }
  return { state, events: [swap] }
}

function applyLiquidity(log: EvmLog, venue: Venue, state: VenueState): Applied<VenueState> {
  if (log.topics.length !== 4) throw new BadLog(log, `${log.topics.length} topics, expected 4`)
  const [amounts, fees] = [uintsAt(log, 1), uintsAt(log, 2)]
  if (amounts.length !== venue.tokens.length || fees.length !== amounts.length)
    throw new BadLog(log, `${amounts.length} amounts and ${fees.length} fees for ${venue.tokens.length} tokens`)
  const change = log.topics[0] === ADDED ? 'add' : 'remove'
  const sender = indexedAddress(log, 2)
  return { state, events: [{ kind: 'liquidity', change, log, reserves: null, sender, amounts }] }
}

/**
 * Balancer V2: one Vault holds the tokens of all pools and logs every change, so reserves follow from its logs alone. A
 * pool id starts with the pool's address, which is the venue id. The logs name neither trader nor recipient: the Vault
 * is used for both. A composable pool's own shares are one of its tokens, and trading them is a trade.
 */

import { selectorOf, topicOf } from '../../abi/keccak.js'
import {
  addressesAt,
  expectShape,
  indexedAddress,
  indexedBytes32,
  intAt,
  intsAt,
  uintAt,
  uintsAt,
} from '../../abi/log-fields.js'
import { answeredAddresses, answeredBytes32, answeredUints, bytes32Word, callOf } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import { type Applied, BadLog, type Protocol, type Reading, type VenueEvent } from '../../protocol.js'
import { isFromOtherContract, movedReserves, sizeOf, type Venue, type VenueState } from '../../venue.js'

// balancer-v2-monorepo: pkg/interfaces/contracts/vault/IVault.sol.
const TOKENS_REGISTERED = topicOf('TokensRegistered(bytes32,address[],address[])')
const SWAP = topicOf('Swap(bytes32,address,address,uint256,uint256)')
const BALANCE_CHANGED = topicOf('PoolBalanceChanged(bytes32,address,address[],int256[],uint256[])')
const BALANCE_MANAGED = topicOf('PoolBalanceManaged(bytes32,address,address,int256,int256)')
const POOL_ID = selectorOf('getPoolId()')
const POOL_TOKENS = selectorOf('getPoolTokens(bytes32)')

export const balancer: Protocol = {
  name: 'balancer',
  isSingleton: true,
  ids: /^0x[0-9a-f]{40}$/,
  creationTopics: [TOKENS_REGISTERED],
  topics: [SWAP, BALANCE_CHANGED, BALANCE_MANAGED],
  venueOf: (log) => poolOf(indexedBytes32(log, 1)),
  created(log, contract) {
    if (log.topics.length !== 2) throw new BadLog(log, `${log.topics.length} topics, expected 2`)
    const [tokens, managers] = [addressesAt(log, 0), addressesAt(log, 1)]
    if (managers.length !== tokens.length) throw new BadLog(log, 'lists of unequal length')
    return venueOf(indexedBytes32(log, 1), tokens, contract.address, contract.amm)
  },
  *describe(id, log, chain) {
    const vault = chain.contracts.get(log.address)
    if (vault?.protocol !== 'balancer') return { refused: `${log.address} is not a known vault` }
    const poolId = log.topics[1] ?? (yield* readPoolId(id))
    if (poolId === null || poolOf(poolId) !== id) return { refused: 'it does not return its pool id' }
    const [answer] = yield [callOf(vault.address, POOL_TOKENS, bytes32Word(poolId))]
    const tokens = answeredAddresses(answer, 0)
    if (tokens === null || tokens.length < 2) return { refused: 'the vault does not return its tokens', isOurs: true }
    return venueOf(poolId, tokens, vault.address, vault.amm)
  },
  emptyState: ({ tokens }) => ({ reserves: tokens.map(() => 0n) }),
  *readState({ tokens, facts }): Reading<VenueState> {
    const [answer] = yield [callOf(String(facts?.vault), POOL_TOKENS, bytes32Word(String(facts?.poolId)))]
    const reserves = answeredUints(answer, 1)
    return { reserves: reserves?.length === tokens.length ? reserves : null }
  },
  apply(log, venue, state) {
    if (isFromOtherContract(log, venue.facts?.vault)) return { state, events: [] }
    if (log.topics[0] === SWAP) return applySwap(log, venue, state)
    return log.topics[0] === BALANCE_CHANGED ? applyChange(log, venue, state) : applyManaged(log, venue, state)
  },
  isPricedByTrades: () => true,
}

function* readPoolId(pool: string): Reading<string | null> {
  const [answer] = yield [callOf(pool, POOL_ID)]
  return answeredBytes32(answer)
}

/** The address, then two bytes of the pool's kind and ten of a counter. */
function poolOf(poolId: string): string {
  return poolId.slice(0, 42)
}

function venueOf(poolId: string, tokens: readonly string[], vault: string, amm: string): Venue {
  // Each pool sets its fee and may change it.
  const unknown = { fee: null, creator: null }
  return { id: poolOf(poolId), protocol: 'balancer', amm, tokens, ...unknown, facts: { vault, poolId } }
}

function applySwap(log: EvmLog, venue: Venue, state: VenueState): Applied<VenueState> {
  expectShape(log, 4, 2)
  const [tokenIn, tokenOut] = [placeOf(log, venue, indexedAddress(log, 2)), placeOf(log, venue, indexedAddress(log, 3))]
  if (tokenIn === tokenOut) throw new BadLog(log, 'token swapped for itself')
  const [amountIn, amountOut] = [uintAt(log, 0), uintAt(log, 1)]
  const moved = venue.tokens.map((_, place) => (place === tokenIn ? amountIn : place === tokenOut ? -amountOut : 0n))
  const reserves = movedReserves(state.reserves, moved)
  const [sender, recipient] = [log.address, log.address]
  const swap: VenueEvent = { kind: 'swap', log, reserves, sender, recipient, tokenIn, tokenOut, amountIn, amountOut }
  return { state: { reserves }, events: [swap] }
}

/** A join or an exit; the protocol's share of fees leaves the pool with it. */
function applyChange(log: EvmLog, venue: Venue, state: VenueState): Applied<VenueState> {
  if (log.topics.length !== 3) throw new BadLog(log, `${log.topics.length} topics, expected 3`)
  const [tokens, deltas, fees] = [addressesAt(log, 0), intsAt(log, 1), uintsAt(log, 2)]
  if (deltas.length !== tokens.length || fees.length !== tokens.length)
    throw new BadLog(log, 'token, delta and fee lists differ in length')
  const amounts = venue.tokens.map(() => 0n)
  const moved = venue.tokens.map(() => 0n)
  for (const [index, token] of tokens.entries()) {
    const place = placeOf(log, venue, token)
    const delta = deltas[index] ?? 0n
    amounts[place] = delta
    moved[place] = delta - (fees[index] ?? 0n)
  }
  const reserves = movedReserves(state.reserves, moved)
  const sender = indexedAddress(log, 2)
  const sizes = amounts.map(sizeOf)
  const isAdded = amounts.some((amount) => amount > 0n)
  const event: VenueEvent = amounts.every((amount) => amount === 0n)
    ? { kind: 'reserves', log, reserves, sender }
    : { kind: 'liquidity', change: isAdded ? 'add' : 'remove', log, reserves, sender, amounts: sizes }
  return { state: { reserves }, events: [event] }
}

/** An asset manager invests tokens elsewhere or reports the result; the pool's balance is cash plus managed. */
function applyManaged(log: EvmLog, venue: Venue, state: VenueState): Applied<VenueState> {
  expectShape(log, 4, 2)
  const place = placeOf(log, venue, indexedAddress(log, 3))
  const change = intAt(log, 0) + intAt(log, 1)
  if (change === 0n) return { state, events: [] }
  const moved = venue.tokens.map((_, other) => (other === place ? change : 0n))
  const reserves = movedReserves(state.reserves, moved)
  return { state: { reserves }, events: [{ kind: 'reserves', log, reserves, sender: indexedAddress(log, 2) }] }
}

function placeOf(log: EvmLog, venue: Venue, token: string): number {
  const place = venue.tokens.indexOf(token)
  if (place < 0) throw new BadLog(log, `${token} is not a token of the pool`)
  return place
}

/**
 * Balancer V2: one Vault holds the tokens of all pools and tells of every change, so that reserves follow from its logs alone. A
 * pool's id starts with its address, which is the venue's id. The logs name neither who swapped nor who received: the Vault stands
 * for both. A composable pool's own shares are one of its tokens, and trading them is a trade.
 */

import { addressesAt, expectShape, indexedAddress, indexedBytes32, intAt, intsAt, uintAt, uintsAt } from './abi.js'
import { answeredAddresses, answeredBytes32, answeredUints, bytes32Word, callOf } from './abi-call.js'
import { selectorOf, topicOf } from './keccak.js'
import type { EvmLog } from './log.js'
import { movedReserves, sizeOf } from './moved-reserves.js'
import { type Applied, BadLog, type Happening, type Protocol, type Reading } from './protocol.js'
import { isStranger } from './stranger.js'
import type { Venue, VenueState } from './venue.js'

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
    if (vault?.protocol !== 'balancer') return { refused: `${log.address} is no known vault` }
    const poolId = log.topics[1] ?? (yield* readPoolId(id))
    if (poolId === null || poolOf(poolId) !== id) return { refused: 'it does not tell its id in the vault' }
    const [answer] = yield [callOf(vault.address, POOL_TOKENS, bytes32Word(poolId))]
    const tokens = answeredAddresses(answer, 0)
    if (tokens === null || tokens.length < 2) return { refused: 'the vault does not tell its tokens', isOurs: true }
    return venueOf(poolId, tokens, vault.address, vault.amm)
  },
  emptyState: ({ tokens }) => ({ reserves: tokens.map(() => 0n) }),
  *readState({ tokens, facts }): Reading<VenueState> {
    const [answer] = yield [callOf(String(facts?.vault), POOL_TOKENS, bytes32Word(String(facts?.poolId)))]
    const reserves = answeredUints(answer, 1)
    return { reserves: reserves?.length === tokens.length ? reserves : null }
  },
  apply(log, venue, state) {
    if (isStranger(log, venue.facts?.vault)) return { state, happenings: [] }
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
  // Fees are the pool's own affair and change.
  const unknown = { fee: null, creator: null }
  return { id: poolOf(poolId), protocol: 'balancer', amm, tokens, ...unknown, facts: { vault, poolId } }
}

function applySwap(log: EvmLog, venue: Venue, state: VenueState): Applied<VenueState> {
  expectShape(log, 4, 2)
  const [tokenIn, tokenOut] = [placeOf(log, venue, indexedAddress(log, 2)), placeOf(log, venue, indexedAddress(log, 3))]
  if (tokenIn === tokenOut) throw new BadLog(log, 'a token is swapped for itself')
  const [amountIn, amountOut] = [uintAt(log, 0), uintAt(log, 1)]
  const moved = venue.tokens.map((_, place) => (place === tokenIn ? amountIn : place === tokenOut ? -amountOut : 0n))
  const reserves = movedReserves(state.reserves, moved)
  const [sender, recipient] = [log.address, log.address]
  const swap: Happening = { kind: 'swap', log, reserves, sender, recipient, tokenIn, tokenOut, amountIn, amountOut }
  return { state: { reserves }, happenings: [swap] }
}

/** A join or an exit; what the protocol takes of the fees leaves the pool with it. */
function applyChange(log: EvmLog, venue: Venue, state: VenueState): Applied<VenueState> {
  if (log.topics.length !== 3) throw new BadLog(log, `${log.topics.length} topics, expected 3`)
  const [tokens, deltas, fees] = [addressesAt(log, 0), intsAt(log, 1), uintsAt(log, 2)]
  if (deltas.length !== tokens.length || fees.length !== tokens.length) throw new BadLog(log, 'lists of unequal length')
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
  const happening: Happening = amounts.every((amount) => amount === 0n)
    ? { kind: 'reserves', log, reserves, sender }
    : { kind: 'liquidity', change: isAdded ? 'add' : 'remove', log, reserves, sender, amounts: sizes }
  return { state: { reserves }, happenings: [happening] }
}

/** An asset manager takes tokens out to work elsewhere or reports what became of them; only the sum is the pool's. */
function applyManaged(log: EvmLog, venue: Venue, state: VenueState): Applied<VenueState> {
  expectShape(log, 4, 2)
  const place = placeOf(log, venue, indexedAddress(log, 3))
  const change = intAt(log, 0) + intAt(log, 1)
  if (change === 0n) return { state, happenings: [] }
  const moved = venue.tokens.map((_, other) => (other === place ? change : 0n))
  const reserves = movedReserves(state.reserves, moved)
  return { state: { reserves }, happenings: [{ kind: 'reserves', log, reserves, sender: indexedAddress(log, 2) }] }
}

function placeOf(log: EvmLog, venue: Venue, token: string): number {
  const place = venue.tokens.indexOf(token)
  if (place < 0) throw new BadLog(log, `${token} is none of the pool's tokens`)
  return place
}

/**
 * Curve: pools of two to eight coins, plain, meta and crypto. Logs carry neither the pool's share of fees nor the gains
 * of rebasing coins, so reserves are the pool's `balances`, read at the block's end. A pool is accepted if a Curve
 * registry or factory lists it, or if it is configured.
 */

import { ZERO_ADDRESS } from '../../../../../core/domain/chains.js'
import { selectorOf } from '../../abi/keccak.js'
import { addressWord, answeredAddress, answeredUint, callOf, uintWord } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import {
  BadLog,
  type Call,
  type ChainContracts,
  type Protocol,
  type Reading,
  type Refusal,
  type VenueEvent,
} from '../../protocol.js'
import { tradedToken, type Venue, type VenueState } from '../../venue.js'
import { curveLogOf, MAX_COINS, TOPICS } from './curve-logs.js'

export const curve: Protocol = {
  name: 'curve',
  // Registries are younger than the first pools and add others by vote.
  isVouchedLater: true,
  // Factory logs lack the pool's address or its coins, so a pool is described at its first log.
  creationTopics: [],
  topics: TOPICS,
  venueOf: (log) => log.address,
  created: () => null,
  describe: describeCurvePool,
  emptyState: () => ({ reserves: null }),
  *readState(venue): Reading<VenueState> {
    return { reserves: yield* readCurveBalances(venue) }
  },
  apply: (log, venue, state) => ({ state, events: [eventOf(log, venue)] }),
  isPricedByTrades: () => true,
  readReserves: readCurveBalances,
}

function eventOf(log: EvmLog, { tokens, facts }: Venue): VenueEvent {
  const read = curveLogOf(log, facts?.isCrypto === true)
  const base = { log, reserves: null, sender: read.who }
  switch (read.kind) {
    case 'swap': {
      const [tokenIn, tokenOut] = [read.sold, read.bought]
      if (tokenIn === tokenOut || Math.max(tokenIn, tokenOut) >= tokens.length)
        throw new BadLog(log, 'not two different coins of the pool')
      const amounts = { amountIn: read.amountSold, amountOut: read.amountBought }
      return { kind: 'swap', ...base, recipient: read.who, tokenIn, tokenOut, ...amounts }
    }
    case 'add':
    case 'remove':
      if (read.amounts.length !== tokens.length)
        throw new BadLog(log, `${read.amounts.length} amounts for ${tokens.length} coins`)
      return { kind: 'liquidity', change: read.kind, ...base, amounts: read.amounts }
    case 'remove-one': {
      if (read.coin >= tokens.length) throw new BadLog(log, `coin ${read.coin} is out of range`)
      const amounts = tokens.map((_, coin) => (coin === read.coin ? read.amount : 0n))
      return { kind: 'liquidity', change: 'remove', ...base, amounts }
    }
    case 'moved':
      return { kind: 'reserves', ...base }
  }
}

// The oldest pools number their coins by int128 (curve-contract: pools/compound, susd, ren).
const COINS = { uint256: selectorOf('coins(uint256)'), int128: selectorOf('coins(int128)') } as const
const BALANCES = { uint256: selectorOf('balances(uint256)'), int128: selectorOf('balances(int128)') } as const
/** Of crypto pools alone. */
const GAMMA = selectorOf('gamma()')
const FEE = selectorOf('fee()')
/** In every registry and factory: a zero-padded fixed array, or a list. */
const GET_COINS = selectorOf('get_coins(address)')

/** Fees are in units of 10^-10. A value above 1 has another unit, or is not a fee. */
const FEE_UNITS = 10_000n
const ALL_OF_IT = 10_000_000_000n
const AMM_OF_NAMED = 'curve'

type Numbering = keyof typeof COINS

export function* describeCurvePool(id: string, _log: EvmLog, chain: ChainContracts): Reading<Venue | Refusal> {
  const places = Array.from({ length: MAX_COINS }, (_, place) => uintWord(place))
  const coinCalls = (numbering: Numbering): Call[] => places.map((place) => callOf(id, COINS[numbering], place))
  const answers = yield [callOf(id, GAMMA), callOf(id, FEE), ...coinCalls('uint256'), ...coinCalls('int128')]
  const coinsFrom = (first: number): string[] => {
    const coins: string[] = []
    for (const answer of answers.slice(first, first + MAX_COINS)) {
      const coin = answeredAddress(answer)
      if (coin === null || coin === ZERO_ADDRESS) break
      coins.push(coin)
    }
    return coins
  }
  const [byUint, byInt] = [coinsFrom(2), coinsFrom(2 + MAX_COINS)]
  const [coins, numbering]: [string[], Numbering] = byUint.length > 0 ? [byUint, 'uint256'] : [byInt, 'int128']
  if (coins.length < 2) return { refused: 'it does not answer like a Curve pool' }

  const amm = yield* ammFromRegistries(id, coins[0] ?? '', chain)
  if (amm === null && !chain.named.has(id)) return { refused: 'no known Curve registry or factory lists it' }
  const isCrypto = answeredUint(answers[0]) !== null
  const fee = answeredUint(answers[1])
  return {
    id,
    protocol: 'curve',
    amm: amm ?? AMM_OF_NAMED,
    tokens: coins.map((coin) => tradedToken(coin, chain)),
    // A crypto pool's fee moves with its balance.
    fee: isCrypto || fee === null || fee > ALL_OF_IT ? null : Number(fee / FEE_UNITS),
    creator: null,
    facts: { numbering, isCrypto },
  }
}

/** The exchange's name, from the first registry that lists the pool with its first coin. */
function* ammFromRegistries(id: string, firstCoin: string, chain: ChainContracts): Reading<string | null> {
  const registries = [...chain.contracts.values()].filter(({ protocol }) => protocol === 'curve')
  if (registries.length === 0) return null
  const answers = yield registries.map(({ address }) => callOf(address, GET_COINS, addressWord(id)))
  const found = registries.find((_, place) => answers[place]?.toLowerCase().includes(addressWord(firstCoin)))
  return found?.amm ?? null
}

export function* readCurveBalances({ id, tokens, facts }: Venue): Reading<readonly bigint[] | null> {
  const selector = BALANCES[facts?.numbering === 'int128' ? 'int128' : 'uint256']
  const answers = yield tokens.map((_, place) => callOf(id, selector, uintWord(place)))
  const balances: bigint[] = []
  for (const answer of answers) {
    const balance = answeredUint(answer)
    if (balance === null) return null
    balances.push(balance)
  }
  return balances
}

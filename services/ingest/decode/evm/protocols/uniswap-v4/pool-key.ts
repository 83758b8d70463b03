/** A pool's key, whose hash is the pool id, and a position's key likewise (v4-core: PoolKey.sol, Position.sol). */

import type { KnownContract } from '../../../../../core/domain/exchanges.js'
import { hashOfHex } from '../../abi/keccak.js'
import { addressWord, intWord, uintWord } from '../../abi/view-calls.js'
import type { ChainContracts } from '../../protocol.js'
import { tradedToken, type Venue } from '../../venue.js'

export type PoolKey = {
  currencies: readonly [string, string]
  /** Hundredths of a basis point, or the flag below. */
  fee: number
  tickSpacing: number
  hooks: string
}

/** The hook sets the fee. */
export const DYNAMIC_FEE = 0x800000

export function idOf({ currencies, fee, tickSpacing, hooks }: PoolKey): string {
  const words = [addressWord(currencies[0]), addressWord(currencies[1]), uintWord(fee), intWord(tickSpacing)]
  return hashOfHex(words.join('') + addressWord(hooks))
}

export function positionKeyOf(owner: string, tickLower: number, tickUpper: number, salt: string): string {
  return hashOfHex(owner.slice(2) + int24Digits(tickLower) + int24Digits(tickUpper) + salt.slice(2))
}

/** Null if both tokens are the native coin, plain and wrapped: that is not a market. */
export function venueOfKey(id: string, key: PoolKey, manager: KnownContract, chain: ChainContracts): Venue | null {
  const tokens = key.currencies.map((currency) => tradedToken(currency, chain))
  if (tokens[0] === tokens[1]) return null
  return {
    id,
    protocol: 'uniswap-v4',
    amm: manager.amm,
    tokens,
    fee: key.fee === DYNAMIC_FEE ? null : key.fee,
    creator: null,
    facts: { manager: manager.address, tickSpacing: key.tickSpacing, hooks: key.hooks },
  }
}

function int24Digits(value: number): string {
  return (value & 0xffffff).toString(16).padStart(6, '0')
}

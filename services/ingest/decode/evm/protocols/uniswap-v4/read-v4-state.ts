/**
 * Reads the state of a pool whose creation was not seen from the manager's storage (v4-core: Extsload.sol,
 * StateLibrary.sol for the layout): price and liquidity, the tick bitmap, the ticks. Reserves are the principal that
 * follows from them.
 */

import { hashOfHex, selectorOf } from '../../abi/keccak.js'
import { answeredUints, callOf, intWord, uintWord } from '../../abi/view-calls.js'
import type { Call, Reading } from '../../protocol.js'
import type { Venue } from '../../venue.js'
import { amount0Between, amount1Between, MAX_TICK, MIN_TICK, sqrtPriceAtTick } from './liquidity-math.js'
import { unpackedProtocolFees } from './v4-logs.js'
import { NO_GROWTH, type Tick, type Ticks, unreadState, type V4State, wordOf } from './v4-state.js'

const EXTSLOAD = selectorOf('extsload(bytes32[])')
const POOLS_SLOT = 6
const LIQUIDITY = 3n
const TICKS = 4n
const BITMAP = 5n
/** Slots per call: about 1 M gas, which every node allows. */
const SLOTS_PER_CALL = 400

export function* readV4State(venue: Venue): Reading<V4State> {
  const spacing = Number(venue.facts?.tickSpacing)
  const root = BigInt(hashOfHex(venue.id.slice(2) + uintWord(POOLS_SLOT)))
  const heads = yield* slots(venue, [root, root + LIQUIDITY])
  const [slot0, liquidity] = heads ?? []
  if (slot0 === undefined || liquidity === undefined || slot0 === 0n) return unreadState(spacing)
  const pool = {
    ...unreadState(spacing),
    sqrtPrice: BigInt.asUintN(160, slot0),
    tick: Number(BigInt.asIntN(24, slot0 >> 160n)),
    protocolFees: unpackedProtocolFees(BigInt.asUintN(24, slot0 >> 184n)),
    liquidity: BigInt.asUintN(128, liquidity),
  }

  const words = wordNumbers(spacing)
  const bitmap = yield* slots(
    venue,
    words.map((word) => mappingSlot(word, root + BITMAP)),
  )
  if (bitmap === null) return pool
  const numbers = words.flatMap((word, place) => ticksOfWord(word, bitmap[place] ?? 0n, spacing))
  const packed = yield* slots(
    venue,
    numbers.map((tick) => mappingSlot(tick, root + TICKS)),
  )
  if (packed === null) return pool
  const ticks = new Map<number, Map<number, Tick>>()
  for (const [place, tick] of numbers.entries()) {
    const word = wordOf(tick, spacing)
    const bucket = ticks.get(word) ?? new Map<number, Tick>()
    ticks.set(word, bucket.set(tick, unpackedTick(packed[place] ?? 0n)))
  }
  return { ...pool, ticks, reserves: principalBetween(ticks, pool.sqrtPrice) }
}

function* slots(venue: Venue, wanted: readonly bigint[]): Reading<bigint[] | null> {
  if (wanted.length === 0) return []
  const calls: Call[] = []
  for (let from = 0; from < wanted.length; from += SLOTS_PER_CALL) {
    const part = wanted.slice(from, from + SLOTS_PER_CALL)
    calls.push(
      callOf(String(venue.facts?.manager), EXTSLOAD, uintWord(32), uintWord(part.length), part.map(uintWord).join('')),
    )
  }
  const answers = yield calls
  const values = answers.flatMap((answer) => answeredUints(answer) ?? [])
  return values.length === wanted.length ? values : null
}

function mappingSlot(key: number, mapping: bigint): bigint {
  return BigInt(hashOfHex(intWord(key) + uintWord(BigInt.asUintN(256, mapping))))
}

function wordNumbers(spacing: number): number[] {
  const first = Math.floor(MIN_TICK / spacing) >> 8
  const last = Math.floor(MAX_TICK / spacing) >> 8
  return Array.from({ length: last - first + 1 }, (_, place) => first + place)
}

function ticksOfWord(word: number, bits: bigint, spacing: number): number[] {
  if (bits === 0n) return []
  const places = Array.from({ length: 256 }, (_, place) => place)
  return places.filter((place) => (bits >> BigInt(place)) & 1n).map((place) => (word * 256 + place) * spacing)
}

function unpackedTick(slot: bigint): Tick {
  return {
    liquidityGross: BigInt.asUintN(128, slot),
    liquidityNet: BigInt.asIntN(128, slot >> 128n),
    growthOutside: NO_GROWTH,
  }
}

/** Rounded up per range: later withdrawals are rounded down per position and can never exceed it. */
export function principalBetween(ticks: Ticks, sqrtPrice: bigint): readonly [bigint, bigint] {
  const ascending = [...ticks.values()].flatMap((bucket) => [...bucket]).sort(([a], [b]) => a - b)
  let [amount0, amount1, liquidity] = [0n, 0n, 0n]
  for (const [place, [tick, { liquidityNet }]] of ascending.entries()) {
    liquidity += liquidityNet
    const [low, high] = [sqrtPriceAtTick(tick), sqrtPriceAtTick(ascending[place + 1]?.[0] ?? tick)]
    if (sqrtPrice < high) amount0 += amount0Between(sqrtPrice > low ? sqrtPrice : low, high, liquidity, 'up')
    if (sqrtPrice > low) amount1 += amount1Between(low, sqrtPrice < high ? sqrtPrice : high, liquidity, 'up')
  }
  return [amount0, amount1]
}

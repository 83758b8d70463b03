/**
 * Events Meteora's DAMM v2 emits by calls to itself (its source and its IDL, `cp_amm` 0.2.5, in npm's `@meteora-ag/cp-amm-sdk`).
 * Reserves in events back the liquidity: they exclude unclaimed fees in the vaults. The first event versions have no reserves.
 */
import { eventDiscriminator, readEventOf, refuseWithoutEvent } from '../../instruction/read-instruction.js'
import type { Pair } from '../../instruction/vault-pool.js'
import type { Instruction } from '../../transaction.js'
import type { ByteReader } from '../../wire/byte-reader.js'

export type DammV2Swap = {
  pool: string
  isAIn: boolean
  /** As sent, including what a Token-2022 mint withholds. */
  amountIn: bigint
  amountOut: bigint
  nextSqrtPrice: bigint
  /** For liquidity providers, protocol and referrer. */
  fees: readonly bigint[]
  timestamp: bigint
  reserves: Pair<bigint> | null
}

export type DammV2Liquidity = {
  pool: string
  owner: string
  isAdded: boolean
  amounts: Pair<bigint>
  reserves: Pair<bigint> | null
}

export type DammV2Pool = {
  pool: string
  tokens: Pair<string>
  creator: string
  payer: string
  /** Hundredths of a basis point; null: varies with time, price or size. */
  fee: number | null
  sqrtPrice: bigint
  /** As sent. */
  amounts: Pair<bigint>
}

const SWAP = eventDiscriminator('EvtSwap')
const SWAP_2 = eventDiscriminator('EvtSwap2')
const ADD = eventDiscriminator('EvtAddLiquidity')
const REMOVE = eventDiscriminator('EvtRemoveLiquidity')
const CHANGE = eventDiscriminator('EvtLiquidityChange')
const CREATE = eventDiscriminator('EvtInitializePool')

const BILLIONTHS_IN_FEE_UNIT = 1000n
const DYNAMIC_FEE_BYTES = 32
/** Base fees that follow a schedule; constant if it has no periods. */
const LAST_SCHEDULE = 1

export function dammV2Swap(instruction: Instruction): DammV2Swap {
  return (
    readEventOf(instruction, SWAP_2, readSwap2) ??
    readEventOf(instruction, SWAP, readSwap) ??
    refuseWithoutEvent(instruction, 'a swap')
  )
}

export function dammV2Liquidity(instruction: Instruction): DammV2Liquidity {
  return (
    readEventOf(instruction, CHANGE, readChange) ??
    readEventOf(instruction, ADD, (reader) => readOldChange(reader, true)) ??
    readEventOf(instruction, REMOVE, (reader) => readOldChange(reader, false)) ??
    refuseWithoutEvent(instruction, 'a change of liquidity')
  )
}

export function dammV2Created(instruction: Instruction): DammV2Pool {
  return readEventOf(instruction, CREATE, readPool) ?? refuseWithoutEvent(instruction, 'a created pool')
}

function readSwap(reader: ByteReader): DammV2Swap {
  const [pool, isAIn] = [reader.pubkey(), isFirst(reader)]
  reader.bool()
  const amountIn = reader.u64()
  reader.u64()
  const [amountOut, nextSqrtPrice] = [reader.u64(), reader.u128()]
  const fees = [reader.u64(), reader.u64(), reader.u64(), reader.u64()]
  reader.u64()
  return { pool, isAIn, amountIn, amountOut, nextSqrtPrice, fees, timestamp: reader.u64(), reserves: null }
}

function readSwap2(reader: ByteReader): DammV2Swap {
  const [pool, isAIn] = [reader.pubkey(), isFirst(reader)]
  reader.u8()
  reader.bool()
  // The request, then the result: input with and without fee, unused input, output.
  reader.skip(8 + 8 + 1).skip(8 + 8 + 8 + 8)
  const nextSqrtPrice = reader.u128()
  const fees = [reader.u64(), reader.u64(), reader.u64(), reader.u64()]
  const [amountIn, amountOut] = [reader.u64(), reader.u64()]
  reader.u64()
  const timestamp = reader.u64()
  return { pool, isAIn, amountIn, amountOut, nextSqrtPrice, fees, timestamp, reserves: [reader.u64(), reader.u64()] }
}

function readChange(reader: ByteReader): DammV2Liquidity {
  const pool = reader.pubkey()
  reader.pubkey()
  const owner = reader.pubkey()
  const counted = [reader.u64(), reader.u64()] as const
  const sent = [reader.u64(), reader.u64()] as const
  const reserves = [reader.u64(), reader.u64()] as const
  const isAdded = isFirst(reader.skip(16 + 8 + 8))
  return { pool, owner, isAdded, amounts: isAdded ? sent : counted, reserves }
}

function readOldChange(reader: ByteReader, isAdded: boolean): DammV2Liquidity {
  const pool = reader.pubkey()
  reader.pubkey()
  const owner = reader.pubkey()
  reader.skip(16 + 8 + 8)
  const counted = [reader.u64(), reader.u64()] as const
  return { pool, owner, isAdded, amounts: isAdded ? [reader.u64(), reader.u64()] : counted, reserves: null }
}

function readPool(reader: ByteReader): DammV2Pool {
  const [pool, tokenA, tokenB, creator, payer] = [
    reader.pubkey(),
    reader.pubkey(),
    reader.pubkey(),
    reader.pubkey(),
    reader.pubkey(),
  ]
  reader.pubkey()
  const fee = readFee(reader)
  reader.skip(16 + 16 + 1 + 1 + 16)
  const sqrtPrice = reader.u128()
  reader.skip(8 + 1 + 1 + 8 + 8)
  return { pool, tokens: [tokenA, tokenB], creator, payer, fee, sqrtPrice, amounts: [reader.u64(), reader.u64()] }
}

function readFee(reader: ByteReader): number | null {
  const [billionths, periods] = [reader.u64(), reader.u16()]
  const mode = reader.skip(8 + 8).u8()
  const isDynamic = reader.skip(3).option((dynamic) => dynamic.skip(DYNAMIC_FEE_BYTES)) !== null
  return isDynamic || mode > LAST_SCHEDULE || periods > 0 ? null : Number(billionths / BILLIONTHS_IN_FEE_UNIT)
}

/** 0: A to B, or added; 1: B to A, or removed. */
function isFirst(reader: ByteReader): boolean {
  return !reader.bool()
}

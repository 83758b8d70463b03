/** Events Meteora's dynamic bonding curve emits by calls to itself (its source and its IDL, 0.2.1, in npm's `@meteora-ag/dynamic-bonding-curve-sdk`). */
import { eventDiscriminator } from '../../instruction/anchor.js'
import { readEventOf, refuseWithoutEvent } from '../../instruction/read-instruction.js'
import type { Pair } from '../../instruction/vault-pool.js'
import type { Instruction } from '../../transaction.js'
import type { ByteReader } from '../../wire/byte-reader.js'

export type DbcSwap = {
  pool: string
  config: string
  isBaseIn: boolean
  amountIn: bigint
  amountOut: bigint
  nextSqrtPrice: bigint
  /** For partner and creator, protocol and referrer. */
  fees: readonly bigint[]
  timestamp: bigint
  /** Null: the first event version has neither. */
  quote: { reserve: bigint; threshold: bigint } | null
}

export type DbcComplete = { pool: string; reserves: Pair<bigint> }

export type DbcPool = { pool: string; config: string; creator: string; baseMint: string }

export type DbcToken = { name: string; symbol: string; uri: string }

const SWAP = eventDiscriminator('EvtSwap')
const SWAP_2 = eventDiscriminator('EvtSwap2')
const SWAP_2_WITH_HOOK = eventDiscriminator('EvtSwap2WithTransferHook')
const COMPLETE = eventDiscriminator('EvtCurveComplete')
const COMPLETE_WITH_HOOK = eventDiscriminator('EvtCurveCompleteWithTransferHook')
const CREATE = eventDiscriminator('EvtInitializePool')
const CREATE_WITH_HOOK = eventDiscriminator('EvtInitializePoolWithTransferHook')

/** Since version 2 exists, a swap emits both versions; version 2 adds the reserve and the curve's target. */
export function dbcSwap(instruction: Instruction): DbcSwap {
  return (
    readEventOf(instruction, SWAP_2, readSwap2) ??
    readEventOf(instruction, SWAP_2_WITH_HOOK, readSwap2) ??
    readEventOf(instruction, SWAP, readSwap) ??
    refuseWithoutEvent(instruction, 'a swap')
  )
}

/** Null: the curve is not sold out. */
export function dbcComplete(instruction: Instruction): DbcComplete | null {
  return readEventOf(instruction, COMPLETE, readComplete) ?? readEventOf(instruction, COMPLETE_WITH_HOOK, readComplete)
}

export function dbcCreated(instruction: Instruction): DbcPool {
  return (
    readEventOf(instruction, CREATE, readPool) ??
    readEventOf(instruction, CREATE_WITH_HOOK, readPool) ??
    refuseWithoutEvent(instruction, 'a created curve')
  )
}

/** From the instruction's own data. */
export function readDbcToken(reader: ByteReader): DbcToken {
  return { name: reader.string(), symbol: reader.string(), uri: reader.string() }
}

function readSwap(reader: ByteReader): DbcSwap {
  const [pool, config, isBaseIn] = [reader.pubkey(), reader.pubkey(), isFromBase(reader)]
  reader.bool()
  // The request, and the input without fee.
  reader.skip(8 + 8).skip(8)
  const [amountOut, nextSqrtPrice] = [reader.u64(), reader.u128()]
  const fees = [reader.u64(), reader.u64(), reader.u64()]
  const [amountIn, timestamp] = [reader.u64(), reader.u64()]
  return { pool, config, isBaseIn, amountIn, amountOut, nextSqrtPrice, fees, timestamp, quote: null }
}

function readSwap2(reader: ByteReader): DbcSwap {
  const [pool, config, isBaseIn] = [reader.pubkey(), reader.pubkey(), isFromBase(reader)]
  reader.bool()
  reader.skip(8 + 8 + 1)
  const amountIn = reader.u64()
  // The input without fee, and the unused input.
  reader.skip(8 + 8)
  const [amountOut, nextSqrtPrice] = [reader.u64(), reader.u128()]
  const fees = [reader.u64(), reader.u64(), reader.u64()]
  const quote = { reserve: reader.u64(), threshold: reader.u64() }
  return { pool, config, isBaseIn, amountIn, amountOut, nextSqrtPrice, fees, timestamp: reader.u64(), quote }
}

function readComplete(reader: ByteReader): DbcComplete {
  const pool = reader.pubkey()
  reader.pubkey()
  return { pool, reserves: [reader.u64(), reader.u64()] }
}

function readPool(reader: ByteReader): DbcPool {
  return { pool: reader.pubkey(), config: reader.pubkey(), creator: reader.pubkey(), baseMint: reader.pubkey() }
}

/** 0: base is sold for quote; 1: quote for base. */
function isFromBase(reader: ByteReader): boolean {
  return !reader.bool()
}

/** Events Meteora's DAMM v1 logs (its IDL, `amm` 0.5.3, in npm's `@meteora-ag/dynamic-amm-sdk`). Absent if the node truncated the logs. */
import { eventDiscriminator, readEventOf } from '../../instruction/read-instruction.js'
import type { Pair } from '../../instruction/vault-pool.js'
import type { Instruction } from '../../transaction.js'
import type { ByteReader } from '../../wire/byte-reader.js'

export type DammV1Swap = {
  /** Includes all fees. */
  amountIn: bigint
  amountOut: bigint
  tradeFee: bigint
  protocolFee: bigint
  hostFee: bigint
}

export type DammV1Liquidity = { lpAmount: bigint; amounts: Pair<bigint> }

export type DammV1Pool = { lpMint: string; tokens: Pair<string>; pool: string }

const SWAP = eventDiscriminator('Swap')
const ADD = eventDiscriminator('AddLiquidity')
const BOOTSTRAP = eventDiscriminator('BootstrapLiquidity')
const REMOVE = eventDiscriminator('RemoveLiquidity')
const CREATE = eventDiscriminator('PoolCreated')

export function dammV1Swap(instruction: Instruction): DammV1Swap | null {
  return readEventOf(instruction, SWAP, readSwap)
}

export function dammV1Added(instruction: Instruction): DammV1Liquidity | null {
  return readEventOf(instruction, ADD, readLiquidity) ?? readEventOf(instruction, BOOTSTRAP, readLiquidity)
}

export function dammV1Removed(instruction: Instruction): DammV1Liquidity | null {
  return readEventOf(instruction, REMOVE, readLiquidity)
}

export function dammV1Created(instruction: Instruction): DammV1Pool | null {
  return readEventOf(instruction, CREATE, readPool)
}

function readSwap(reader: ByteReader): DammV1Swap {
  const [amountIn, amountOut] = [reader.u64(), reader.u64()]
  return { amountIn, amountOut, tradeFee: reader.u64(), protocolFee: reader.u64(), hostFee: reader.u64() }
}

function readLiquidity(reader: ByteReader): DammV1Liquidity {
  return { lpAmount: reader.u64(), amounts: [reader.u64(), reader.u64()] }
}

function readPool(reader: ByteReader): DammV1Pool {
  const [lpMint, tokenA, tokenB] = [reader.pubkey(), reader.pubkey(), reader.pubkey()]
  reader.u8()
  return { lpMint, tokens: [tokenA, tokenB], pool: reader.pubkey() }
}

/**
 * Meteora's dynamic bonding curve: a token sells against a quote until the curve has collected what its configuration asks for, then moves
 * to a DAMM pool (its source and its IDL, 0.2.1, in npm's `@meteora-ag/dynamic-bonding-curve-sdk`).
 * The quote reserve is the event's, without unclaimed fees in the vault; the base reserve is the vault's balance.
 */
import {
  accountAt,
  discriminatorOf,
  eventDiscriminator,
  instructionDiscriminator,
  payloadOf,
  readBytes,
  readEventOf,
  refuseWithoutEvent,
} from '../../instruction/read-instruction.js'
import { type Call, expectPool, type Pair, swapThrough } from '../../instruction/vault-pool.js'
import { balanceAfter, netInto, transfersIn } from '../../instruction/vaults.js'
import type { Pool, Program, VenueEvent } from '../../program-decoder.js'
import type { Instruction } from '../../transaction.js'
import type { ByteReader } from '../../wire/byte-reader.js'

const AMM = 'meteoradbc'

type Decode = (call: Call) => VenueEvent[]

const DECODERS = new Map<string, Decode>(
  Object.entries<Decode>({
    swap,
    swap2: swap,
    swap2_with_transfer_hook: swap,
    initialize_virtual_pool_with_spl_token: create,
    initialize_virtual_pool_with_token2022: create,
    initialize_virtual_pool_with_token2022_transfer_hook: create,
    migrate_meteora_damm: (call) => graduate(call, { pool: 4, mints: 7, vaults: 17, payer: 22 }),
    migration_damm_v2: (call) => graduate(call, { pool: 4, mints: 13, vaults: 17, payer: 19 }),
  }).map(([name, decode]) => [instructionDiscriminator(name), decode]),
)

export const meteoraDbc: Program = {
  name: 'meteora-dbc',
  programIds: ['dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN'],
  isPricedByTrades: true,
  decode(instruction, transaction) {
    const discriminator = discriminatorOf(instruction.data)
    return discriminator === null ? [] : (DECODERS.get(discriminator)?.({ instruction, transaction }) ?? [])
  },
}

function curveOf(pool: string, token0: string, token1: string, creator: string | null): Pool {
  return { pool, amm: AMM, token0, token1, fee: null, creator }
}

function launch(instruction: Instruction, { pool, token0 }: Pool, progress: number): VenueEvent {
  return { kind: 'launch', instruction, token: token0, platform: AMM, stage: 'curve', progress, pool }
}

function swap(call: Call): VenueEvent[] {
  const { instruction, transaction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const pool = curveOf(at(2, 'the curve'), at(7, 'the base mint'), at(8, 'the quote mint'), null)
  const [baseVault, quoteVault] = [at(5, 'the base vault'), at(6, 'the quote vault')]
  const [reported, complete] = [dbcSwap(instruction), dbcComplete(instruction)]
  expectPool(instruction, pool.pool, reported.pool)
  expectPool(instruction, pool.pool, complete?.pool ?? reported.pool)
  const swaps = swapThrough(
    call,
    {
      pool,
      vaults: [baseVault, quoteVault],
      tokenPrograms: [at(10, 'the token program of the base'), at(11, 'the token program of the quote')],
    },
    {
      sender: at(9, 'the payer'),
      source: at(3, 'the account it sells from'),
      destination: at(4, 'the account it buys to'),
    },
    {
      ...{ isZeroIn: reported.isBaseIn, amountIn: reported.amountIn, amountOut: reported.amountOut },
      sqrtPrice: reported.nextSqrtPrice,
      reserves:
        complete?.reserves ??
        (reported.quote && [balanceAfter(transaction, baseVault, instruction), reported.quote.reserve]),
    },
  )
  if (complete !== null) return [...swaps, launch(instruction, pool, 1)]
  return reported.quote === null ? swaps : [...swaps, launch(instruction, pool, shareOf(reported.quote))]
}

const MILLION = 1_000_000n

/** To the millionth. */
function shareOf({ reserve, threshold }: { reserve: bigint; threshold: bigint }): number {
  return reserve >= threshold ? 1 : Number((reserve * MILLION) / threshold) / Number(MILLION)
}

/** The whole supply is minted into the curve's vault. */
function create(call: Call): VenueEvent[] {
  const { instruction, transaction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const reported = dbcCreated(instruction)
  expectPool(instruction, at(5, 'the curve'), reported.pool)
  expectPool(instruction, at(3, 'the base mint'), reported.baseMint)
  const [token, vault] = [reported.baseMint, at(6, 'the base vault')]
  const pool = curveOf(reported.pool, token, at(4, 'the quote mint'), reported.creator)
  const { name, symbol, uri } = readBytes(instruction, payloadOf(instruction.data), readDbcToken)
  const minted = netInto(transfersIn(instruction), vault)
  const decimals = (transaction.postTokens.get(vault) ?? transaction.preTokens.get(vault))?.decimals ?? null
  const venueEvents: VenueEvent[] = [
    { kind: 'token', instruction, token, name, symbol, decimals, uri },
    { kind: 'pool', instruction, pool },
    { kind: 'launch', instruction, token, platform: AMM, stage: 'created', progress: 0, pool: pool.pool },
  ]
  if (minted > 0n)
    venueEvents.push({
      ...{ kind: 'liquidity', instruction, pool, change: 'create', sender: reported.creator },
      ...{ amount0: minted, amount1: 0n, reserve0: minted, reserve1: 0n },
    })
  return venueEvents
}

/** It has no event. What remains in the vaults belongs to others: fees, the surplus, tokens to be burnt. */
function graduate(call: Call, places: { pool: number; mints: number; vaults: number; payer: number }): VenueEvent[] {
  const { instruction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const [token0, token1] = [at(places.mints, 'the base mint'), at(places.mints + 1, 'the quote mint')]
  const curve = curveOf(at(0, 'the curve'), token0, token1, null)
  const transfers = transfersIn(instruction)
  const left = (place: number, what: string): bigint => {
    const net = netInto(transfers, at(place, what))
    return net < 0n ? -net : 0n
  }
  const [amount0, amount1] = [left(places.vaults, 'the base vault'), left(places.vaults + 1, 'the quote vault')]
  return [
    {
      ...{ kind: 'liquidity', instruction, pool: curve, change: 'remove', sender: at(places.payer, 'the payer') },
      ...{ amount0, amount1, reserve0: 0n, reserve1: 0n },
    },
    {
      ...{ kind: 'launch', instruction, token: token0, platform: AMM, stage: 'graduated', progress: 1 },
      pool: at(places.pool, 'the new pool'),
    },
  ]
}

/** An event, emitted by a call to itself. */
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
function dbcComplete(instruction: Instruction): DbcComplete | null {
  return readEventOf(instruction, COMPLETE, readComplete) ?? readEventOf(instruction, COMPLETE_WITH_HOOK, readComplete)
}

function dbcCreated(instruction: Instruction): DbcPool {
  return (
    readEventOf(instruction, CREATE, readPool) ??
    readEventOf(instruction, CREATE_WITH_HOOK, readPool) ??
    refuseWithoutEvent(instruction, 'a created curve')
  )
}

/** From the instruction's own data. */
function readDbcToken(reader: ByteReader): DbcToken {
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

/** Meteora's DAMM v1, pools over its dynamic vaults (its IDL, `amm` 0.5.3, in npm's `@meteora-ag/dynamic-amm-sdk`). */

import { BadInstruction, Malformed } from '../../decode-errors.js'
import {
  accountAt,
  discriminatorOf,
  instructionDiscriminator,
  payloadOf,
  readBytes,
} from '../../instruction/read-instruction.js'
import { type Call, expectPool, expectSame, liquidityThrough, type Pair } from '../../instruction/vault-pool.js'
import { balanceAfter, mintOf, netInto, ownerOf, transfersIn } from '../../instruction/vaults.js'
import { TOKEN } from '../../native-programs.js'
import type { Pool, Program, VenueEvent } from '../../program-decoder.js'
import type { Transfer } from '../../transaction.js'
import type { ByteReader } from '../../wire/byte-reader.js'
import {
  type DammV1Liquidity,
  dammV1Added,
  dammV1Created,
  dammV1Removed,
  dammV1Swap,
} from './meteora-damm-v1-events.js'

/** Account indexes. Where A and B come in pairs, the index is A's and B is next. */
type Places = { vaults: number; shares: number }

const SWAP: Places = { vaults: 5, shares: 9 }
const LIQUIDITY: Places = { vaults: 9, shares: 3 }
const CLAIM: Places = { vaults: 7, shares: 11 }

type Decode = (call: Call) => VenueEvent[]

const DECODERS = new Map<string, Decode>(
  Object.entries<Decode>({
    swap,
    add_balance_liquidity: (call) => changeLiquidity(call, 'add', 12, 13, dammV1Added(call.instruction)),
    add_imbalance_liquidity: (call) => changeLiquidity(call, 'add', 12, 13, dammV1Added(call.instruction)),
    bootstrap_liquidity: (call) => changeLiquidity(call, 'add', 12, 13, dammV1Added(call.instruction)),
    remove_balance_liquidity: (call) => changeLiquidity(call, 'remove', 12, 13, dammV1Removed(call.instruction)),
    remove_liquidity_single_side: (call) => changeLiquidity(call, 'remove', 11, 12, dammV1Removed(call.instruction)),
    claim_fee: claimFee,
  }).map(([name, decode]) => [instructionDiscriminator(name), decode]),
)

export const meteoraDammV1: Program = {
  name: 'meteora-damm-v1',
  programIds: ['Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB'],
  decode(instruction, transaction) {
    const discriminator = discriminatorOf(instruction.data)
    if (discriminator === null) return []
    const [call, places] = [{ instruction, transaction }, DAMM_V1_CREATIONS.get(discriminator)]
    return places === undefined ? (DECODERS.get(discriminator)?.(call) ?? []) : dammV1Creation(call, places)
  },
}

type PoolAccounts = { pool: Pool; vaults: Pair<string>; shares: Pair<string>; reserves: Pair<bigint | null> }

/** The accounts do not include the mints: they are read from the vaults' balances. */
function poolAt(call: Call, places: Places): PoolAccounts {
  const { instruction, transaction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const vaults = [at(places.vaults, 'the vault of A'), at(places.vaults + 1, 'the vault of B')] as const
  const shares = [at(places.shares, 'the shares of A'), at(places.shares + 1, 'the shares of B')] as const
  const [token0, token1] = [mintOf(transaction, vaults[0]), mintOf(transaction, vaults[1])]
  if (token0 === null || token1 === null)
    throw new BadInstruction(instruction, 'amounts_unknown', `the balances have no mint for ${vaults.join(' or ')}`)
  return {
    pool: { pool: at(0, 'the pool'), amm: 'meteoradamm', token0, token1, fee: null, creator: null },
    vaults,
    shares,
    reserves: vaultReserves(call, shares),
  }
}

/** The trader pays the vault, the protocol and the host in separate transfers; the amount in is their sum. */
function swap(call: Call): VenueEvent[] {
  const { instruction, transaction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const { pool, vaults, shares, reserves } = poolAt(call, SWAP)
  const [source, destination, sender] = [
    at(1, 'the account it sells from'),
    at(2, 'the account it buys to'),
    at(12, 'the user'),
  ]
  const transfers = transfersIn(instruction)
  const isAIn = transfers.some((transfer) => transfer.source === source && transfer.destination === vaults[0])
  const sideIn = isAIn ? 0 : 1
  const amountIn = sum(transfers, (transfer) => transfer.source === source)
  const paying = vaults[isAIn ? 1 : 0]
  const amountOut = sum(transfers, (transfer) => transfer.source === paying && transfer.destination === destination)
  const reported = dammV1Swap(instruction)
  if (reported !== null) {
    const deposited = sum(transfers, (each) => each.source === source && each.destination === vaults[sideIn])
    const minted = sum(transfers, (each) => each.destination === shares[sideIn])
    if (!isRoundedDown(reported.amountIn, { amountIn, deposited, minted }))
      expectSame(instruction, 'the amount in', reported.amountIn, amountIn)
    expectSame(instruction, 'the amount out', reported.amountOut, amountOut)
  }
  if (amountIn === 0n && amountOut === 0n) return []
  const [tokenIn, tokenOut] = isAIn ? [pool.token0, pool.token1] : [pool.token1, pool.token0]
  return [
    {
      ...{ kind: 'swap', instruction, pool, sender, recipient: ownerOf(transaction, destination) ?? sender },
      ...{ tokenIn, amountIn, tokenOut, amountOut, sqrtPrice: null },
      ...{ reserve0: reserves[0], reserve1: reserves[1] },
    },
  ]
}

/**
 * The event's amount in is what the pool's shares of the vault gained, rounded down twice: by the deposit to whole shares, then by their worth to whole
 * tokens (`calculateSwapQuote` of the SDK). So it can be below the transferred amount by less than one share's worth plus one token.
 */
function isRoundedDown(
  reportedIn: bigint,
  { amountIn, deposited, minted }: { amountIn: bigint; deposited: bigint; minted: bigint },
): boolean {
  const shortfall = amountIn - reportedIn
  // A share is worth at most `deposited / minted`.
  return shortfall >= 0n && shortfall <= deposited && shortfall * minted < deposited + minted
}

/** `accountB`: index of the provider's account of B, after that of A. A one-sided withdrawal has only one account. */
function changeLiquidity(
  call: Call,
  change: 'add' | 'remove',
  accountB: number,
  user: number,
  reported: DammV1Liquidity | null,
): VenueEvent[] {
  const { instruction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const { pool, vaults, reserves } = poolAt(call, LIQUIDITY)
  const accounts = [at(11, "the provider's account of A"), at(accountB, "the provider's account of B")] as const
  const transfers = transfersIn(instruction)
  const moved = (side: 0 | 1): bigint =>
    sum(transfers, ({ source, destination }) => {
      const [from, to] = change === 'add' ? [accounts[side], vaults[side]] : [vaults[side], accounts[side]]
      return source === from && destination === to
    })
  return liquidityThrough(
    call,
    { pool, vaults, tokenPrograms: [TOKEN, TOKEN] },
    { change, sender: at(user, 'the user'), accounts, amounts: reported?.amounts ?? [moved(0), moved(1)], reserves },
  )
}

/** The owner of locked shares withdraws what they earned from the pool's reserves. */
function claimFee(call: Call): VenueEvent[] {
  const { instruction } = call
  const { pool, vaults, reserves } = poolAt(call, CLAIM)
  if (sum(transfersIn(instruction), ({ source }) => vaults.includes(source)) === 0n) return []
  return [
    {
      ...{ kind: 'liquidity', instruction, pool, change: 'remove', sender: accountAt(instruction, 3, 'the owner') },
      ...{ amount0: 0n, amount1: 0n, reserve0: reserves[0], reserve1: reserves[1] },
    },
  ]
}

function sum(transfers: readonly Transfer[], isCounted: (transfer: Transfer) => boolean): bigint {
  return transfers.reduce((total, transfer) => (isCounted(transfer) ? total + transfer.amount : total), 0n)
}

/** Account indexes. Where A and B come in pairs, the index is A's and B is next. */
export type CreationPlaces = {
  mints: number
  creator: number
  /** Null: created without liquidity. */
  first: { vaults: number; shares: number; accounts: number } | null
  /** In hundredths of a basis point, from the instruction's data; null: set by a configuration account. */
  readFee: ((reader: ByteReader) => number) | null
}

const OPEN = { vaults: 6, shares: 10, accounts: 12 }
const WITH_CONFIG: CreationPlaces = {
  mints: 3,
  creator: 18,
  first: { vaults: 7, shares: 11, accounts: 13 },
  readFee: null,
}

const FEE_UNITS_IN_BASIS_POINT = 100n
/** Custom fees are in hundred-thousandths. */
const FEE_UNITS_IN_CUSTOM = 10
/** Amplification, token multipliers, depeg and the time of the last amplification. */
const STABLE_CURVE_BYTES = 8 + 17 + 17 + 8

export const DAMM_V1_CREATIONS = new Map<string, CreationPlaces>(
  Object.entries<CreationPlaces>({
    initialize_permissioned_pool: { mints: 2, creator: 15, first: null, readFee: null },
    initialize_permissionless_pool: { mints: 2, creator: 17, first: OPEN, readFee: null },
    initialize_permissionless_pool_with_fee_tier: { mints: 2, creator: 17, first: OPEN, readFee: readFeeTier },
    initialize_permissionless_constant_product_pool_with_config: WITH_CONFIG,
    initialize_permissionless_constant_product_pool_with_config2: WITH_CONFIG,
    initialize_customizable_permissionless_constant_product_pool: {
      ...{ mints: 2, creator: 17, first: OPEN },
      readFee: (reader) => reader.skip(8 + 8).u32() * FEE_UNITS_IN_CUSTOM,
    },
  }).map(([name, places]) => [instructionDiscriminator(name), places]),
)

export function dammV1Creation(call: Call, { mints, creator, first, readFee }: CreationPlaces): VenueEvent[] {
  const { instruction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const pair = (place: number, what: string) => [at(place, what), at(place + 1, what)] as const
  const [address, [token0, token1], sender] = [at(0, 'the pool'), pair(mints, 'a mint'), at(creator, 'the creator')]
  const reported = dammV1Created(instruction)
  if (reported !== null) {
    expectPool(instruction, address, reported.pool)
    expectPool(instruction, token0, reported.tokens[0])
    expectPool(instruction, token1, reported.tokens[1])
  }
  const fee = readFee === null ? null : readBytes(instruction, payloadOf(instruction.data), readFee)
  const pool = { pool: address, amm: 'meteoradamm', token0, token1, fee, creator: sender }
  if (first === null) return [{ kind: 'pool', instruction, pool }]
  const [vaults, accounts] = [pair(first.vaults, 'a vault'), pair(first.accounts, "the creator's account")]
  const transfers = transfersIn(instruction)
  const amounts: Pair<bigint> = [netInto(transfers, vaults[0]), netInto(transfers, vaults[1])]
  const reserves = vaultReserves(call, pair(first.shares, 'the shares'))
  return [
    { kind: 'pool', instruction, pool },
    ...liquidityThrough(
      call,
      { pool, vaults, tokenPrograms: [TOKEN, TOKEN] },
      { change: 'create', sender, accounts, amounts, reserves },
    ),
  ]
}

function readFeeTier(reader: ByteReader): number {
  const curve = reader.u8()
  if (curve > 1) throw new Malformed(`unknown curve kind ${curve}`)
  if (curve === 1) reader.skip(STABLE_CURVE_BYTES)
  const basisPoints = reader.u64()
  if (basisPoints > 10_000n) throw new Malformed(`a fee of ${basisPoints} basis points`)
  return Number(basisPoints * FEE_UNITS_IN_BASIS_POINT)
}

/**
 * DAMM v1 keeps its tokens in Meteora's dynamic vaults, which lend them out and which many pools share: a pool owns shares of two vaults.
 * Neither events nor balances state a share's value, and deposits and withdrawals, rounded by the vault, only approximate it. So a
 * pool's reserve is only known if it has no shares left. `shares`: the pool's accounts of the vaults' shares.
 */
export function vaultReserves(call: Call, shares: Pair<string>): Pair<bigint | null> {
  return [worth(call, shares[0]), worth(call, shares[1])]
}

function worth({ instruction, transaction }: Call, shareAccount: string): bigint | null {
  return balanceAfter(transaction, shareAccount, instruction) === 0n ? 0n : null
}

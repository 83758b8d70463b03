/** New pools of Meteora's DAMM v1; those that anybody may create come with their first liquidity. */

import { Malformed } from '../../decode-errors.js'
import { instructionDiscriminator, payloadOf } from '../../instruction/anchor.js'
import { accountAt, readBytes } from '../../instruction/read-instruction.js'
import { type Call, expectPool, liquidityThrough, type Pair } from '../../instruction/vault-pool.js'
import { netInto, transfersIn } from '../../instruction/vaults.js'
import { TOKEN } from '../../native-programs.js'
import type { Happening } from '../../program-decoder.js'
import type { ByteReader } from '../../wire/byte-reader.js'
import { dammV1Created } from './meteora-damm-v1-events.js'
import { vaultReserves } from './meteora-vault-share.js'

/** Places of accounts; of those that come in pairs, that of A, which B follows. */
export type CreationPlaces = {
  mints: number
  creator: number
  /** Null: it comes without liquidity. */
  first: { vaults: number; shares: number; accounts: number } | null
  /** In hundredths of a basis point, from the instruction's data; null: a configuration has it. */
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

export function dammV1Creation(call: Call, { mints, creator, first, readFee }: CreationPlaces): Happening[] {
  const { instruction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const pair = (place: number, what: string) => [at(place, what), at(place + 1, what)] as const
  const [address, [token0, token1], sender] = [at(0, 'the pool'), pair(mints, 'a mint'), at(creator, 'who creates it')]
  const told = dammV1Created(instruction)
  if (told !== null) {
    expectPool(instruction, address, told.pool)
    expectPool(instruction, token0, told.tokens[0])
    expectPool(instruction, token1, told.tokens[1])
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
  if (curve > 1) throw new Malformed(`${curve} is no kind of curve`)
  if (curve === 1) reader.skip(STABLE_CURVE_BYTES)
  const basisPoints = reader.u64()
  if (basisPoints > 10_000n) throw new Malformed(`a fee of ${basisPoints} basis points`)
  return Number(basisPoints * FEE_UNITS_IN_BASIS_POINT)
}

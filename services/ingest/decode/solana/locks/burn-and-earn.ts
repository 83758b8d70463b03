/**
 * Raydium's liquidity locking ("burn & earn"): shares of CPMM pools and positions of CLMM pools that can never be withdrawn, only their
 * fees. Sources: `LockClPositionLayoutV2`, `PoolInfoLayout` and `PositionInfoLayout` of raydium-io/raydium-sdk-V2, the seeds of
 * raydium-io/raydium-cpi.
 */
import type { Position, RangePool } from '../../position-shares.js'
import { accountDiscriminator, discriminatorOf } from '../instruction/read-instruction.js'
import { derivedAddress } from '../keys/derived-address.js'
import { orNull } from '../token/metadata.js'
import { ByteReader } from '../wire/byte-reader.js'
import type { Account, AccountList } from './state-rounds.js'

export const BURN_AND_EARN = { name: 'Raydium', programId: 'LockrWmn6K5twhz3y9w1dQERbmgSaRkfnTeTKbpofwE' }

const seeded = (seed: string) => derivedAddress([new TextEncoder().encode(seed)], BURN_AND_EARN.programId) ?? ''
/** Owns the locked shares of all CPMM pools. */
export const CP_AUTHORITY = seeded('lock_cp_authority_seed')

const CLMM = 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK'
const POOL = accountDiscriminator('PoolState')
const POSITION = accountDiscriminator('PersonalPositionState')
const LOCKED_POSITION = accountDiscriminator('LockedClmmPositionState')
const [LOCK_POOL_AT, LOCK_POSITION_AT, POSITION_POOL_AT, VAULTS_AT] = [41, 73, 41, 137]
const Q64 = 2 ** 64

export const lockedPositions = (pool: string): AccountList => ({
  programId: BURN_AND_EARN.programId,
  matches: [{ offset: LOCK_POOL_AT, bytes: pool }],
})

/** The position's account; null: another kind of lock. */
export function readLockedPosition({ owner, data }: Account): string | null {
  if (owner !== BURN_AND_EARN.programId || discriminatorOf(data) !== LOCKED_POSITION) return null
  return orNull(() => new ByteReader(data, LOCK_POSITION_AT).pubkey())
}

/** Null: not a position of the pool. */
export function readPosition({ owner, data }: Account, pool: string): Position | null {
  if (owner !== CLMM || discriminatorOf(data) !== POSITION) return null
  return orNull(() => {
    const reader = new ByteReader(data, POSITION_POOL_AT)
    if (reader.pubkey() !== pool) return null
    return { tickLower: reader.i32(), tickUpper: reader.i32(), liquidity: reader.u128() }
  })
}

export type ClmmPool = Omit<RangePool, 'reserves'> & { vaults: readonly [string, string] }

/** Null: not a CLMM pool. */
export function readClmmPool({ owner, data }: Account): ClmmPool | null {
  if (owner !== CLMM || discriminatorOf(data) !== POOL) return null
  return orNull(() => {
    const reader = new ByteReader(data, VAULTS_AT)
    const vaults = [reader.pubkey(), reader.pubkey()] as const
    // The observations' address, two decimals and the tick spacing.
    const liquidity = reader.skip(32 + 4).u128()
    return { vaults, liquidity, sqrtPrice: Number(reader.u128()) / Q64, tick: reader.i32() }
  })
}

/** The chain's clock, an account as any other (docs.anza.xyz, "Sysvar Cluster Data"). */
import { ByteReader } from '../wire/byte-reader.js'
import { orNull } from './metadata.js'

export const CLOCK = 'SysvarC1ock11111111111111111111111111111111'
const SYSVAR_OWNER = 'Sysvar1111111111111111111111111111111111111'

/** After the slot and the time its epoch began. */
const EPOCH_AT = 8 + 8

export function readEpoch({ owner, data }: { owner: string; data: Uint8Array }): bigint | null {
  if (owner !== SYSVAR_OWNER) return null
  return orNull(() => new ByteReader(data, EPOCH_AT).u64())
}

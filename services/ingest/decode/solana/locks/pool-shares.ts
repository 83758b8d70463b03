/**
 * The shares of pools that are tokens: their mint, and how many there would be had none been burnt. Sources: `liquidityStateV4Layout` and
 * `CpmmPoolInfoLayout` of raydium-io/raydium-sdk-V2; `Pool` of Pump's AMM in the IDL of @pump-fun/pump-swap-sdk (`lp_supply`: "true
 * circulating supply without burns and lock-ups").
 */
import { accountDiscriminator, discriminatorOf } from '../instruction/read-instruction.js'
import { TOKEN, TOKEN_2022 } from '../native-programs.js'
import { orNull } from '../token/metadata.js'
import { ByteReader } from '../wire/byte-reader.js'
import type { Account } from './state-rounds.js'

export type PoolShares = {
  mint: string
  /** The token program of the mint. */
  program: string
  /** What the pool issued and did not take back, burnt or not. */
  issued: bigint
}

type Layout = { bytes?: number; discriminator?: string; mintAt: number; issuedAt: number; program: string }

const LAYOUTS: Readonly<Record<string, Layout>> = {
  // Raydium's AMM v4.
  '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8': { bytes: 752, mintAt: 464, issuedAt: 720, program: TOKEN },
  // Raydium's CPMM.
  CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C: {
    ...{ discriminator: accountDiscriminator('PoolState'), mintAt: 136, issuedAt: 333, program: TOKEN },
  },
  // Pump's AMM.
  pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA: {
    ...{ discriminator: accountDiscriminator('Pool'), mintAt: 107, issuedAt: 203, program: TOKEN_2022 },
  },
}

/** Null: a pool whose shares are no token, or of another program. */
export function readPoolShares({ owner, data }: Account): PoolShares | null {
  const layout = LAYOUTS[owner]
  if (layout === undefined || (layout.bytes !== undefined && layout.bytes !== data.length)) return null
  return orNull(() => {
    if (layout.discriminator !== undefined && discriminatorOf(data) !== layout.discriminator) return null
    const mint = new ByteReader(data, layout.mintAt).pubkey()
    return { mint, program: layout.program, issued: new ByteReader(data, layout.issuedAt).u64() }
  })
}

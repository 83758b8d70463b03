/** All decoded programs. To add one, write its file and a line here. */

import type { Program } from './program-decoder.js'
import { meteoraDammV1 } from './programs/meteora/meteora-damm-v1.js'
import { meteoraDammV2 } from './programs/meteora/meteora-damm-v2.js'
import { meteoraDbc } from './programs/meteora/meteora-dbc.js'
import { meteoraDlmm } from './programs/meteora/meteora-dlmm.js'
import { moonshot } from './programs/moonshot/moonshot.js'
import { whirlpool } from './programs/orca/whirlpool.js'
import { pump } from './programs/pump/pump.js'
import { pumpAmm } from './programs/pump/pump-amm.js'
import { launchLab } from './programs/raydium/launchlab.js'
import { raydiumClmm } from './programs/raydium/raydium-clmm.js'
import { raydiumCpmm } from './programs/raydium/raydium-cpmm.js'
import { raydiumV4 } from './programs/raydium/raydium-v4.js'

export const PROGRAMS: readonly Program[] = [
  pump,
  pumpAmm,
  raydiumV4,
  raydiumCpmm,
  raydiumClmm,
  launchLab,
  whirlpool,
  meteoraDlmm,
  meteoraDammV1,
  meteoraDammV2,
  meteoraDbc,
  moonshot,
]

const BY_ID = new Map(PROGRAMS.flatMap((program) => program.programIds.map((id) => [id, program] as const)))

export function programOf(programId: string): Program | undefined {
  return BY_ID.get(programId)
}

/** Every program that is decoded. Adding one is its file and a line here. */
import { launchLab } from './launchlab.js'
import { meteoraDammV1 } from './meteora-damm-v1.js'
import { meteoraDammV2 } from './meteora-damm-v2.js'
import { meteoraDbc } from './meteora-dbc.js'
import { meteoraDlmm } from './meteora-dlmm.js'
import { moonshot } from './moonshot.js'
import type { Program } from './program.js'
import { pump } from './pump.js'
import { pumpAmm } from './pump-amm.js'
import { raydiumClmm } from './raydium-clmm.js'
import { raydiumCpmm } from './raydium-cpmm.js'
import { raydiumV4 } from './raydium-v4.js'
import { whirlpool } from './whirlpool.js'

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

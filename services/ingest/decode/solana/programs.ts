/** Every program that is decoded. Adding one is its file and a line here. */
import { meteoraDammV1 } from './meteora-damm-v1.js'
import { meteoraDammV2 } from './meteora-damm-v2.js'
import { meteoraDbc } from './meteora-dbc.js'
import { meteoraDlmm } from './meteora-dlmm.js'
import { moonshot } from './moonshot.js'
import type { Program } from './program.js'

export const PROGRAMS: readonly Program[] = [meteoraDlmm, meteoraDammV1, meteoraDammV2, meteoraDbc, moonshot]

const BY_ID = new Map(PROGRAMS.flatMap((program) => program.programIds.map((id) => [id, program] as const)))

export function programOf(programId: string): Program | undefined {
  return BY_ID.get(programId)
}

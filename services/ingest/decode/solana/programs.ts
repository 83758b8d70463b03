/** Every program that is decoded. Adding one is its file and a line here. */
import type { Program } from './program.js'
import { pump } from './pump.js'
import { pumpAmm } from './pump-amm.js'

export const PROGRAMS: readonly Program[] = [pump, pumpAmm]

const BY_ID = new Map(PROGRAMS.flatMap((program) => program.programIds.map((id) => [id, program] as const)))

export function programOf(programId: string): Program | undefined {
  return BY_ID.get(programId)
}

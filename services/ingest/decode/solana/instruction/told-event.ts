/** One event of a program's instruction, read. */

import { BadInstruction } from '../program-decoder.js'
import type { Instruction } from '../transaction.js'
import type { ByteReader } from '../wire/byte-reader.js'
import { eventsOf } from './anchor.js'
import { readBytes } from './read-instruction.js'

/** Null: it told none of that name. */
export function toldBy<T>(instruction: Instruction, event: string, read: (reader: ByteReader) => T): T | null {
  const told = eventsOf(instruction).find(({ discriminator }) => discriminator === event)
  return told === undefined ? null : readBytes(instruction, told.payload, read)
}

/** `what` names it: `a swap`. */
export function notTold(instruction: Instruction, what: string): never {
  throw new BadInstruction(instruction, 'amounts_unknown', `no event tells ${what}`)
}

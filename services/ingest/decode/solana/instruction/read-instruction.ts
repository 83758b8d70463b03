/** Reads an instruction's bytes, accounts and events; failures become the instruction's `BadInstruction`. */

import { BadInstruction, Malformed } from '../decode-errors.js'
import type { Instruction } from '../transaction.js'
import { ByteReader } from '../wire/byte-reader.js'
import { eventsOf } from './anchor.js'

export function readBytes<T>(instruction: Instruction, bytes: Uint8Array, read: (reader: ByteReader) => T): T {
  try {
    return read(new ByteReader(bytes))
  } catch (error) {
    throw error instanceof Malformed ? new BadInstruction(instruction, 'malformed', error.message) : error
  }
}

/** `what`: for the error, such as `the user's base account`. */
export function accountAt(instruction: Instruction, place: number, what: string): string {
  const account = instruction.accounts[place]
  if (account === undefined) {
    const detail = `${what} is missing: expected at index ${place} of ${instruction.accounts.length} accounts`
    throw new BadInstruction(instruction, 'malformed', detail)
  }
  return account
}

/** Null: it emitted none with this name. */
export function readEventOf<T>(instruction: Instruction, event: string, read: (reader: ByteReader) => T): T | null {
  const reported = eventsOf(instruction).find(({ discriminator }) => discriminator === event)
  return reported === undefined ? null : readBytes(instruction, reported.payload, read)
}

/** `what`: for the error, such as `a swap`. */
export function refuseWithoutEvent(instruction: Instruction, what: string): never {
  throw new BadInstruction(instruction, 'amounts_unknown', `no event for ${what}`)
}

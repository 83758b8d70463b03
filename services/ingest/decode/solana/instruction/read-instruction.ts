/**
 * Reads an instruction's bytes, accounts and events; failures become the instruction's `BadInstruction`. Events follow the conventions of
 * programs built with Anchor (anchor-lang.com, "Emit events" and "Instruction discriminators"): the first eight bytes of a hash identify an
 * instruction or an event; events are in `Program data:` logs or in the data of a program's call to itself.
 */

import { sha256 } from '@noble/hashes/sha256'
import { BadInstruction, Malformed } from '../decode-errors.js'
import type { Instruction } from '../transaction.js'
import { ByteReader, u32At } from '../wire/byte-reader.js'

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

const DISCRIMINATOR_BYTES = 8

/** Starts the data of a program's call to itself that only carries an event (`emit_cpi!`). */
export const EVENT_CALL = 'e445a52e51cb9a1d'

/** As sixteen hexadecimal digits. `name` as in the program's source: `buy_exact_in`. */
export function instructionDiscriminator(name: string): string {
  return discriminatorOf(sha256(`global:${name}`)) ?? ''
}

/** `name` as in the program's source: `TradeEvent`. */
export function eventDiscriminator(name: string): string {
  return discriminatorOf(sha256(`event:${name}`)) ?? ''
}

/** `name` as in the program's source: `PoolState`. */
export function accountDiscriminator(name: string): string {
  return discriminatorOf(sha256(`account:${name}`)) ?? ''
}

/**
 * Cache by the first four bytes, then the others: building the text takes longer than everything else done with it. Cleared when
 * arbitrary instruction data has filled it.
 */
const discriminators = new Map<number, { rest: number; text: string }>()
const MAX_DISCRIMINATORS = 4096

/** Null: too short to have one. */
export function discriminatorOf(data: Uint8Array): string | null {
  if (data.length < DISCRIMINATOR_BYTES) return null
  const [first, rest] = [u32At(data, 0), u32At(data, 4)]
  const known = discriminators.get(first)
  if (known?.rest === rest) return known.text
  const text = Buffer.from(data.subarray(0, DISCRIMINATOR_BYTES)).toString('hex')
  if (discriminators.size >= MAX_DISCRIMINATORS) discriminators.clear()
  discriminators.set(first, { rest, text })
  return text
}

const EVENT_CALL_BYTES = Uint8Array.from(Buffer.from(EVENT_CALL, 'hex'))
const [EVENT_CALL_FIRST, EVENT_CALL_REST] = [u32At(EVENT_CALL_BYTES, 0), u32At(EVENT_CALL_BYTES, 4)]

/** Whether this is a program's call to itself that only carries an event. It is read with its caller. */
export function isEventCall({ data }: Instruction): boolean {
  if (data.length < DISCRIMINATOR_BYTES) return false
  return u32At(data, 0) === EVENT_CALL_FIRST && u32At(data, 4) === EVENT_CALL_REST
}

/** The data after its discriminator. */
export function payloadOf(data: Uint8Array): Uint8Array {
  return data.subarray(DISCRIMINATOR_BYTES)
}

export type ProgramEvent = {
  discriminator: string
  /** After the discriminator. */
  payload: Uint8Array
  /** The call to itself that carries it; null: it is from a log. */
  call: Instruction | null
}

/**
 * Events of the instruction itself, not of programs it called: calls to itself first, then logs. Some programs emit an event both
 * ways (Pump.fun did for a year): a log that repeats a call is skipped.
 */
export function eventsOf(instruction: Instruction): ProgramEvent[] {
  const events: ProgramEvent[] = []
  for (const inner of instruction.inner) {
    if (inner.programId !== instruction.programId || !isEventCall(inner)) continue
    add(events, payloadOf(inner.data), inner)
  }
  const { programData } = instruction
  if (programData === null || programData.length === 0) return events
  const repeated = events.map(({ call }) => (call === null ? NOTHING : payloadOf(call.data)))
  for (const data of programData) {
    const twin = repeated.findIndex((called) => called.length === data.length && Buffer.compare(called, data) === 0)
    if (twin === -1) add(events, data, null)
    else repeated.splice(twin, 1)
  }
  return events
}

const NOTHING = new Uint8Array(0)

function add(events: ProgramEvent[], data: Uint8Array, call: Instruction | null): void {
  const discriminator = discriminatorOf(data)
  if (discriminator !== null) events.push({ discriminator, payload: payloadOf(data), call })
}

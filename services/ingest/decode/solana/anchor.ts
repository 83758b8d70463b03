/**
 * What programs made with Anchor have in common (anchor-lang.com, "Emit events" and "Instruction discriminators"): the first eight bytes of a hash name an
 * instruction or an event; events stand in `Program data:` logs or in the data of a call of the program to itself.
 */
import { sha256 } from '@noble/hashes/sha256'
import type { Instruction } from './transaction.js'

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

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Null: too short to have one. */
export function discriminatorOf(data: Uint8Array): string | null {
  if (data.length < DISCRIMINATOR_BYTES) return null
  let text = ''
  for (let at = 0; at < DISCRIMINATOR_BYTES; at += 1) text += HEX[data[at] ?? 0]
  return text
}

const EVENT_CALL_BYTES = Uint8Array.from(Buffer.from(EVENT_CALL, 'hex'))

/** Whether this is a program's call to itself that only carries an event: whoever called it reads it. */
export function isEventCall({ data }: Instruction): boolean {
  for (let at = 0; at < DISCRIMINATOR_BYTES; at += 1) if (data[at] !== EVENT_CALL_BYTES[at]) return false
  return true
}

/** The data after its discriminator. */
export function payloadOf(data: Uint8Array): Uint8Array {
  return data.subarray(DISCRIMINATOR_BYTES)
}

export type ProgramEvent = {
  discriminator: string
  /** After the discriminator. */
  payload: Uint8Array
  /** The call to itself that carried it; null: a log did. */
  call: Instruction | null
}

/**
 * What the instruction itself told, not what programs called by it told: calls to itself first, then logs. Some programs tell the same event both ways
 * (Pump.fun did so for a year): a log that repeats a call is left out.
 */
export function eventsOf(instruction: Instruction): ProgramEvent[] {
  const events: ProgramEvent[] = []
  for (const inner of instruction.inner) {
    if (inner.programId !== instruction.programId || !isEventCall(inner)) continue
    add(events, payloadOf(inner.data), inner)
  }
  const { programData } = instruction
  if (programData === null || programData.length === 0) return events
  const repeated = events.map(keyOf)
  for (const data of programData) {
    const twin = repeated.indexOf(Buffer.from(data).toString('latin1'))
    if (twin === -1) add(events, data, null)
    else repeated.splice(twin, 1)
  }
  return events
}

function keyOf({ call }: ProgramEvent): string {
  return call === null ? '' : Buffer.from(payloadOf(call.data)).toString('latin1')
}

function add(events: ProgramEvent[], data: Uint8Array, call: Instruction | null): void {
  const discriminator = discriminatorOf(data)
  if (discriminator !== null) events.push({ discriminator, payload: payloadOf(data), call })
}

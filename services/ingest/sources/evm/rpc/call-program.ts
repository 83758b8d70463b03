/**
 * Many view calls in one `eth_call`: init code without a target, hand-written, that runs each call by STATICCALL and returns all
 * answers. Nothing has to be deployed on the chain. It uses no instruction younger than Constantinople (2019).
 *
 * After the program come the calls: 20 bytes address, 2 bytes length, the call's data. The answer has for each: 1 byte success,
 * 4 bytes length, and the data unless it is longer than MAX_ANSWER_BYTES.
 */
import type { Call } from '../../../decode/evm/protocol.js'

/** Limits each call, so that one contract cannot burn the gas of the others. */
const GAS_PER_CALL = 1_000_000
/** An answer is "deployed" as code: 24,576 bytes for all of them (EIP-170). */
export const MAX_ANSWER_BYTES = 6_144

const hex = (value: number, bytes: number): string => value.toString(16).padStart(bytes * 2, '0')

function assemble(programBytes: number, done: number): string {
  return [
    `60${hex(programBytes, 1)} 80 38 03`, // P, n = CODESIZE - P
    '80 91 6000 39', // CODECOPY(0, P, n)                   → end (= n)
    '80 6000', // out = n, in = 0                           → end out in
    '5b', // loop: at 13
    `82 81 10 15 60${hex(done, 1)} 57`, // in >= end: done
    '80 51 80 6060 1c', // head = MLOAD(in), to = head >> 96 → end out in head to
    '90 6050 1c 61ffff 16', // len = head >> 80 & 0xffff     → end out in to len
    '91 6016 01', // at = in + 22                            → end out len to at
    `6000 6000 84 83 85 62${hex(GAS_PER_CALL, 3)} fa`, // STATICCALL(gas, to, at, len, 0, 0) → end out len to at ok
    '91 50 91 90 91 01', // in = at + len                    → end out ok in
    `3d 61${hex(MAX_ANSWER_BYTES, 2)} 3d 11 15 3d 02`, // size = fits ? RETURNDATASIZE : 0 → end out ok in length size
    '90 60d8 1b 83 60f8 1b 17', // ok << 248 | length << 216 → end out ok in size word
    '84 52', // MSTORE(out, word)                            → end out ok in size
    '80 6000 85 6005 01 3e', // RETURNDATACOPY(out + 5, 0, size)
    '6005 01 92 91 50 91 01 90', // out += size + 5           → end out in
    '600d 56', // to the loop
    '5b 50 81 90 03 90 f3', // done: RETURN(end, out - end)
  ]
    .join('')
    .replaceAll(' ', '')
}

const PROGRAM_BYTES = assemble(0, 0).length / 2
const PROGRAM = assemble(PROGRAM_BYTES, PROGRAM_BYTES - 7)

/** Init code may be 49,152 bytes long (EIP-3860); smaller requests suffer less from limits of providers. */
const MAX_CALLS = 64
const MAX_CODE_BYTES = 24_000

export const callBytes = ({ data }: Call): number => 22 + (data.length - 2) / 2

/** Splits calls into groups that fit one request each, in order. */
export function groupCalls(calls: readonly Call[]): Call[][] {
  const groups: Call[][] = []
  let group: Call[] = []
  let bytes = 0
  for (const call of calls) {
    const size = callBytes(call)
    if (group.length > 0 && (group.length >= MAX_CALLS || bytes + size > MAX_CODE_BYTES)) {
      groups.push(group)
      group = []
      bytes = 0
    }
    group.push(call)
    bytes += size
  }
  if (group.length > 0) groups.push(group)
  return groups
}

export function encodeCalls(calls: readonly Call[]): string {
  const parts = calls.map(({ to, data }) => `${to.slice(2)}${hex((data.length - 2) / 2, 2)}${data.slice(2)}`)
  return `0x${PROGRAM}${parts.join('')}`
}

/** One call's answer: its bytes, null for a revert or no data, `too_long` for one that must be requested alone. */
export type CallAnswer = string | null | 'too_long'

/** Null if this cannot be the program's output. */
export function decodeAnswers(answer: string, count: number): CallAnswer[] | null {
  const answers: CallAnswer[] = []
  let place = 2
  while (answers.length < count) {
    const flag = answer.slice(place, place + 2)
    const length = Number.parseInt(answer.slice(place + 2, place + 10), 16)
    if ((flag !== '00' && flag !== '01') || !Number.isSafeInteger(length)) return null
    place += 10
    const tooLong = length > MAX_ANSWER_BYTES
    const data = tooLong ? '' : answer.slice(place, place + length * 2)
    if (!tooLong && data.length !== length * 2) return null
    place += data.length
    if (flag === '00' || length === 0) answers.push(null)
    else answers.push(tooLong ? 'too_long' : `0x${data}`)
  }
  return place === answer.length ? answers : null
}

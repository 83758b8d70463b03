/** Yellowstone's shape (rpcpool/yellowstone-grpc, `solana-storage.proto`): keys and data as bytes, loaded addresses in the meta. */

import { BadTransaction, Malformed } from '../decode-errors.js'
import { decodeBase58, encodeBase58 } from '../keys/base58.js'
import { base64Bytes } from './parse-wire.js'
import { keyOf, type RawInstruction, type RawTransaction, stackHeightAt } from './raw-transaction.js'
import { countAt, describeValue, type Fields, fieldsAt, isFields, listAt } from './shape.js'

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64

export function yellowstoneAccounts(message: unknown, meta: Fields): string[] {
  const keys: string[] = []
  const add = (list: unknown, path: string) => {
    for (const key of listAt(list, path)) keys.push(base58At(key, KEY_BYTES, path))
  }
  add(fieldsAt(message, 'message').accountKeys, 'message.accountKeys')
  add(meta.loadedWritableAddresses, 'loadedWritableAddresses')
  add(meta.loadedReadonlyAddresses, 'loadedReadonlyAddresses')
  return keys
}

export function yellowstoneSignature(transaction: unknown): string {
  const [first] = listAt(fieldsAt(transaction, 'transaction').signatures, 'signatures')
  return base58At(first, SIGNATURE_BYTES, 'signatures[0]')
}

export function readYellowstone(transaction: unknown, meta: Fields, accounts: readonly string[]): RawTransaction {
  const { message, signatures } = fieldsAt(transaction, 'transaction')
  const signers = listAt(signatures, 'signatures').length
  const path = 'message.instructions'
  const top = listAt(fieldsAt(message, 'message').instructions, path).map((each) => instructionAt(each, accounts, path))
  const inner = new Map<number, readonly RawInstruction[]>()
  for (const group of listAt(meta.innerInstructions, 'innerInstructions')) {
    const { index, instructions } = fieldsAt(group, 'innerInstructions')
    const list = listAt(instructions, 'innerInstructions')
    // Protobuf omits a zero.
    const place = index === undefined ? 0 : countAt(index, 'innerInstructions.index')
    inner.set(
      place,
      list.map((each) => instructionAt(each, accounts, 'innerInstructions')),
    )
  }
  return { signature: yellowstoneSignature(transaction), signers, accounts, top, inner }
}

function instructionAt(value: unknown, keys: readonly string[], path: string): RawInstruction {
  const { programIdIndex = 0, accounts, data, stackHeight } = fieldsAt(value, path)
  return {
    programId: keyOf(programIdIndex, keys, path),
    accounts: Array.from(bytesAt(accounts, path), (place) => keyOf(place, keys, path)),
    data: bytesAt(data, path),
    stackHeight: stackHeightAt(stackHeight),
    parsed: null,
  }
}

/** Keys and signatures have a fixed length, which distinguishes base58 from base64. */
function base58At(value: unknown, length: number, path: string): string {
  if (typeof value === 'string' && isBase58(value, length)) return value
  const bytes = bytesAt(value, path)
  if (bytes.length !== length) throw new BadTransaction(path, `must be ${length} bytes, got ${bytes.length}`)
  return encodeBase58(bytes)
}

function isBase58(text: string, length: number): boolean {
  try {
    return decodeBase58(text).length === length
  } catch {
    return false
  }
}

/** Bytes, a list of numbers, a printed `Buffer`, or base64 as in protobuf's JSON. */
function bytesAt(value: unknown, path: string): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (value === undefined || value === null) return new Uint8Array(0)
  if (isFields(value) && value.type === 'Buffer') return bytesAt(value.data, path)
  if (Array.isArray(value)) {
    const bytes = new Uint8Array(value.length)
    for (let at = 0; at < value.length; at += 1) {
      const byte: unknown = value[at]
      if (typeof byte !== 'number' || !Number.isInteger(byte) || byte < 0 || byte > 255)
        throw new BadTransaction(path, `must be bytes, got ${describeValue(byte)}`)
      bytes[at] = byte
    }
    return bytes
  }
  try {
    if (typeof value === 'string') return base64Bytes(value)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
  }
  throw new BadTransaction(path, `must be bytes, got ${describeValue(value)}`)
}

/** Borsh and Anchor bytes, written field by field (borsh.io; anchor-lang.com, "Instruction discriminators"). Independent of the decoders under test. */
import { createHash } from 'node:crypto'
import { decodeBase58 } from '../../../services/ingest/decode/solana/keys/base58.js'

export const borsh = {
  u8: (value: number) => Buffer.of(value),
  bool: (value: boolean) => Buffer.of(value ? 1 : 0),
  u16: (value: number) => littleEndian(BigInt(value), 2),
  u32: (value: number) => littleEndian(BigInt(value), 4),
  i32: (value: number) => littleEndian(BigInt(value), 4),
  u64: (value: bigint) => littleEndian(value, 8),
  u128: (value: bigint) => littleEndian(value, 16),
  key: (address: string) => Buffer.from(decodeBase58(address)),
  text: (value: string) => Buffer.concat([borsh.u32(Buffer.byteLength(value)), Buffer.from(value)]),
  zeros: (length: number) => Buffer.alloc(length),
}

/** Consecutive 64-bit numbers. */
export const u64s = (...values: readonly bigint[]): Buffer => Buffer.concat(values.map(borsh.u64))

/** Consecutive keys. */
export const keys = (...addresses: readonly string[]): Buffer => Buffer.concat(addresses.map(borsh.key))

/** `name` as in the program's source: `buy_exact_in`. */
export function callBytes(name: string, ...fields: readonly Uint8Array[]): Buffer {
  return Buffer.concat([discriminator(`global:${name}`), ...fields])
}

/** `name` as in the program's source: `TradeEvent`. */
export function eventBytes(name: string, ...fields: readonly Uint8Array[]): Buffer {
  return Buffer.concat([discriminator(`event:${name}`), ...fields])
}

function discriminator(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 8)
}

/** Negative values in two's complement. */
function littleEndian(value: bigint, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0, rest = BigInt.asUintN(length * 8, value); at < length; at += 1, rest >>= 8n)
    bytes[at] = Number(rest & 0xffn)
  return bytes
}

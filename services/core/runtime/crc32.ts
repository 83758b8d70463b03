/** The CRC-32 of zlib: finds changed bytes in what is stored. */
import * as zlib from 'node:zlib'

type Crc32 = (data: Uint8Array | string, before?: number) => number

/** Node has it since 20.15. */
const native = (zlib as { crc32?: Crc32 }).crc32

export const crc32: Crc32 = native ?? crc32ByTable

let table: Uint32Array | undefined

export function crc32ByTable(data: Uint8Array | string, before = 0): number {
  table ??= Uint32Array.from({ length: 256 }, (_, index) => {
    let value = index
    for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
    return value
  })
  let crc = ~before
  for (const byte of typeof data === 'string' ? Buffer.from(data) : data)
    crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] as number)
  return ~crc >>> 0
}

/**
 * How the embedded log stores records: an append becomes chunks of many records, so that the cost of a B-tree entry is paid per
 * chunk, not per record. A chunk is a table (timestamp, key length, value length per record), then the keys and values. Offsets
 * are not in it: a chunk's key has the offset of its first record. It is stored compressed, with a checksum.
 */
import { crc32 } from '../runtime/crc32.js'
import { zstd } from '../runtime/zstd.js'
import type { LogEntry, LogRecord } from './port.js'

/** In memory. Stored like this at first. */
const FORMAT_PLAIN = 1
/** The same with a checksum at its end; compressed by LMDB's binding. Still read. */
const FORMAT_WITH_CHECKSUM = 2
/** Format, records, length of the plain chunk, checksum of what follows; then the plain chunk, compressed. */
const FORMAT_STORED = 3
const STORED_HEADER_BYTES = 16
const CHECKSUM_BYTES = 4
const HEADER_BYTES = 8
const ROW_BYTES = 16
/** Key length for "same key as the record before": most records of a topic share a key. */
const SAME_KEY = 0xffffffff
/** Larger chunks would need long runs of free pages, which a truncated log lacks. */
const CHUNK_BYTES = 256 * 1024
const CHUNK_RECORDS = 4096

export type Chunk = { bytes: Buffer; records: number; newestMs: number; payloadBytes: number }

/** `allocate` gives the bytes of a chunk. */
export function packChunks(entries: readonly LogEntry[], allocate: (bytes: number) => Buffer): Chunk[] {
  const chunks: Chunk[] = []
  let first = 0
  let payloadBytes = 0
  for (let index = 0; index < entries.length; index++) {
    const size = (entries[index]?.value.byteLength ?? 0) + ROW_BYTES
    if (index > first && (payloadBytes + size > CHUNK_BYTES || index - first >= CHUNK_RECORDS)) {
      chunks.push(packChunk(entries, first, index, allocate))
      first = index
      payloadBytes = 0
    }
    payloadBytes += size
  }
  if (first < entries.length) chunks.push(packChunk(entries, first, entries.length, allocate))
  return chunks
}

function packChunk(
  entries: readonly LogEntry[],
  first: number,
  end: number,
  allocate: (bytes: number) => Buffer,
): Chunk {
  const records = end - first
  let newestMs = 0
  const keyLengths = new Uint32Array(records)
  let payloadBytes = 0
  let previousKey: string | undefined
  for (let row = 0; row < records; row++) {
    const entry = entries[first + row] as LogEntry
    if (entry.timestampMs > newestMs) newestMs = entry.timestampMs
    const keyLength = entry.key === previousKey ? SAME_KEY : Buffer.byteLength(entry.key)
    keyLengths[row] = keyLength
    payloadBytes += entry.value.byteLength + (keyLength === SAME_KEY ? 0 : keyLength)
    previousKey = entry.key
  }
  const bytes = allocate(HEADER_BYTES + records * ROW_BYTES + payloadBytes)
  bytes.writeUInt32LE(FORMAT_PLAIN, 0)
  bytes.writeUInt32LE(records, 4)
  let position = HEADER_BYTES + records * ROW_BYTES
  for (let row = 0; row < records; row++) {
    const entry = entries[first + row] as LogEntry
    const at = HEADER_BYTES + row * ROW_BYTES
    const keyLength = keyLengths[row] as number
    bytes.writeDoubleLE(entry.timestampMs, at)
    bytes.writeUInt32LE(keyLength, at + 8)
    bytes.writeUInt32LE(entry.value.byteLength, at + 12)
    if (keyLength !== SAME_KEY) position += bytes.write(entry.key, position)
    bytes.set(entry.value, position)
    position += entry.value.byteLength
  }
  return { bytes, records, newestMs, payloadBytes }
}

export function storedChunk({ bytes, records }: Chunk): Buffer {
  const stored = zstd().compress(bytes, STORED_HEADER_BYTES)
  stored.writeUInt32LE(FORMAT_STORED, 0)
  stored.writeUInt32LE(records, 4)
  stored.writeUInt32LE(bytes.length, 8)
  stored.writeUInt32LE(checksumOf(stored), 12)
  return stored
}

/** Of the header as well, except of itself. */
function checksumOf(stored: Buffer): number {
  return crc32(stored.subarray(STORED_HEADER_BYTES), crc32(stored.subarray(0, STORED_HEADER_BYTES - CHECKSUM_BYTES)))
}

/** The plain chunk; undefined if bytes of it have changed since it was stored. */
export function plainChunk(stored: Buffer): Buffer | undefined {
  if (stored.length < HEADER_BYTES) return undefined
  const format = stored.readUInt32LE(0)
  if (format === FORMAT_STORED)
    return isStoredWhole(stored) ? zstd().decompress(stored.subarray(STORED_HEADER_BYTES)) : undefined
  const records = chunkRecords(stored)
  const tableEnd = HEADER_BYTES + records * ROW_BYTES
  if (records === 0 || tableEnd > stored.length) return undefined
  if (format === FORMAT_PLAIN) return tableEnd + chunkPayloadBytes(stored, 0) === stored.length ? stored : undefined
  const end = stored.length - CHECKSUM_BYTES
  const isWhole = format === FORMAT_WITH_CHECKSUM && crc32(stored.subarray(0, end)) === stored.readUInt32LE(end)
  return isWhole ? stored : undefined
}

const isStoredWhole = (stored: Buffer): boolean =>
  stored.length > STORED_HEADER_BYTES && checksumOf(stored) === stored.readUInt32LE(12)

/** Of a plain or a stored one. */
export function chunkRecords(bytes: Buffer): number {
  return bytes.readUInt32LE(4)
}

/** Of a whole stored chunk, without decompressing it. */
export function storedPayloadBytes(stored: Buffer): number {
  if (stored.readUInt32LE(0) !== FORMAT_STORED) return chunkPayloadBytes(stored, 0)
  return stored.readUInt32LE(8) - HEADER_BYTES - chunkRecords(stored) * ROW_BYTES
}

export function chunkTimestampMs(bytes: Buffer, row: number): number {
  return bytes.readDoubleLE(HEADER_BYTES + row * ROW_BYTES)
}

/** The highest timestamp of the rows from `fromRow` on. */
export function chunkNewestMs(bytes: Buffer, fromRow: number): number {
  let newestMs = 0
  for (let row = fromRow; row < chunkRecords(bytes); row++) {
    newestMs = Math.max(newestMs, chunkTimestampMs(bytes, row))
  }
  return newestMs
}

/** Key and value bytes of the rows from `fromRow` on: what a topic's size counts. */
export function chunkPayloadBytes(bytes: Buffer, fromRow: number): number {
  let total = 0
  for (let row = fromRow; row < chunkRecords(bytes); row++) {
    const at = HEADER_BYTES + row * ROW_BYTES
    const keyLength = bytes.readUInt32LE(at + 8)
    total += bytes.readUInt32LE(at + 12) + (keyLength === SAME_KEY ? 0 : keyLength)
  }
  return total
}

/** Adds a chunk's records from `fromRow` on to `into` until a limit is reached; returns the remaining bytes. */
export function unpackChunk(
  bytes: Buffer,
  firstOffset: number,
  fromRow: number,
  into: LogRecord[],
  maxRecords: number,
  bytesLeft: number,
): number {
  const records = chunkRecords(bytes)
  let left = bytesLeft
  let position = HEADER_BYTES + records * ROW_BYTES
  let key = ''
  for (let row = 0; row < records; row++) {
    const at = HEADER_BYTES + row * ROW_BYTES
    const keyLength = bytes.readUInt32LE(at + 8)
    const valueLength = bytes.readUInt32LE(at + 12)
    if (keyLength !== SAME_KEY) {
      key = bytes.toString('utf8', position, position + keyLength)
      position += keyLength
    }
    if (row >= fromRow) {
      if (into.length >= maxRecords || (into.length > 0 && valueLength > left)) return 0
      const value = bytes.subarray(position, position + valueLength)
      into.push({ key, value, timestampMs: bytes.readDoubleLE(at), offset: firstOffset + row })
      left -= valueLength
    }
    position += valueLength
  }
  return left
}

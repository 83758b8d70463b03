/** A checkpoint value: words as JSON, numbers as doubles bit for bit (NaN and signs survive). */
const HEADER_BYTES = 8

export function pack(words: unknown, numbers: Float64Array = new Float64Array(0)): Uint8Array {
  const text = Buffer.from(JSON.stringify(words))
  const start = HEADER_BYTES + Math.ceil(text.length / 8) * 8
  const packed = Buffer.alloc(start + numbers.byteLength)
  packed.writeUInt32LE(text.length, 0)
  text.copy(packed, HEADER_BYTES)
  Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength).copy(packed, start)
  return packed
}

export function unpack<Words>(packed: Uint8Array): { words: Words; numbers: Float64Array } {
  const bytes = Buffer.from(packed)
  const length = bytes.readUInt32LE(0)
  const words = JSON.parse(bytes.toString('utf8', HEADER_BYTES, HEADER_BYTES + length)) as Words
  const start = HEADER_BYTES + Math.ceil(length / 8) * 8
  const numbers = new Float64Array((bytes.length - start) / 8)
  Buffer.from(numbers.buffer).set(bytes.subarray(start))
  return { words, numbers }
}

const PAD = 12

/** Numbers in keys sort as numbers. */
export function padded(value: number): string {
  return String(value).padStart(PAD, '0')
}

import { describe, expect, test } from 'vitest'
import { nativeZstd, wasmZstd, type Zstd } from '../../../services/core/runtime/zstd.js'

const native = nativeZstd()
// As after another part of the process has loaded it.
wasmZstd()
/** Node 20 has only the second. */
const both: [string, Zstd][] = [
  ...(native === undefined ? [] : [['native', native] as [string, Zstd]]),
  ['wasm', wasmZstd()],
]
const texts = [
  '',
  'a',
  '0xab'.repeat(50_000),
  Buffer.from(Array.from({ length: 70_000 }, (_, n) => (n * n) % 251)).toString('latin1'),
]

describe.each(both)('zstd (%s)', (_, { compress, decompress }) => {
  test.each(texts.map((text) => [text.length, text] as const))(
    '%d characters come back as they were',
    (_length, text) => {
      const bytes = Buffer.from(text, 'latin1')
      for (const [, reader] of both) expect(reader.decompress(compress(bytes)).equals(bytes)).toBe(true)
    },
  )

  test('makes repeats small, and refuses what is not whole', () => {
    const compressed = compress(Buffer.from('0xab'.repeat(10_000)))
    expect(compressed.length).toBeLessThan(200)
    expect(() => decompress(compressed.subarray(0, compressed.length - 3))).toThrow()
  })
})

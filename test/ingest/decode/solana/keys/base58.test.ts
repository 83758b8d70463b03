import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Malformed } from '../../../../../services/ingest/decode/solana/decode-errors.js'
import { decodeBase58, encodeBase58 } from '../../../../../services/ingest/decode/solana/keys/base58.js'
import { ByteReader } from '../../../../../services/ingest/decode/solana/wire/byte-reader.js'

/** The definition, digit by digit. */
function plainBase58(bytes: Uint8Array): string {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  let number = BigInt(`0x00${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  for (; number > 0n; number /= 58n) text = alphabet[Number(number % 58n)] + text
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + text
}

describe('base58', () => {
  it('encodes and decodes well-known keys', () => {
    const token = '06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9'
    expect(encodeBase58(Buffer.from(token, 'hex'))).toBe('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
    expect(Buffer.from(decodeBase58('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')).toString('hex')).toBe(token)
    expect(encodeBase58(new Uint8Array(32))).toBe('1'.repeat(32))
  })

  it('encodes and decodes random bytes like the definition', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(4), (tail, zeros) => {
        const bytes = new Uint8Array([...new Uint8Array(zeros), ...tail])
        const text = encodeBase58(bytes)
        expect(text).toBe(plainBase58(bytes))
        expect([...decodeBase58(text)]).toEqual([...bytes])
      }),
    )
  })

  it.each(['0', 'O', 'I', 'l', 'abc def', 'ü', '1'.repeat(20_000)])('rejects %s', (text) => {
    expect(() => decodeBase58(text)).toThrow(Malformed)
  })
})

describe('the byte reader', () => {
  it('reads each type, lowest byte first', () => {
    const bytes = Buffer.from(
      ['07', '0201', '04030201', 'feffffff', '0807060504030201', 'ffffffffffffffff'].join('') +
        ['01000000000000000000000000000080', 'f6ffffffffffffffffffffffffffffff'].join('') +
        ['01', '06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9'].join('') +
        ['0300000061c3a4', '00', '0109'].join(''),
      'hex',
    )
    const reader = new ByteReader(bytes)
    expect([reader.u8(), reader.u16(), reader.u32(), reader.i32()]).toEqual([7, 0x0102, 0x01020304, -2])
    expect([reader.u64(), reader.i64()]).toEqual([0x0102030405060708n, -1n])
    expect([reader.u128(), reader.i128()]).toEqual([(1n << 127n) + 1n, -10n])
    expect([reader.bool(), reader.pubkey()]).toEqual([true, 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'])
    expect([reader.string(), reader.option(() => 1), reader.option((inner) => inner.u8())]).toEqual(['aä', null, 9])
    expect(reader.left).toBe(0)
    reader.end()
  })

  it.each([
    ['a truncated number', '0102', (reader: ByteReader) => reader.u32()],
    ['a truncated key', '00'.repeat(31), (reader: ByteReader) => reader.pubkey()],
    ['an invalid bool', '02', (reader: ByteReader) => reader.bool()],
    ['a string longer than the bytes', 'ff00000061', (reader: ByteReader) => reader.string()],
    ['a string of the maximum length', 'ffffffff', (reader: ByteReader) => reader.string()],
    ['a string that is not UTF-8', '01000000ff', (reader: ByteReader) => reader.string()],
    ['unread bytes', '00', (reader: ByteReader) => reader.end()],
  ])('rejects %s', (_, hex, read) => {
    expect(() => read(new ByteReader(Buffer.from(hex, 'hex')))).toThrow(Malformed)
  })
})

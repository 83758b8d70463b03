import { expect, it } from 'vitest'
import { createCodec } from '../../services/core/log/codec.js'
import { createAssembler, splitUpdate } from '../../services/core/log/parts.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { Reader } from '../rig/aggregate/reader.js'
import { MONDAY, MONEY, pool, swap, tape } from '../rig/tape.js'

const MAX_VALUE_BYTES = 1_000_000
/** A registry of one process. */
const registry = () => {
  const schemas: unknown[] = []
  return createCodec({
    idFor: (_, schema) => schemas.push(schema),
    schemaFor: (id) => schemas[id - 1] as ReturnType<Parameters<typeof createCodec>[0]['schemaFor']> & object,
  })
}

it('ten thousand swaps of one pool in one block pass the log in parts, none lost', () => {
  const swaps = Array.from({ length: 10_000 }, (_, n) => swap('p', 10 + n / 1000, 'usd', 5, 'a', { wallet: `w${n}` }))
  const lines = tape()
    .block(MONDAY, pool('p', 'a', 'usd'))
    .block(MONDAY + 1, ...swaps).lines
  const retract = { kind: 'retract' as const, chain: 't', from_number: 3, from_hash: 'h3', to_number: 2, to_hash: 'h2' }
  const codec = registry()
  const assembler = createAssembler()
  const reader = new Reader()
  const results = foldLines(startFold(MONEY), [...lines, retract])
  const sizes: number[] = []
  let offset = 0
  for (const { update, holders, pairHours, holderHours } of results) {
    for (const part of splitUpdate(update, (one) => codec.encodeUpdate('dex.updates.t', one), MAX_VALUE_BYTES)) {
      sizes.push(part.length)
      const whole = assembler.push(codec.decodeLogRecord(part), offset++)
      if (whole?.record.kind === 'update') reader.read({ update: whole.record.update, holders, pairHours, holderHours })
    }
    if (update.seq === 3) {
      expect(reader.trades.size).toBe(10_000)
      expect(reader.pairs.get('p')?.windows.at(-1)).toMatchObject({ buys: 10_000, makers: 10_000 })
    }
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_VALUE_BYTES)
  expect([reader.trades.size, reader.candles.size]).toEqual([0, 0])
})

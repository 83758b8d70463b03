/** Events of an update that are read when they are asked for are those that reading it at once gives. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { repositoryRoot, schemaVersions } from '../../../schemas/avro.js'
import { eventsOf, UnpackedCandles } from '../../../services/core/domain/pair-events.js'
import type { BlockUpdate, PairUpdate } from '../../../services/core/domain/records.js'
import { createCodec } from '../../../services/core/log/codec.js'
import { candle, pairUpdate, trade, update } from '../../serve/updates.js'
import { arbitraryRecord, newestSchema } from './arbitraries.js'
import { memoryRegistry } from './memory-registry.js'

const TOPIC = 'dex.updates.eth'
const codec = createCodec(memoryRegistry())

function bothOf(bytes: Buffer, reader = codec): [atOnce: BlockUpdate, lazily: BlockUpdate] {
  return [reader.decodeLogRecord(bytes), reader.decodeLazily(bytes)].map((decoded) => {
    if (decoded.kind !== 'update') throw new Error(`decoded a ${decoded.kind}`)
    return decoded.update
  }) as [BlockUpdate, BlockUpdate]
}

/** Everything about an entry, by each way to ask for it. */
function contentOf(entry: PairUpdate): object {
  const { events: _events, ...own } = entry as PairUpdate & { events?: unknown }
  const { tradeCount, liquidityCount, candles, trades, liquidity } = eventsOf(entry)
  const places: unknown[] = []
  candles.places((...place) => places.push(place))
  const counts = { tradeCount, liquidityCount, candleCount: candles.count }
  const lists = { trades, liquidity, candles: candles.packed }
  expect(lists).toEqual({ trades: entry.trades, liquidity: entry.liquidity, candles: entry.candles })
  return { ...own, ...counts, ...lists, places }
}

function expectSame(bytes: Buffer, reader = codec): void {
  const [atOnce, lazily] = bothOf(bytes, reader)
  expect({ ...lazily, pairs: lazily.pairs.map(contentOf) }).toEqual({ ...atOnce, pairs: atOnce.pairs.map(contentOf) })
}

it('gives the same for any update', () => {
  fc.assert(
    fc.property(arbitraryRecord<BlockUpdate>(newestSchema('block_update')), (any) => {
      expectSame(codec.encodeUpdate(TOPIC, any))
    }),
    { numRuns: 60, seed: 7 },
  )
})

/** Lists of less than 64 bytes do not occur; the others say their length with two, three and four bytes. */
it.each([1, 2, 20, 40, 5000])('gives the same for a list of %i trades', (count) => {
  const trades = Array.from({ length: count }, (_, index) => trade({ id: `101-${index}`, price_usd: index / 7 }))
  expectSame(codec.encodeUpdate(TOPIC, update({ pairs: [pairUpdate({ trades, candles: [candle()] }), pairUpdate()] })))
})

it('reads a record in which lists do not say their length', () => {
  const versions = schemaVersions('block_update')
  const file = join(repositoryRoot(), `test/fixtures/avro/block_update.v${versions.length}.bin`)
  expectSame(readFileSync(file), createCodec(memoryRegistry(versions)))
})

it('refuses a list that is longer than its record', () => {
  const whole = codec.encodeUpdate(TOPIC, update({ pairs: [pairUpdate({ trades: [trade()] })] }))
  for (let end = 6; end < whole.length; end += 1)
    expect(() => codec.decodeLazily(whole.subarray(0, end)), `${end} of ${whole.length} bytes`).toThrow('Cannot decode')
})

describe('candles that outlive their update', () => {
  const bytes = codec.encodeUpdate(
    TOPIC,
    update({ pairs: [pairUpdate({ candles: [candle(), candle({ close_u: 3 })] })] }),
  )

  it('are the same after they are detached, whatever becomes of its bytes', () => {
    const copy = Buffer.from(bytes)
    const [atOnce, lazily] = bothOf(copy)
    const { candles } = eventsOf(lazily.pairs[0] as PairUpdate)
    candles.detach()
    copy.fill(0)
    expect(candles.packed).toEqual(atOnce.pairs[0]?.candles)
    expect(candles.count).toBe(2)
  })

  it('are those of an entry that was never encoded', () => {
    const { candles } = pairUpdate({ candles: [candle({ removed: true })] })
    const places: unknown[] = []
    new UnpackedCandles(candles).places((...place) => places.push(place))
    expect(places).toEqual([[0, 1, candle().time, true]])
  })
})

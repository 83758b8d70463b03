/** Parts of an update that are read when they are asked for are those that reading it at once gives. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AvroRecord, repositoryRoot, schemaVersions } from '../../../schemas/avro.js'
import { UPDATE_WINDOWS } from '../../../services/core/domain/chains.js'
import { figuresOf, windowsIn } from '../../../services/core/domain/kept-figures.js'
import { EMPTY_WINDOW, packWindows } from '../../../services/core/domain/packed-windows.js'
import { eventsOf, UnpackedCandles } from '../../../services/core/domain/pair-events.js'
import type { BlockUpdate, MovedPair, PairUpdate } from '../../../services/core/domain/records.js'
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

const FIGURES = newestFields('pairs').filter((name) => !['candles', 'trades', 'liquidity'].includes(name))

function newestFields(list: string): string[] {
  const { type } = newestSchema('block_update').fields.find(({ name }) => name === list) as never as {
    type: { items: AvroRecord }
  }
  return type.items.fields.map(({ name }) => name)
}

/** Its fields, whether they are its own or read by its class. */
const fieldsOf = (entry: object, names: readonly string[]): object =>
  Object.fromEntries(names.map((name) => [name, entry[name as never]]))

/** Everything about an entry, by each way to ask for it. */
function contentOf(entry: PairUpdate): object {
  const own = fieldsOf(entry, FIGURES)
  const { figures, windows, isEmpty } = figuresOf(entry)
  const asked = FIGURES.filter((name) => !['pair', 'info', 'windows'].includes(name))
  expect(fieldsOf(figures, asked)).toEqual(fieldsOf(entry, asked))
  expect(windows).toEqual(entry.windows)
  expect(isEmpty).toBe(windows.length === 0)
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
  const others = (['tokens', 'moved_pairs', 'moved_tokens'] as const).map((list) => [list, newestFields(list)] as const)
  const [all, later] = [atOnce, lazily].map((update) => ({
    ...update,
    pairs: update.pairs.map(contentOf),
    ...Object.fromEntries(others.map(([list, names]) => [list, update[list].map((one) => fieldsOf(one, names))])),
  }))
  expect(later).toEqual(all)
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

it('figures and windows that outlive their update are the same after they are detached', () => {
  const shown = UPDATE_WINDOWS.map((_, n) => ({ ...EMPTY_WINDOW, buys: n + 1, high: 1 / 3 }))
  const windows = packWindows(shown)
  const pairs = [pairUpdate({ candles: [candle()], reserve0: '123', price_usd: 7, windows: shown })]
  const moved = { moved_pairs: [{ pair: '0xb', price_day_usd: 2, windows }], moved_tokens: [] }
  const copy = codec.encodeUpdate(TOPIC, update({ pairs, ...moved }))
  const [atOnce, lazily] = bothOf(copy)
  const [entry, past] = [lazily.pairs[0] as PairUpdate, lazily.moved_pairs[0] as MovedPair]
  figuresOf(entry).detach()
  windowsIn(past).detach()
  copy.fill(0)
  expect(fieldsOf(entry, FIGURES)).toEqual(fieldsOf(atOnce.pairs[0] as PairUpdate, FIGURES))
  expect(eventsOf(entry).candles.packed).toEqual(atOnce.pairs[0]?.candles)
  expect(past.windows).toEqual(windows)
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

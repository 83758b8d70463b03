import { expect, it } from 'vitest'
import type { BlockUpdate } from '../../../services/core/domain/records.js'
import { createHotSeries, type SeriesKind } from '../../../services/serve/history/hot/hot-series.js'
import { applyUpdate } from '../../../services/serve/memory/apply-update.js'
import { createServedChain, trimFlushed } from '../../../services/serve/memory/served-chain.js'
import { CHAIN, firstUpdate, OTHER_PAIR, PAIR, pairUpdate, TOKEN, tokenUpdate, update } from '../updates.js'

const MAX_BYTES = 10_000
type Log = { changes: number[] }

function setUp() {
  const state = createServedChain(CHAIN)
  const series = createHotSeries(MAX_BYTES)
  const loads: ((log: Log) => void)[] = []
  const kind = (bytes = 100): SeriesKind<Log> => ({
    name: 'log',
    load: () => new Promise((resolve) => loads.push(resolve)),
    apply(log, change) {
      log.changes.push(change.update.seq)
      return true
    },
    bytesOf: () => bytes,
  })
  function apply(given: BlockUpdate): void {
    const outcome = applyUpdate(state, given, 0)
    if (outcome.kind !== 'applied') throw new Error(outcome.kind)
    series.apply(outcome.applied)
  }
  /** Loads the series of a pair at once. */
  async function load(pair: string, bytes = 100): Promise<Log | undefined> {
    const coming = series.of(state, pair, kind(bytes))
    loads.pop()?.({ changes: [] })
    return coming
  }
  apply(firstUpdate())
  return { state, series, loads, kind, apply, load }
}

const traded = (seq: number, given: Partial<BlockUpdate> = {}) =>
  update({ seq, number: 100 + seq, pairs: [pairUpdate({ pair: PAIR, info: null })], ...given })

it('applies updates that arrive while a series is loading after it, in order', async () => {
  const { state, series, loads, kind, apply } = setUp()
  const [first, second] = [series.of(state, PAIR, kind()), series.of(state, PAIR, kind())]
  apply(traded(2))
  apply(update({ seq: 3, number: 103, pairs: [pairUpdate({ pair: OTHER_PAIR, info: null })] }))
  apply(traded(4))
  expect(loads.length).toBe(1)
  loads[0]?.({ changes: [] })
  expect((await first)?.changes).toEqual([2, 4])
  expect(await second).toBe(await first)
  apply(traded(5))
  expect((await first)?.changes).toEqual([2, 4, 5])
})

it('drops a pair that a retract removed, even while it is loading', async () => {
  const { state, series, loads, kind, apply } = setUp()
  const loading = series.of(state, PAIR, kind())
  apply(traded(2, { kind: 'retract', number: 99, pairs: [], retracted: [{ pair: PAIR, gone: true, ids: [] }] }))
  loads[0]?.({ changes: [] })
  expect(await loading).toBeUndefined()
  expect(series.size).toBe(0)
})

it('answers nothing after missing updates until the store has flushed them', async () => {
  const { state, series, apply, load } = setUp()
  expect(await load(PAIR)).toBeDefined()
  apply(traded(7))
  expect([await load(PAIR), series.size]).toEqual([undefined, 0])
  apply(traded(8))
  expect(await load(PAIR)).toBeUndefined()
  trimFlushed(state, { epoch: state.epoch, seq: 6 })
  expect(await load(PAIR)).toEqual({ changes: [] })
})

it('starts over with another epoch', async () => {
  const { series, apply, load } = setUp()
  const before = await load(PAIR)
  apply({ ...firstUpdate(), epoch: 2 })
  expect(series.size).toBe(0)
  expect(await load(PAIR)).not.toBe(before)
})

it('stays within its memory and drops the least recently used series first', async () => {
  const { state, series, kind, load } = setUp()
  for (const pair of ['a', 'b', 'c']) await load(pair, 2_500)
  const oldest = series.of(state, 'a', kind())
  await load('d', 2_500)
  expect(series.bytes).toBeLessThanOrEqual(MAX_BYTES)
  expect(series.of(state, 'a', kind(), false)).toBe(oldest)
  expect(series.of(state, 'b', kind(), false)).toBeUndefined()
})

it('knows whether the store has every change of a token', () => {
  const { state, series, apply } = setUp()
  const isFlushed = () => series.isFlushed(state, TOKEN)
  const flush = (seq: number) => trimFlushed(state, { epoch: state.epoch, seq })
  expect(isFlushed()).toBe(false)
  flush(1)
  expect(isFlushed()).toBe(true)
  apply(traded(2, { tokens: [tokenUpdate({ token: TOKEN })] }))
  apply(traded(3))
  expect(isFlushed()).toBe(false)
  flush(2)
  expect(isFlushed()).toBe(true)
})

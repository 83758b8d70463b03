/** Open candles, against a list that is searched whole: through late blocks and reorgs that take chain time back. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bucketEnd, bucketStart } from '../../services/core/domain/buckets.js'
import { INTERVALS } from '../../services/core/domain/chains.js'
import { type PackedCandle, packCandles, unpackCandle } from '../../services/core/domain/packed-candles.js'
import { UnpackedCandles } from '../../services/core/domain/pair-events.js'
import { createOpenCandles, type OpenCandle } from '../../services/serve/memory/open-candles.js'
import { candle } from './updates.js'

const PAIRS = ['0xa', '0xb', '0xc']
const START_S = 1_700_000_000

type Listed = { pair: string; interval: number; timeS: number; volume: number }

const listed = ({ pair, interval, candle: open }: OpenCandle): Listed => ({ pair, interval, ...figuresOf(open) })

function figuresOf(open: PackedCandle): Pick<Listed, 'timeS' | 'volume'> {
  const { time, volume_u } = unpackCandle(open)
  return { timeS: time, volume: volume_u }
}

const step = fc.record({
  pair: fc.constantFrom(...PAIRS),
  // Mostly forward; sometimes back, as after a reorg.
  moveS: fc.oneof({ arbitrary: fc.integer({ min: 0, max: 90 }), weight: 6 }, fc.constant(86_400), fc.constant(-70)),
  lateS: fc.constantFrom(0, 0, 0, 5, 400),
  removed: fc.array(fc.constantFrom(...INTERVALS.keys()), { maxLength: 3 }),
  absent: fc.array(fc.constantFrom(...INTERVALS.keys()), { maxLength: 3 }),
  isGone: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
})

it('closes and keeps what a search of all of them finds', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const open = createOpenCandles()
      let expected: Listed[] = []
      let nowS = START_S
      for (const [volume, { pair, moveS, lateS, removed, absent, isGone }] of steps.entries()) {
        nowS += moveS
        const ended = open.takeEnded(nowS).map(listed)
        const isOpen = ({ interval, timeS }: Listed) => bucketEnd(interval, timeS) > nowS
        expect(sorted(ended)).toEqual(sorted(expected.filter((one) => !isOpen(one))))
        expected = expected.filter(isOpen)

        const changed = INTERVALS.flatMap((_, interval) => (absent.includes(interval) ? [] : [interval])).map(
          (interval) => ({ pair, interval, timeS: bucketStart(interval, nowS - lateS), volume }),
        )
        const entry = changed.map(({ interval, timeS }) =>
          candle({
            interval: INTERVALS[interval] ?? 's1',
            time: timeS,
            volume_u: volume,
            removed: removed.includes(interval),
          }),
        )
        open.note(pair, new UnpackedCandles(packCandles(entry)), nowS)
        for (const one of changed) {
          const stays = isOpen(one) && !removed.includes(one.interval)
          expected = expected.filter(
            ({ pair: of, interval, timeS }) =>
              of !== pair || interval !== one.interval || (!stays && timeS !== one.timeS),
          )
          if (stays) expected.push(one)
        }

        if (isGone) {
          const taken = open.takeOf(pair).map(listed)
          expect(sorted(taken)).toEqual(sorted(expected.filter(({ pair: of }) => of === pair)))
          expected = expected.filter(({ pair: of }) => of !== pair)
        }
        expect(open.size).toBe(expected.length)
        for (const { pair: of, interval, timeS, volume: last } of expected) {
          const found = open.get(of, INTERVALS[interval] ?? 's1')
          expect(found && figuresOf(found)).toEqual({ timeS, volume: last })
        }
      }
    }),
    { numRuns: 300, seed: 11 },
  )
})

const sorted = (all: readonly Listed[]): Listed[] =>
  [...all].sort((a, b) => a.interval - b.interval || (a.pair < b.pair ? -1 : 1))

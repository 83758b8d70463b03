import { expect, it } from 'vitest'
import { BUCKET_WIDTH, BucketRing, CLOSE, TIME, USD } from '../../services/aggregate/state/bucket-ring.js'
import { BucketRows } from '../../services/aggregate/state/bucket-rows.js'
import { createRandom } from '../rig/market/random.js'

type Bucket = { timeS: number; close: number }

const bucketsOf = (ring: BucketRing): Bucket[] =>
  Array.from({ length: ring.count }, (_, index) => ({
    timeS: ring.time(index),
    close: ring.data[ring.at(index) + USD + CLOSE] as number,
  }))

it('rings that share space keep their own buckets while others grow, shrink and go', () => {
  const random = createRandom(17)
  const space = new BucketRows(BUCKET_WIDTH)
  const rings = new Map<BucketRing, Bucket[]>()
  const steps = { disposed: 0, dropped: 0, removed: 0 }
  for (let step = 1; step <= 6000; step += 1) {
    if (rings.size < 40) rings.set(new BucketRing(space), [])
    const [ring, model] = random.pick([...rings]) as [BucketRing, Bucket[]]
    const kind = random.next()
    if (kind < 0.8) {
      const late = model.length > 2 && random.chance(0.1)
      const timeS = late ? (model[1] as Bucket).timeS - 1 : step * 10
      if (model.some((bucket) => bucket.timeS === timeS)) continue
      const at = ring.at(ring.open(timeS))
      ring.data[at + USD + CLOSE] = step
      model.push({ timeS, close: step })
      model.sort((a, b) => a.timeS - b.timeS)
    } else if (kind < 0.88 && model.length > 1) {
      const keep = random.int(1, model.length - 1)
      ring.dropBefore((model.at(-keep) as Bucket).timeS)
      expect(ring.before[0]).toBe((model.at(-keep - 1) as Bucket).close)
      model.splice(0, model.length - keep)
      steps.dropped += 1
    } else if (kind < 0.93 && model.length > 0) {
      ring.remove(model.length - 1)
      model.pop()
      steps.removed += 1
    } else if (kind < 0.95) {
      ring.dispose()
      rings.delete(ring)
      steps.disposed += 1
    } else if (kind < 0.97) {
      rings.set(ring.clone(), [...model])
      rings.delete(ring)
      ring.dispose()
    }
    if (step % 50 === 0) for (const [one, expected] of rings) expect(bucketsOf(one)).toEqual(expected)
  }
  expect(Math.min(...Object.values(steps))).toBeGreaterThan(50)
  expect(Math.max(...[...rings.keys()].map(({ count }) => count)), 'a ring with an array of its own').toBeGreaterThan(
    16,
  )
})

it('gives a freed block to the next ring of that size', () => {
  const space = new BucketRows(BUCKET_WIDTH)
  const first = new BucketRing(space)
  first.open(60)
  const { data } = first
  const at = first.at(0)
  first.dispose()
  const second = new BucketRing(space)
  second.open(120)
  expect([second.data === data, second.at(0)]).toEqual([true, at])
  expect([...second.rows(0, 1)][TIME]).toBe(120)
})

import { expect, it } from 'vitest'
import { BUCKET_WIDTH, BucketRing, CLOSE, TIME, USD } from '../../services/aggregate/state/bucket-ring.js'
import { BucketRows, reservedRows } from '../../services/aggregate/state/bucket-rows.js'
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
  for (let step = 1; step <= 12_000; step += 1) {
    if (rings.size < 400) rings.set(new BucketRing(space), [])
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
    if (step % 500 === 0) for (const [one, expected] of rings) expect(bucketsOf(one)).toEqual(expected)
  }
  expect(Math.min(...Object.values(steps))).toBeGreaterThan(50)
  expect(Math.max(...[...rings.keys()].map(({ count }) => count)), 'a ring with an array of its own').toBeGreaterThan(
    16,
  )
})

it('never gives out rows that are in use', () => {
  const random = createRandom(23)
  const space = new BucketRows(1)
  const held: { block: number; size: number }[] = []
  let mark = 0
  for (let step = 0; step < 60_000; step += 1) {
    // In turn more are taken than given back, and the other way round.
    if (held.length === 0 || random.chance(step % 20_000 < 12_000 ? 0.7 : 0.3)) {
      const size = reservedRows(random.int(1, 16))
      const block = space.take(size)
      const rows = space.arrayOf(block).subarray(space.firstRow(block), space.firstRow(block) + size)
      expect(rows.length).toBe(size)
      rows.fill(++mark)
      held.push({ block, size })
      marks.set(block, mark)
    } else {
      const [given] = held.splice(random.int(0, held.length - 1), 1)
      if (given !== undefined) expectOwn(space, given)
      if (given !== undefined) space.give(given.block)
    }
  }
  expect(held.length).toBeGreaterThan(1000)
  for (const one of held) expectOwn(space, one)
})

const marks = new Map<number, number>()

function expectOwn(space: BucketRows, { block, size }: { block: number; size: number }): void {
  const first = space.firstRow(block)
  const rows = space.arrayOf(block).subarray(first, first + size)
  if (rows.some((value) => value !== marks.get(block))) expect([...rows]).toEqual(Array(size).fill(marks.get(block)))
}

it('frees the arrays of rings that are gone, while others stay', () => {
  const space = new BucketRows(BUCKET_WIDTH)
  const rings = Array.from({ length: 20_000 }, (_, n) => {
    const ring = new BucketRing(space)
    for (let bucket = 0; bucket <= n % 5; bucket += 1) ring.open(bucket * 60)
    return ring
  })
  const full = space.bytes
  for (const ring of rings.slice(100)) ring.dispose()
  expect(space.bytes).toBeLessThan(full / 20)
  expect(rings.slice(0, 100).map((ring) => ring.count)).toEqual(Array.from({ length: 100 }, (_, n) => (n % 5) + 1))
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

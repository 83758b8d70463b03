/** Reading the end of a long range: the same rows as from all of it, and of dense ones only the last. */
import { expect, it } from 'vitest'
import { readNearRows } from '../../../services/serve/history/near-rows.js'
import { createRandom } from '../../rig/market/random.js'

const ORDERS = ['latest', 'earliest'] as const

/** A store with rows at these times; `spans` are the ranges it was asked for. */
function storeOf(times: readonly number[], order: (typeof ORDERS)[number], limit: number) {
  const spans: [number, number][] = []
  const read = async (fromS: number, toS: number) => {
    spans.push([fromS, toS])
    const found = times.filter((timeS) => timeS >= fromS && timeS <= toS)
    return order === 'latest' ? found.slice(-limit) : found.slice(0, limit)
  }
  return { spans, read }
}

it.each(ORDERS)('%s: the rows of the whole range, however they are spread, in at most three reads', async (order) => {
  const random = createRandom(19)
  for (let round = 0; round < 400; round += 1) {
    const lengthS = 10 ** random.int(3, 8)
    const burstS = random.pick([lengthS, lengthS / 50])
    const times = Array.from({ length: random.int(0, 60) }, () => random.int(0, random.pick([lengthS, burstS]))).sort(
      (a, b) => a - b,
    )
    const [a, b] = [random.int(0, lengthS), random.int(0, lengthS)]
    const fromS = random.pick([0, Math.min(a, b)])
    const toS = random.pick([0xffff_ffff, Math.max(a, b)])
    const limit = random.int(1, 40)
    const { spans, read } = storeOf(times, order, limit)
    // What is known of a pair may be wrong: late blocks, events that are no trades.
    const known = { firstS: random.pick([0, times[0] ?? 0, a]), lastS: random.pick([lengthS, times.at(-1) ?? 0, b]) }
    const rows = await readNearRows(
      { fromS, toS, order, limit, ...known, spacingS: random.pick([0, 1, 60, 1e4]) },
      read,
    )
    expect(rows).toEqual(await storeOf(times, order, limit).read(fromS, toS))
    expect(spans.length).toBeLessThanOrEqual(3)
    for (const [begin, end] of spans) {
      expect(Number.isInteger(begin) && Number.isInteger(end)).toBe(true)
      expect(begin >= fromS && end <= toS).toBe(true)
    }
  }
})

it.each(ORDERS)('%s: a hundredth of a dense year', async (order) => {
  const yearS = 365 * 86_400
  const times = Array.from({ length: yearS / 120 }, (_, n) => n * 120)
  const { spans, read } = storeOf(times, order, 300)
  const span = { firstS: 0, lastS: yearS, spacingS: 60 }
  const toS = yearS / 2
  const fromS = order === 'latest' ? 0 : yearS / 2
  await readNearRows({ fromS, toS: order === 'latest' ? toS : 0xffff_ffff, order, limit: 300, ...span }, read)
  const [[begin, end] = [0, yearS]] = spans
  expect(spans).toHaveLength(1)
  expect((order === 'latest' ? toS - begin : end - fromS) / yearS).toBeLessThan(0.01)
})

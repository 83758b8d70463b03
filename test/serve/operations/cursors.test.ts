/** Histories read page by page, while blocks come and reorgs take some away. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createRandom } from '../../rig/market/random.js'
import { playMarket } from '../push/played-market.js'
import { type Rig, startRig } from '../rig.js'

const CHAIN = 'eth'
const random = createRandom(5)

let rig: Rig
let market: ReturnType<typeof playMarket>
let pair = ''
let token = ''

beforeAll(async () => {
  rig = await startRig({ flush: async () => market.flush() })
  const options = { retracts: { probability: 0.2, maxDepth: 6 }, swapsPerBlock: 8, maxTimeBackS: 0, quietHour: 0.05 }
  market = playMarket(rig, { seed: 3, chain: CHAIN, blocks: 110, options })
  await market.play(60)
  await market.flush()
  await rig.start()
  await served()
  const trades = new Map<string, number>()
  for (const { pairs } of market.updates)
    for (const one of pairs) trades.set(one.pair, (trades.get(one.pair) ?? 0) + one.trades.length)
  const [busiest = ''] = [...trades].sort(([, a], [, b]) => b - a).map(([address]) => address)
  pair = `${busiest}-${CHAIN}`
  const detail = (await (await rig.get(`/v2/pairs/${pair}`)).json()) as { data: { target_token: string } }
  token = `${detail.data.target_token}-${CHAIN}`
}, 60_000)
afterAll(() => rig.stop())

async function served(): Promise<void> {
  await vi.waitFor(async () => {
    const { chains } = await rig.serve.status()
    if (chains[0]?.seq !== market.last.seq) throw new Error('still behind')
  }, 60_000)
}

type Item = { id: string; block_number: number }
type Point = { time: number }
type Page = { txs?: Item[]; points?: Point[]; next_cursor?: string }

async function page(path: string): Promise<Page> {
  const response = await rig.get(path)
  const { data } = (await response.json()) as { data: Page }
  expect([path, response.status]).toEqual([path, 200])
  return data
}

/** Every page from the first on, until there is none or an empty one. `between` runs after each. */
async function readPages(path: string, between = async () => {}): Promise<(Item | Point)[]> {
  const items: (Item | Point)[] = []
  let cursor = ''
  for (;;) {
    const data = await page(`${path}&limit=${random.int(1, 40)}${cursor}`)
    const found = data.points ?? data.txs ?? []
    items.push(...found)
    if (data.next_cursor === undefined) return items
    await between()
    if (found.length === 0 && market.remainingLines === 0) return items
    cursor = `&cursor=${data.next_cursor}`
  }
}

const idsOf = (items: readonly (Item | Point)[]) => items.map((item) => ('id' in item ? item.id : item.time))

describe('pages', () => {
  it('of swaps and liquidity are the whole history, in both orders', async () => {
    for (const kind of ['swap', 'liq']) {
      const whole = (await page(`/v2/txs/${kind}/${pair}?sort=asc&limit=300`)).txs ?? []
      expect([kind, whole.length > 3, whole.length < 300]).toEqual([kind, true, true])
      const backwards = await readPages(`/v2/txs/${kind}/${pair}?sort=desc`)
      expect(idsOf(backwards).reverse()).toEqual(idsOf(whole))
      const forwards: (Item | Point)[] = []
      let next = `&from_time=0&limit=7`
      for (;;) {
        const { txs = [], next_cursor } = await page(`/v2/txs/${kind}/${pair}?sort=asc${next}`)
        if (txs.length === 0) break
        forwards.push(...txs)
        next = `&limit=7&cursor=${next_cursor}`
      }
      expect(idsOf(forwards)).toEqual(idsOf(whole))
    }
  })

  it('of candles are the whole history, in both orders, filled or not', async () => {
    for (const path of [
      `pair/${pair}?interval=1`,
      `token/${token}?interval=5`,
      `pair/${pair}?interval=60&fill=previous`,
    ]) {
      const whole = idsOf((await page(`/v2/klines/${path}&limit=1000`)).points ?? [])
      const chunks: number[][] = []
      let next = ''
      for (;;) {
        const { points = [], next_cursor } = await page(`/v2/klines/${path}&limit=9${next}`)
        chunks.unshift(points.map(({ time }) => time))
        if (next_cursor === undefined) break
        next = `&cursor=${next_cursor}`
      }
      expect([path, chunks.flat()]).toEqual([path, whole])
      const forwards: number[] = []
      next = '&from_time=0'
      for (;;) {
        const { points = [], next_cursor } = await page(`/v2/klines/${path}&limit=9${next}`)
        if (points.length === 0) break
        forwards.push(...points.map(({ time }) => time))
        next = `&cursor=${next_cursor}`
      }
      expect([path, forwards]).toEqual([path, whole])
    }
  })
})

describe('with finalized=true', () => {
  it('pages read while blocks come and go are the final history: nothing twice, nothing orphaned', async () => {
    const play = async () => {
      if (market.remainingLines === 0) return
      await market.play(random.int(4, 24))
      if (random.chance(0.3)) await market.flush()
      await served()
    }
    const swaps = await readPages(`/v2/txs/swap/${pair}?sort=asc&from_time=0&finalized=true`, play)
    expect(market.remainingLines).toBe(0)
    expect(market.updates.some(({ kind }) => kind === 'retract')).toBe(true)
    const { finalized_number: finalized } = market.last
    const whole: (Item | Point)[] = []
    let cursor = ''
    for (;;) {
      const { txs = [], next_cursor } = await page(`/v2/txs/swap/${pair}?sort=desc&limit=300${cursor}`)
      whole.unshift(...txs.reverse())
      if (next_cursor === undefined) break
      cursor = `&cursor=${next_cursor}`
    }
    const final = whole.filter((item) => 'id' in item && item.block_number <= finalized)
    expect(final.length).toBeGreaterThan(50)
    expect(final.length).toBeLessThan(whole.length)
    expect(idsOf(swaps)).toEqual(idsOf(final))
  })

  it('candles are those whose bucket has ended in a final block', async () => {
    const { finalized_number: finalized } = market.last
    const finalS = market.updates.findLast(({ kind, number }) => kind === 'block' && number === finalized)?.now ?? 0
    const all = (await page(`/v2/klines/pair/${pair}?interval=1&limit=1000`)).points ?? []
    const final = (await page(`/v2/klines/pair/${pair}?interval=1&limit=1000&finalized=true`)).points ?? []
    expect(final.length).toBeLessThan(all.length)
    expect(idsOf(final)).toEqual(idsOf(all.filter(({ time }) => time + 60 <= finalS)))
  })
})

it('goes on after the position of an item that a reorg removed', async () => {
  const gone = Buffer.from('e1.asc.1704412800.1.0.0.0').toString('base64url')
  const { txs = [] } = await page(`/v2/txs/swap/${pair}?cursor=${gone}&limit=5`)
  const first = (await page(`/v2/txs/swap/${pair}?from_time=0&limit=5`)).txs ?? []
  expect(idsOf(txs)).toEqual(idsOf(first))
})

it.each([
  ['swap', 'cursor=nonsense', 'cursor_invalid'],
  ['swap', `cursor=${Buffer.from('c1.latest.5').toString('base64url')}`, 'cursor_invalid'],
  ['swap', `sort=desc&cursor=${Buffer.from('e1.asc.5.5.5.5.5').toString('base64url')}`, 'cursor_invalid'],
  ['swap', `after=5-5&cursor=${Buffer.from('e1.asc.5.5.5.5.5').toString('base64url')}`, 'cursor_and_after'],
  ['swap', 'finalized=yes', 'query_invalid'],
])('%s?%s is refused', async (kind, query, code) => {
  const response = await rig.get(`/v2/txs/${kind}/${pair}?${query}`)
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, code])
})

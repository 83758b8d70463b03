/** History from memory equals history from the store alone, byte for byte, through reorgs, flushes and requests in mid-load. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Store } from '../../services/core/store/port.js'
import { countOf, seedOf } from '../rig/counts.js'
import { createRandom, type Random } from '../rig/market/random.js'
import { playMarket } from './push/played-market.js'
import { KEY, openTestStore, type Rig, startRig } from './rig.js'

const CHAIN = 'eth'
const INTERVALS = ['1', '60', '43200', 's1', '5', 'k15', '30', '120', '240', '1440', '10080', '4320']
const BLOCKS = 260
/** Enough that most series stay, too little for all of them: some are evicted and loaded again. */
const HOT_BYTES = 4_000_000
const KEPT = { hotHistoryBytes: HOT_BYTES, answerBytes: 200_000, holdersHoldMs: 0 }
const AT_ONCE = 8

/** The rig's node asks the store alone; the other one keeps history and answers. */
let rig: Rig
let hot: ReturnType<Rig['open']>
let hotPort = 0
let market: ReturnType<typeof playMarket>
const directory = mkdtempSync(join(tmpdir(), 'dextape-hot-'))
const queries = { hot: 0, storeAlone: 0 }
/** Both poll the store's progress. Holders are read on from what changed, here at every request: they have a test of their own. */
const NOT_COUNTED = /progress_rows|holder_rows|boughtRaw/

const counted = (store: Store, by: keyof typeof queries): Store => ({
  ...store,
  query: (sql, params, limits) => {
    if (!NOT_COUNTED.test(sql)) queries[by] += 1
    return store.query(sql, params, limits)
  },
})

beforeAll(async () => {
  const flush = async () => market.flush()
  const store = await openTestStore(directory)
  rig = await startRig({ hotHistoryBytes: 0, answerBytes: 0, flush, store: counted(store, 'storeAlone') })
  const options = { retracts: { probability: 0.08, maxDepth: 6 }, swapsPerBlock: 6, quietHour: 0.02, quietDay: 0.02 }
  market = playMarket(rig, { seed: seedOf('hotRequests'), chain: CHAIN, blocks: BLOCKS, options })
  await market.play(30)
  await rig.start()
  hot = rig.open({ ...KEPT, flush, store: counted(store, 'hot') })
  hotPort = (await hot.start()).httpPort
}, 60_000)
afterAll(async () => {
  await hot?.stop()
  await rig?.stop()
  rmSync(directory, { recursive: true, force: true })
})

it('answers random requests as the store alone would', async () => {
  const random = createRandom(seedOf('hotRequests'))
  const requests = countOf('hotRequests')
  const rounds = Math.ceil(market.remainingLines / 6)
  const perRound = Math.ceil(requests / rounds)
  let asked = 0
  while (asked < requests) {
    const paths = Array.from({ length: perRound }, () => randomPath(random))
    // Loads that these start are still running when the next updates arrive.
    const early = paths.slice(0, 3).map((path) => getHot(path).then((answer) => answer.text()))
    await market.play(random.int(1, 11))
    if (random.chance(0.1)) await market.flush()
    await Promise.all(early)
    await bothServe(market.last.seq)
    for (let at = 0; at < paths.length; at += AT_ONCE) {
      await Promise.all(paths.slice(at, at + AT_ONCE).map(expectSame))
    }
    asked += perRound
  }
  expect(await metric('dextape_serve_hot_history_bytes')).toBeLessThanOrEqual(HOT_BYTES)
  // A series is loaded before it answers anything; the more requests, the fewer queries each.
  expect(queries.hot).toBeLessThan(queries.storeAlone)
  expect(closedAnswers).toBeGreaterThan(0)
  expect(market.updates.some(({ kind }) => kind === 'retract')).toBe(true)
})

async function expectSame(path: string): Promise<void> {
  const [fromMemory, fromStore] = await Promise.all([getHot(path), rig.get(path)])
  expect(await described(fromMemory), path).toEqual(await described(fromStore))
}

const getHot = (path: string) => fetch(`http://127.0.0.1:${hotPort}${path}`, { headers: { 'x-api-key': KEY } })

let closedAnswers = 0

async function described(answer: Response) {
  const headers = ['x-as-of', 'x-reason', 'x-cu-cost', 'etag', 'cache-control'].map((name) => answer.headers.get(name))
  if (answer.headers.get('cache-control')?.includes('max-age')) closedAnswers += 1
  return [answer.status, ...headers, await answer.text()]
}

async function bothServe(seq: number): Promise<void> {
  for (const node of [rig.serve, hot]) {
    await expect
      .poll(async () => (await node.status()).chains.find(({ chain }) => chain === CHAIN)?.seq, { interval: 2 })
      .toBe(seq)
  }
}

async function metric(name: string): Promise<number> {
  const text = await (await getHot('/metrics')).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
}

function randomPath(random: Random): string {
  const pairs = [...new Set(market.updates.flatMap((update) => update.pairs.map(({ pair }) => pair)))]
  const tokens = [...new Set(market.updates.flatMap((update) => update.tokens.map(({ token }) => token)))]
  const pair = `${oftenFirst(random, pairs)}-${CHAIN}`
  const token = `${oftenFirst(random, tokens)}-${CHAIN}`
  const kind = random.int(0, 99)
  if (kind < 45) return `/v2/klines/pair/${pair}?${candleQuery(random)}`
  if (kind < 58) return `/v2/klines/token/${token}?${candleQuery(random)}`
  if (kind < 70) return `/v2/txs/swap/${pair}?${eventQuery(random)}`
  if (kind < 80) return `/v2/txs/liq/${pair}?${eventQuery(random)}&type=${random.pick(['all', 'addLiquidity'])}`
  if (kind < 95) return `/v2/tokens/top100/${token}?limit=${random.pick([1, 7, 100])}`
  return `/v2/tokens/holders/${token}?order=${random.pick(['asc', 'desc'])}`
}

/** Mostly one of the first three: memory answers what was asked for before. */
function oftenFirst<Item>(random: Random, items: readonly Item[]): Item {
  return random.pick(random.chance(0.8) ? items.slice(0, 3) : items)
}

function candleQuery(random: Random): string {
  const query = [`interval=${oftenFirst(random, INTERVALS)}`, `limit=${random.pick([1, 2, 5, 30, 300, 1000])}`]
  query.push(...randomRange(random))
  if (random.chance(0.3)) query.push(`category=${random.pick(['u', 'm', 'r'])}`)
  if (random.chance(0.15)) query.push('fill=previous')
  if (random.chance(0.2)) query.push('open=first')
  return query.join('&')
}

function eventQuery(random: Random): string {
  const query = [
    `limit=${random.pick([1, 3, 20, 300])}`,
    `sort=${random.pick(['asc', 'desc'])}`,
    ...randomRange(random),
  ]
  const ids = market.updates
    .slice(-40)
    .flatMap(({ pairs }) => pairs.flatMap(({ trades }) => trades.map(({ id }) => id)))
  if (random.chance(0.2) && ids.length > 0) query.push(`after=${random.pick(ids)}`)
  return query.join('&')
}

/** Mostly near the end, where memory answers, and around its edge. */
function randomRange(random: Random): string[] {
  const span = random.pick([600, 7_200, 86_400, 400_000])
  const toS = market.last.now - random.int(-60, span)
  const fromS = toS - random.int(0, span)
  const range: string[] = []
  if (random.chance(0.35)) range.push(`from_time=${fromS}`)
  if (random.chance(0.35)) range.push(`to_time=${toS}`)
  return range
}

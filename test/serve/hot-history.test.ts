/** History from memory equals history from the store alone, byte for byte, through reorgs, flushes and requests in mid-load. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { countOf, seedOf } from '../rig/counts.js'
import { createRandom, type Random } from '../rig/market/random.js'
import { playMarket } from './push/played-market.js'
import { KEY, type Rig, startRig } from './rig.js'

const CHAIN = 'eth'
const INTERVALS = ['s1', '1', '5', 'k15', '30', '60', '120', '240', '1440', '10080', '4320', '43200']
const BLOCKS = 260
/** Enough that most series stay, too little for all of them: some are evicted and loaded again. */
const HOT_BYTES = 4_000_000
const AT_ONCE = 8

let rig: Rig
let market: ReturnType<typeof playMarket>
let storeAlone: ReturnType<Rig['open']>
let storeAlonePort = 0

beforeAll(async () => {
  const flush = async () => market.flush()
  rig = await startRig({ hotHistoryBytes: HOT_BYTES, flush })
  const options = { retracts: { probability: 0.08, maxDepth: 6 }, swapsPerBlock: 6, quietHour: 0.02 }
  market = playMarket(rig, { seed: seedOf('hotRequests'), chain: CHAIN, blocks: BLOCKS, options })
  await market.play(30)
  await rig.start()
  storeAlone = rig.open({ hotHistoryBytes: 0, answerBytes: 0, flush })
  storeAlonePort = (await storeAlone.start()).httpPort
}, 60_000)
afterAll(async () => {
  await storeAlone?.stop()
  await rig?.stop()
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
    const early = paths.slice(0, 3).map((path) => rig.get(path).then((answer) => answer.text()))
    await market.play(random.int(1, 11))
    if (random.chance(0.15)) await market.flush()
    await Promise.all(early)
    await bothServe(market.last.seq)
    for (let at = 0; at < paths.length; at += AT_ONCE) {
      await Promise.all(paths.slice(at, at + AT_ONCE).map(expectSame))
    }
    asked += perRound
  }
  expect(await metric('dextape_serve_hot_history_bytes')).toBeLessThanOrEqual(HOT_BYTES)
  expect(market.updates.some(({ kind }) => kind === 'retract')).toBe(true)
}, 120_000)

async function expectSame(path: string): Promise<void> {
  const [hot, cold] = await Promise.all([rig.get(path), getFromStore(path)])
  expect(await described(hot), path).toEqual(await described(cold))
}

const getFromStore = (path: string) =>
  fetch(`http://127.0.0.1:${storeAlonePort}${path}`, { headers: { 'x-api-key': KEY } })

async function described(answer: Response) {
  const headers = ['x-as-of', 'x-reason', 'x-cu-cost'].map((name) => answer.headers.get(name))
  return [answer.status, ...headers, await answer.text()]
}

async function bothServe(seq: number): Promise<void> {
  for (const node of [rig.serve, storeAlone]) {
    await expect
      .poll(async () => (await node.status()).chains.find(({ chain }) => chain === CHAIN)?.seq, { interval: 2 })
      .toBe(seq)
  }
}

async function metric(name: string): Promise<number> {
  const text = await (await rig.get('/metrics')).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
}

function randomPath(random: Random): string {
  const pairs = [...new Set(market.updates.flatMap((update) => update.pairs.map(({ pair }) => pair)))]
  const tokens = [...new Set(market.updates.flatMap((update) => update.tokens.map(({ token }) => token)))]
  const pair = `${random.pick(pairs)}-${CHAIN}`
  const token = `${random.pick(tokens)}-${CHAIN}`
  const kind = random.int(0, 9)
  if (kind <= 4) return `/v2/klines/pair/${pair}?${candleQuery(random)}`
  if (kind <= 6) return `/v2/klines/token/${token}?${candleQuery(random)}`
  if (kind === 7) return `/v2/txs/swap/${pair}?${eventQuery(random)}`
  if (kind === 8)
    return `/v2/txs/liq/${pair}?${eventQuery(random)}&type=${random.pick(['all', 'addLiquidity', 'createPair'])}`
  return `/v2/tokens/top100/${token}?limit=${random.pick([1, 7, 100])}`
}

function candleQuery(random: Random): string {
  const query = [`interval=${random.pick(INTERVALS)}`, `limit=${random.pick([1, 2, 5, 30, 300, 1000])}`]
  query.push(...randomRange(random))
  if (random.chance(0.5)) query.push(`category=${random.pick(['u', 'm', 'r'])}`)
  if (random.chance(0.3)) query.push('fill=previous')
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

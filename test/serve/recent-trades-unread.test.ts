/** Trades are read when a window is asked for. Whether that was after every block or only at the end, the windows are the same. */
import { expect, it } from 'vitest'
import type { BlockUpdate, PairUpdate, Trade } from '../../services/core/domain/records.js'
import { createRecentTrades, type RecentTrades } from '../../services/serve/memory/recent-trades.js'
import { createRandom } from '../rig/market/random.js'
import { pairUpdate, T0, trade, update } from './updates.js'

const PAIRS = ['0xa', '0xb', '0xc']
const SEEDS = 40
const STEPS = 120
const FINALITY = 4

type Prices = Map<string, number>

/** A chain with late blocks, flagged trades, blocks without a good price, reorgs and pauses longer than any window. */
function* updatesOf(seed: number): Generator<BlockUpdate> {
  const source = createRandom(seed)
  const random = () => source.next()
  const below = (limit: number) => Math.floor(random() * limit)
  let chain: { number: number; now: number; prices: Prices; traded: string[] }[] = []
  for (let seq = 1; seq <= STEPS; seq += 1) {
    const head = chain.at(-1) ?? { number: 0, now: T0, prices: new Map(), traded: [] }
    const depth = below(FINALITY)
    if (chain.length > FINALITY && depth > 0 && random() < 0.15) {
      const gone = chain.slice(-depth).flatMap(({ traded }) => traded)
      chain = chain.slice(0, -depth)
      const { number, now } = chain.at(-1) ?? head
      const retracted = [...new Set(gone)].map((pair) => ({ pair, ids: [], gone: false }))
      yield update({
        ...{ seq, kind: 'retract', number, time: now, now, retracted },
        finalized_number: number - FINALITY,
      })
      continue
    }
    const number = head.number + 1
    const now = head.now + (random() < 0.1 ? below(900) : below(40))
    const time = random() < 0.2 ? now - below(200) : now
    const prices = new Map(head.prices)
    const pairs = PAIRS.filter(() => random() < 0.6).map((pair) => entryOf(pair, number, prices, below, random))
    const traded = pairs.map(({ pair }) => pair)
    chain.push({ number, now, prices, traded })
    yield update({ seq, number, time, now, pairs, finalized_number: number - FINALITY })
  }
}

function entryOf(
  pair: string,
  number: number,
  prices: Prices,
  below: (limit: number) => number,
  random: () => number,
): PairUpdate {
  const before = prices.get(pair) ?? Number.NaN
  const trades: Trade[] = Array.from({ length: 1 + below(3) }, (_, index) => {
    const price = 1 + below(3)
    const flags = below(3) === 0 ? 1 : 0
    if (flags === 0) prices.set(pair, price)
    const wallet = `0xw${below(5)}`
    const amount = { amount_in: `${1 + below(9)}000000`, amount_usd: below(5) === 0 ? Number.NaN : random() * 100 }
    return trade({ id: `${number}-${index}`, sell: below(2) === 0, wallet, price_usd: price, flags, ...amount })
  })
  const around = { last_price_usd: before, price_usd: prices.get(pair) ?? Number.NaN }
  return pairUpdate({ pair, trades, ...around })
}

function windowsOf(recent: RecentTrades, now: number, prices: Prices): unknown {
  const resting = (pair: string) => ({ pair, price_usd: prices.get(pair) ?? Number.NaN })
  return [60, 300].map((lengthS) => [
    ...PAIRS.map((pair) => recent.pairWindow(resting(pair), lengthS, now)),
    recent.tokenWindow(PAIRS, resting('0xa'), lengthS, now),
  ])
}

it(`is so for ${SEEDS} chains`, () => {
  let different = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const [asked, resting] = [createRecentTrades(), createRecentTrades()]
    const prices: Prices = new Map()
    let now = T0
    for (const next of updatesOf(seed)) {
      for (const recent of [asked, resting]) recent.apply(next, () => 6)
      for (const { pair, price_usd: price } of next.pairs) prices.set(pair, price)
      now = Math.max(now, next.now)
      windowsOf(asked, now, prices)
      expect(resting.size, `seed ${seed}, trades kept after ${next.seq}`).toBe(asked.size)
    }
    const [often, once] = [windowsOf(asked, now, prices), windowsOf(resting, now, prices)]
    expect(once, `seed ${seed}`).toEqual(often)
    if (JSON.stringify(once).includes('"buys":0') === false) different += 1
  }
  expect(different, 'chains with trades in every window').toBeGreaterThan(0)
})

/** Generated markets of two chains, three in a long run, in one file, played by a real `up`: every number in REST and in the store matches the reference. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../services/core/store/clickhouse-store.js'
import type { Store } from '../../services/core/store/port.js'
import { countOf, isLongRun } from '../rig/counts.js'
import { storeTargetOf } from '../rig/engine.js'
import {
  candleDifferences,
  type Played,
  pairDifferences,
  playedBy,
  quotePriceDifferences,
  tokenDifferences,
} from '../rig/http/against-reference.js'
import { klines } from '../rig/http/ask.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { barsOf, type Category, groupDays, LONG_BUCKETS } from '../rig/http/expected-candles.js'
import { type AskedInterval, type HistoryQuery, historyOf } from '../rig/http/expected-history.js'
import { interleave, writeRecording } from '../rig/http/recording-file.js'
import { startUp, type Up, type UpPlan } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { differences } from '../rig/reference/compare.js'
import { testOperations } from './recording-generated/operations.js'
import { testStoredRows } from './recording-generated/stored-rows.js'
import { someWallets, testWallets } from './recording-generated/wallets.js'

const retracts = { probability: 0.05, maxDepth: 6 }
const ALL: readonly Category[] = ['u', 'm', 'r']
/** A prime, so that every interval, pair and currency is covered. */
const SERIES_EACH = 13
const someOf = (series: number): readonly Category[] =>
  ALL.filter((_, at) => (ALL.length * series + at) % SERIES_EACH < countOf('candleSeries'))

const MARKETS = [
  { seed: 101, chain: 'eth', blocks: isLongRun() ? 150 : 90, options: { retracts }, categories: someOf },
  ...(isLongRun() ? [{ seed: 102, chain: 'solana', blocks: 150, options: { retracts }, categories: someOf }] : []),
  // Covers weeks and months: every third block follows a quiet day.
  {
    ...{ seed: 103, chain: 'calendar', blocks: isLongRun() ? 130 : 80, categories: someOf },
    options: { retracts, quietDay: 0.3 },
  },
]

let up: Up
let plan: UpPlan
const played = new Map<string, Played>()
const playedOn = (chain: string): Played => played.get(chain) as Played

beforeAll(async () => {
  for (const market of MARKETS) {
    played.set(market.chain, playedBy(generateRecording(market), marketMoney(market.chain)))
  }
  const folder = scratchFolder()
  const events = writeRecording(folder, 'three.jsonl', interleave([...played.values()].map(({ lines }) => lines)))
  const chains = MARKETS.map(({ chain }) => marketMoney(chain))
  // The default: no batch is due during the test, so that answers overlay the store with data from memory.
  const intervals = { flush_ms: 30_000, checkpoint_ms: 30_000 }
  plan = { folder, events, chains, settings: { retention: { s1_candles_d: 3650 }, intervals } }
  up = await startUp(plan)
  for (const { chain, lines } of played.values()) await up.applied(chain, lines.length)
})

afterAll(async () => {
  await up.stop()
  removeScratchFolders()
})

describe.each(MARKETS)('seed $seed, $chain', ({ chain, categories }) => {
  test('reports the head and no gaps in /status', async () => {
    const { reference } = playedOn(chain)
    // The thread that folds reports a moment after the update is served.
    const status = await up.until(chain, 'reported', ({ indexed_from: from }) => from !== null)
    expect(status).toMatchObject({
      ...{ head: reference.head?.number, time: reference.head?.time, seq: playedOn(chain).lines.length },
      ...{ indexed_from: reference.blocks[0]?.number, dead_letters: expect.any(Number), gaps: 0, last_gap: null },
      ...{ stopped: null, source: 'three.jsonl', epoch: 1 },
    })
  })

  test('matches the reference for every pair', async () =>
    expect(await pairDifferences(up, playedOn(chain))).toEqual([]))

  test('returns the quote’s price in every pair', async () =>
    expect(await quotePriceDifferences(up, playedOn(chain))).toEqual([]))

  test('matches the reference for every token', async () =>
    expect(await tokenDifferences(up, playedOn(chain))).toEqual([]))

  test('matches the reference for every candle of every interval', async () =>
    expect(await candleDifferences(up, playedOn(chain), categories)).toEqual([]))

  // The third market trades too rarely for lists of the last day.
  if (chain !== 'calendar') {
    testOperations(
      chain,
      () => up,
      () => playedOn(chain),
    )
    testWallets(
      chain,
      () => up,
      () => playedOn(chain),
    )
  }
})

describe('history queries', () => {
  const chain = 'calendar'

  /** The most traded pair, except the one priced by definition, with its bars of any interval. */
  function busiest() {
    const { reference } = playedOn(chain)
    const [[pair] = ['']] = [...reference.pairs].sort(([, a], [, b]) => b.tx_count - a.tx_count)
    const bars = barsOf(reference)
    const of = (interval: AskedInterval) =>
      interval in LONG_BUCKETS
        ? groupDays(bars.of(pair, 'k1440', 'u'), LONG_BUCKETS[interval as keyof typeof LONG_BUCKETS])
        : bars.of(pair, interval as Exclude<AskedInterval, keyof typeof LONG_BUCKETS>, 'u')
    return { pair, of, now: reference.now }
  }

  const INTERVALS_ASKED: AskedInterval[] = ['k15', 'k240', 'k1440', 'k10080', '4320', '43200']
  const cases = INTERVALS_ASKED.flatMap((interval) =>
    [{}, { open: 'first' as const }, { fill: 'previous' as const }].map((extra) => ({ interval, extra })),
  )

  test.each(cases)('returns ranges of $interval with $extra', async ({ interval, extra }) => {
    const { pair, of, now } = busiest()
    const bars = of(interval)
    const [first, middle, last] = [bars[0], bars[Math.floor(bars.length / 2)], bars.at(-1)].map((bar) => bar?.time ?? 0)
    const queries: HistoryQuery[] = [
      { limit: 1000 },
      { limit: 3 },
      { limit: 5, from_time: middle ?? 0 },
      { limit: 5, from_time: (middle ?? 0) + 1 },
      { limit: 1000, from_time: (first ?? 0) + 1, to_time: (last ?? 0) - 1 },
      { limit: 2, from_time: first ?? 0, to_time: middle ?? 0 },
      { limit: 4, to_time: middle ?? 0 },
      { limit: 4, to_time: (first ?? 0) - 1 },
      { limit: 4, from_time: now + 1 },
    ]
    for (const query of queries) {
      const asked = { ...query, ...extra }
      const got = await klines(up, `${pair}-${chain}`, { interval, ...asked })
      expect(differences(got, historyOf(bars, interval, now, asked), JSON.stringify(asked))).toEqual([])
    }
  })

  test('starts a filled range at the first candle, not before', async () => {
    const { pair, of, now } = busiest()
    const asked = { limit: 5, from_time: 0, fill: 'previous' as const }
    const got = await klines(up, `${pair}-${chain}`, { interval: 'k60', ...asked })
    expect(differences(got, historyOf(of('k60'), 'k60', now, asked))).toEqual([])
  })
})

describe('unknown ids', () => {
  const nobody = `0x${'9'.repeat(40)}`

  test('answers for an unknown pair', async () => {
    const detail = await up.get(`/v2/pairs/${nobody}-eth`)
    expect(detail).toMatchObject({ status: 200, body: { status: 1, msg: 'pair not found', data_type: 1, data: null } })
    expect(detail.headers.get('x-reason')).toBe('unknown_pair')
    const history = await up.get(`/v2/klines/pair/${nobody}-eth?interval=1`)
    expect(history.headers.get('x-reason')).toBe('unknown_pair')
    expect(history.body).toEqual({
      ...{ status: 1, msg: 'pair not found', data_type: 1 },
      data: {
        ...{ pair_id: `${nobody}-eth`, interval: 1, limit: 300, to_time: playedOn('eth').reference.now },
        ...{ total_count: 0, target_token_id: '', points: [] },
      },
    })
  })

  test('answers for unknown tokens, alone and among known ones', async () => {
    const alone = await up.post('/v2/tokens/price', { token_ids: [`${nobody}-eth`] })
    expect(alone).toMatchObject({ status: 200, body: { status: 1, msg: 'token not found', data_type: 1, data: {} } })
    expect(alone.headers.get('x-reason')).toBe('unknown_token')
    const searched = await up.post('/v2/tokens/search', { token_ids: [`${nobody}-eth`] })
    expect(searched).toMatchObject({ status: 200, body: { msg: 'token not found', data: [] } })
    const native = `${marketMoney('eth').native}-eth`
    const both = await up.post('/v2/tokens/price', { token_ids: [`${nobody}-eth`, native], tvl_min: 0 })
    expect(both).toMatchObject({ status: 200, body: { msg: 'SUCCESS', data: { [native]: { token_id: native } } } })
    expect(both.headers.get('x-reason')).toBeNull()
  })

  test('answers for a chain that is not indexed', async () => {
    const detail = `Chain "mars" is not indexed. Indexed chains: ${[...played.keys()].sort().join(', ')}.`
    const problem = { status: 400, code: 'chain_unknown', detail, msg: detail }
    for (const path of [`/v2/pairs/${nobody}-mars`, `/v2/klines/pair/${nobody}-mars?interval=1`]) {
      expect(await up.get(path)).toMatchObject({ status: 400, body: problem })
    }
    expect(await up.post('/v2/tokens/search', { token_ids: [`${nobody}-mars`] })).toMatchObject({ body: problem })
  })
})

describe('after a stop', () => {
  let store: Store
  let before: [path: string, body: unknown][]

  const chains = MARKETS.map(({ chain }) => chain).filter((chain) => chain !== 'calendar')
  const paths = (): string[] =>
    chains.flatMap((chain) => {
      const { reference } = playedOn(chain)
      const [token = ''] = [...reference.tokens].sort(([, a], [, b]) => b.holders - a.holders)[0] ?? []
      const [pair = ''] = [...reference.pairs].sort(([, a], [, b]) => b.tx_count - a.tx_count)[0] ?? []
      return [
        ...[`/v2/tokens/trending?chain=${chain}`, `/v2/tokens/main?chain=${chain}`, `/v2/tokens/${token}-${chain}`],
        ...[`/v2/contracts/${token}-${chain}`, `/v2/tokens/top100/${token}-${chain}`, `/v2/txs/${pair}-${chain}`],
        ...[`/v2/txs/liq/${pair}-${chain}`, `/v2/klines/token/${token}-${chain}?interval=15`],
        '/v2/tokens/platform?tag=meme',
        ...someWallets(reference).flatMap((wallet) => [
          `/v2/address/tx?wallet_address=${wallet}&chain=${chain}&from_time=0`,
          `/v2/address/walletinfo/tokens?wallet_address=${wallet}&chain=${chain}`,
        ]),
      ]
    })
  const answers = async (): Promise<[path: string, body: unknown][]> => {
    const all: [string, unknown][] = []
    for (const path of paths()) all.push([path, (await up.get(path)).body])
    return all
  }

  // No batch was due: what was folded must be in the store after the exit.
  beforeAll(async () => {
    before = await answers()
    const { code, err } = await up.stop()
    if (code !== 0) throw new Error(`up ended with ${code}: ${err}`)
    store = await openStore(storeTargetOf(up.dataDir))
  })

  describe.each(chains)('the store has what was played of %s', (chain) =>
    testStoredRows(
      chain,
      () => store,
      () => playedOn(chain).reference,
    ),
  )

  test('the next start gives the same answers', async () => {
    await store.close()
    up = await startUp(plan)
    for (const { chain, lines } of played.values()) await up.applied(chain, lines.length)
    expect(await answers()).toEqual(before)
  })
})

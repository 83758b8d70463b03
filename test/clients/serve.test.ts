/** The clients against a real serving node: what they deliver is what a listener that never lost its connection was sent. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createClient } from '../../clients/typescript/src/index.js'
import { repositoryRoot } from '../../schemas/avro.js'
import { hashKey } from '../../services/core/keys/key-store.js'
import type { Serve } from '../../services/serve/main.js'
import {
  BOTH,
  COLLECTORS,
  type Collected,
  type Collector,
  type CollectorKind,
  collectAll,
  type PlannedSubscription,
  runPython,
  swapIdsOf,
} from '../rig/clients/collectors.js'
import { countOf, seedOf } from '../rig/counts.js'
import { createRandom } from '../rig/market/random.js'
import { type Client, connect, type Frame } from '../serve/push-client.js'
import { KEY, keyRecord } from '../serve/rig.js'
import { BEFORE_GAP, KEEP_ALL, KEEP_LITTLE, type MarketNode, OPENING, openMarketNode, PATIENCE } from './market-node.js'

const REVOCABLE = 'dx_revocable'
const MAX_QUEUED = 20
const KINDS = Object.keys(COLLECTORS) as CollectorKind[]
const random = createRandom(seedOf('clientRestarts'))

let served: MarketNode
let url: string
let pairs: string[]
let token: string

beforeAll(async () => {
  served = await openMarketNode()
  ;({ url, pairs, token } = served)
  served.rig.keys.set(hashKey(REVOCABLE), keyRecord({ id: 'k2' }))
})
afterAll(() => served.rig.stop())

describe('through restarts of the server, and with a consumer that stops reading', () => {
  let sent: Record<string, Record<string, unknown>[]>
  let collectors: Map<CollectorKind, Collector>
  let subscriptions: Record<string, PlannedSubscription>

  beforeAll(async () => {
    const [one = '', two = ''] = pairs
    subscriptions = {
      tx: { params: ['tx', one, 'eth'] },
      multi_tx: { params: ['multi_tx', token, 'eth'] },
      liq: { params: ['liq', '*', 'eth'] },
      kline: { params: ['kline', one, 'k1', 'eth'] },
      multi_kline: { params: ['multi_kline', [one, 'k5', 'eth'], [two, 's1', 'eth']] },
      price: { params: ['price', [`${one}-eth`, `${token}-eth`, `${two}-eth`]] },
      all: { params: ['tx', '*', 'eth'] },
      // The same params once more: the server would take them for one subscription on one socket.
      slow: { params: ['tx', '*', 'eth'], options: { maxQueued: MAX_QUEUED }, hold: true },
    }
    const steady = served.rig.open()
    const { wsPort } = await steady.start()
    let node = await served.start(KEEP_ALL)
    await served.caughtUp(steady)
    collectors = await collectAll({ url, key: KEY, subscriptions }, KINDS)
    const listener = await connect(`ws://127.0.0.1:${wsPort}`)
    const names = Object.keys(subscriptions).filter((name) => name !== 'slow')
    for (const name of names) await listener.call('subscribe', subscriptions[name]?.params, name)
    await everyone(({ started }) => started !== undefined)
    const restarts = countOf('clientRestarts')
    const linesPerRestart = Math.floor((BEFORE_GAP - OPENING) / restarts)
    for (let restart = 0; restart < restarts; restart += 1) {
      const before = random.int(0, linesPerRestart)
      await served.market.play(before)
      await node.stop()
      await served.market.play(linesPerRestart - before)
      node = await served.start(KEEP_ALL)
    }
    await served.caughtUp(steady)
    await listener.settle()
    sent = sentTo(listener, names)
    sent.slow = sent.all ?? []
    await vi.waitFor(() => {
      for (const kind of BOTH)
        if (collectors.get(kind)?.of('slow').paused === undefined) throw new Error(`${kind} is not paused`)
    }, PATIENCE)
    for (const collector of collectors.values()) collector.go()
    await everyone(({ items }, name) => items.length >= (sent[name]?.length ?? 0))
    listener.close()
    for (const collector of collectors.values()) await collector.close()
    await Promise.all([node.stop(), steady.stop()])
  })

  async function everyone(isDone: (collected: Collected, name: string) => boolean): Promise<void> {
    await vi.waitFor(() => {
      const waiting = [...collectors].flatMap(([kind, collector]) =>
        namesOf(kind)
          .filter((name) => !isDone(collector.of(name), name))
          .map((name) => `${kind} ${name}`),
      )
      if (waiting.length > 0) throw new Error(`waiting for ${waiting.join(', ')}`)
    }, PATIENCE)
  }
  const namesOf = (kind: CollectorKind) => (kind === 'python sync' ? ['tx'] : Object.keys(subscriptions))

  it.each(KINDS)('%s delivers every push once and in order', (kind) => {
    for (const name of namesOf(kind)) {
      const { items } = collectors.get(kind)?.of(name) ?? { items: [] }
      // Candles that closed during the restart may have other 24 h figures: docs/protocol.md.
      const facts = name === 'kline' || name === 'multi_kline' ? positions : (all: unknown) => all
      expect(facts(items), name).toEqual(facts(sent[name] ?? []))
    }
    expect(sent.tx?.filter(({ topic }) => topic === 'tx').length).toBeGreaterThan(5)
    expect(sent.all?.filter(({ topic }) => topic === 'retract').length).toBeGreaterThan(0)
  })

  it.each(BOTH)('%s queues no more than it may, and says where it is', (kind) => {
    const { paused, cursor, ended } = collectors.get(kind)?.of('slow') ?? {}
    // One less where the queue was full before the first item was read.
    expect([MAX_QUEUED - 1, MAX_QUEUED]).toContain(paused)
    expect(sent.slow?.length).toBeGreaterThan(3 * MAX_QUEUED)
    expect(cursor).toEqual([sent.slow?.at(-1)?.cursor])
    expect(ended).toBe(true)
  })
})

describe('after a gap with a reorg in it', () => {
  const id = () => `${pairs[0]}-eth`

  it('the delivered swaps are those of REST, each once; candles and prices are refilled', async () => {
    let node = await served.start(KEEP_LITTLE)
    const [one = '', two = ''] = pairs
    const collectors = await collectAll({
      url,
      key: KEY,
      subscriptions: {
        tx: { params: ['tx', one, 'eth'] },
        kline: { params: ['multi_kline', [one, 'k1', 'eth'], [two, 'k1', 'eth']] },
        price: { params: ['price', [id(), `${token}-eth`]] },
        chain: { params: ['tx', '*', 'eth'] },
        asked: { params: ['liq', one, 'eth'], options: { refill: false } },
      },
    })
    onTestFinished(async () => {
      for (const collector of collectors.values()) await collector.close()
      await node.stop()
    })
    const settled = async () => {
      const [last] = (await swapsOf(id())).slice(-1)
      await vi.waitFor(() => {
        for (const [kind, collector] of collectors)
          if (lastIdOf(collector.of('tx').items) !== last?.id) throw new Error(`${kind} has not delivered ${last?.id}`)
      }, PATIENCE)
    }
    await vi.waitFor(() => {
      for (const collector of collectors.values()) if (!collector.of('tx').started) throw new Error('not started')
    }, PATIENCE)
    await served.playToReorg()
    await served.caughtUp(node)
    await served.market.flush()
    await settled()
    await node.stop()
    await served.market.play(13)
    await served.market.flush()
    node = await served.start(KEEP_LITTLE)
    await settled()
    await served.market.play(3)
    await served.caughtUp(node)
    await served.market.flush()
    await settled()
    const expected = (await swapsOf(id())).map((swap) => swap.id)
    for (const [kind, collector] of collectors) {
      const ids = swapIdsOf(collector.of('tx').items)
      expect(ids.length, kind).toBeGreaterThan(5)
      expect(ids, kind).toEqual(expected.slice(expected.indexOf(ids[0] ?? '')))
      const refills = collector.of('tx').items.filter(({ topic }) => topic === 'refill')
      expect(refills.flatMap(({ retracted }) => retracted as string[]).length, kind).toBeGreaterThan(0)
      const refilled = (name: string) =>
        collector
          .of(name)
          .items.filter(({ topic }) => topic === 'refill')
          .map((item) => `${item.of} ${item.id}`)
      expect(refilled('kline').sort(), kind).toEqual([one, two].map((pair) => `candles ${pair}-eth`).sort())
      expect(refilled('price').sort(), kind).toEqual([`pair ${id()}`, `token ${token}-eth`].sort())
      const gapsOf = (name: string) => collector.of(name).items.filter(({ topic }) => topic === 'gap')
      expect(gapsOf('chain'), kind).toMatchObject([{ chain: 'eth', refill: null }])
      expect(gapsOf('asked'), kind).toMatchObject([{ refill: expect.stringContaining(`/v2/txs/liq/${id()}?`) }])
    }
  })

  async function swapsOf(pairId: string): Promise<{ id: string }[]> {
    const swaps: { id: string }[] = []
    for (;;) {
      const after = swaps.length === 0 ? 'from_time=0' : `after=${encodeURIComponent(swaps.at(-1)?.id ?? '')}`
      const answer = await fetch(`${url}/v2/txs/swap/${pairId}?limit=300&${after}`, { headers: { 'x-api-key': KEY } })
      const { data } = (await answer.json()) as { data: { txs: { id: string }[] } }
      swaps.push(...data.txs)
      if (data.txs.length < 300) return swaps
    }
  }
})

describe('a key', () => {
  let node: Serve
  beforeAll(async () => {
    node = await served.start(KEEP_LITTLE)
  })
  afterAll(() => node.stop())

  it.each(['typescript', 'python sync'] as const)('that is wrong ends %s with what to do', async (kind) => {
    const collector = await COLLECTORS[kind]({
      ...{ url, key: 'dx_wrong' },
      subscriptions: { tx: { params: ['tx', pairs[0] ?? '', 'eth'] } },
    })
    await vi.waitFor(() => expect(collector.of('tx').failure).toBeDefined(), PATIENCE)
    expect(collector.of('tx').failure).toMatchObject({ code: 'key_invalid', status: 401 })
    expect(collector.of('tx').failure?.action).toContain('dextape keys create')
    await collector.close()
  })

  it('that is revoked ends every subscription', async () => {
    const collectors = await collectAll({
      url,
      key: REVOCABLE,
      subscriptions: {
        tx: { params: ['tx', pairs[0] ?? '', 'eth'] },
        price: { params: ['price', [`${token}-eth`]] },
      },
    })
    await vi.waitFor(() => {
      for (const collector of collectors.values()) expect(collector.of('tx').started).toBeDefined()
    }, PATIENCE)
    served.rig.keys.set(hashKey(REVOCABLE), keyRecord({ id: 'k2', revokedAtMs: Date.now() }))
    await vi.waitFor(() => {
      for (const [kind, collector] of collectors)
        for (const name of ['tx', 'price'])
          expect(collector.of(name).failure, kind).toMatchObject({ code: 'key_invalid', status: 401 })
    }, PATIENCE)
    for (const collector of collectors.values()) await collector.close()
  })
})

describe('REST', () => {
  let node: Serve
  beforeAll(async () => {
    node = await served.start(KEEP_LITTLE)
  })
  afterAll(() => node.stop())

  const LINES = 'SELECT arrayJoin([1, 2]) AS one'
  const client = () => createClient({ url, key: KEY })
  const id = () => `${pairs[0]}-eth`
  async function answerOf(path: string, body?: unknown): Promise<unknown> {
    const headers = { 'x-api-key': KEY, 'x-envelope': 'always', 'content-type': 'application/json' }
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    return ((await (await fetch(`${url}${path}`, init)).json()) as { data: unknown }).data
  }

  it('has a typed method for each kind of operation, with the data of its answer', async () => {
    const { klinesPair, txsSwap, tokensPrice, tokensKeyword, tokenDetail, supportedChains, call } = client()
    const candles = await klinesPair({ pair_id: id(), interval: 's1', limit: 5 })
    expect(candles.points.length).toBe(5)
    expect(candles).toEqual(await answerOf(`/v2/klines/pair/${id()}?interval=s1&limit=5`))
    expect(await txsSwap({ pair_id: id(), limit: 3 })).toEqual(await answerOf(`/v2/txs/swap/${id()}?limit=3`))
    const body = { token_ids: [`${token}-eth`], tvl_min: 0 }
    expect(await tokensPrice(body)).toEqual(await answerOf('/v2/tokens/price', body))
    expect(await tokensKeyword({ keyword: token })).toEqual(await answerOf(`/v2/tokens?keyword=${token}`))
    expect(await supportedChains()).toEqual(await answerOf('/v2/supported_chains'))
    const unknown = `0x${'99'.repeat(20)}-eth`
    expect(await tokenDetail({ token_id: unknown })).toBeNull()
    expect(await call('tokenDetail', { token_id: unknown })).toMatchObject({ data: null, reason: 'unknown_token' })
  })

  it('returns JSON lines as they came, not parsed', async () => {
    const file = await client().exportFile({ query: LINES, format: 'jsonl' })
    expect(Buffer.from(file).toString()).toBe('{"one":1}\n{"one":2}\n')
  })

  it('fails with a code, the reason and what to do', async () => {
    const wrong = client().pairDetail({ pair_id: 'nonsense-eth' })
    await expect(wrong).rejects.toMatchObject({ code: 'id_malformed', status: 400, isRetryable: false })
    const nobody = createClient({ url: 'http://127.0.0.1:1', key: KEY }).supportedChains()
    await expect(nobody).rejects.toMatchObject({ code: 'unreachable', isRetryable: true })
    await expect(nobody).rejects.toThrow('Check `url` and that the server is running.')
  })

  it('is the same in Python, and candles are frames', async () => {
    const plan = {
      ...{ url, key: KEY },
      calls: [
        ['klines_pair', { pair_id: id(), interval: 's1', limit: 5 }],
        ['tokens_price', { token_ids: [`${token}-eth`], tvl_min: 0 }],
        ['pair_detail', { pair_id: 'nonsense-eth' }],
        ['export_file', { query: LINES, format: 'jsonl' }],
      ],
    }
    const { answers, frame } = await runPython('call.py', plan)
    const candles = await client().klinesPair({ pair_id: id(), interval: 's1', limit: 5 })
    expect(answers).toEqual([
      { data: candles },
      { data: await client().tokensPrice({ token_ids: [`${token}-eth`], tvl_min: 0 }) },
      { error: { code: 'id_malformed', status: 400, action: 'Correct the request.' } },
      { data: '{"one":1}\n{"one":2}\n' },
    ])
    const time = candles.points.map((point) => point.time)
    const close = candles.points.map((point) => Number(point.close))
    expect(frame).toEqual({
      columns: ['open', 'high', 'low', 'close', 'volume', 'time'],
      pandas: { time, close, dtype: 'float64' },
      polars: { time, close, dtype: 'Float64' },
    })
  })
})

it('runs examples/candles.ipynb: its candles and flows are those of REST', async () => {
  const node = await served.start(KEEP_LITTLE)
  onTestFinished(() => node.stop())
  const figures = {
    pair: 'pair_id',
    closes: 'candles["close"].tolist()',
    equity: 'equity.iloc[-1]',
    swaps: 'swaps["id"].tolist()',
    netUsd: 'flows["net_usd"].sum()',
  }
  const notebook = join(repositoryRoot(), 'examples/candles.ipynb')
  const got = await runPython('run_notebook.py', { notebook, figures }, { DEXTAPE_URL: url, DEXTAPE_API_KEY: KEY })
  const client = createClient({ url, key: KEY })
  const pair_id = String(got.pair)
  const { points } = await client.klinesPair({ pair_id, interval: '1', limit: 1000, fill: 'previous' })
  const { txs } = await client.txsSwap({ pair_id, from_time: points[0]?.time, limit: 300 })
  const [token] = (await client.tokensTrending({ chain: 'eth', page_size: 1 })).tokens
  const signed = txs.map((swap) => Number(swap.amount_usd) * (swap.to_token_address === token?.token ? 1 : -1))
  const netUsd = signed.reduce((sum, usd) => sum + usd, 0)
  expect(txs.length).toBeGreaterThan(5)
  expect(got).toMatchObject({
    closes: points.map(({ close }) => Number(close)),
    equity: expect.any(Number),
    swaps: txs.map(({ id }) => id),
    netUsd: expect.closeTo(netUsd, 6),
  })
})

function sentTo({ frames }: Client, names: readonly string[]): Record<string, Record<string, unknown>[]> {
  const resultsOf = (name: string) =>
    frames.flatMap(({ id, result }: Frame) =>
      id === name && typeof result?.cursor === 'string' ? [asItem(result)] : [],
    )
  return Object.fromEntries(names.map((name) => [name, resultsOf(name)]))
}

/** The main-pair switch has no topic on the wire. */
function asItem(result: Record<string, unknown>): Record<string, unknown> {
  if (result.topic !== undefined) return result
  return { ...(result.data as object), topic: 'switch_main_pair', cursor: result.cursor }
}

const positions = (items: readonly Record<string, unknown>[]): unknown =>
  items.map(({ topic, id, cursor, interval }) => ({ topic, id, cursor, interval }))

const lastIdOf = (items: Collected['items']): string | undefined => swapIdsOf(items).at(-1)

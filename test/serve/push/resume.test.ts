/** A client that resumes from its last cursor gets exactly the pushes that a connected client got. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Serve } from '../../../services/serve/main.js'
import { createRandom } from '../../rig/market/random.js'
import { type Client, connect, type Frame } from '../push-client.js'
import { type Rig, startRig } from '../rig.js'
import { undeclared, undeclaredParams } from './declared.js'
import { playMarket } from './played-market.js'

const SEED = 20_261
const random = createRandom(SEED)
const plan = {
  ...{ seed: SEED, chain: 'eth', blocks: 150 },
  options: {
    ...{ secondsPerBlock: 3, swapsPerBlock: 5, quietHour: 0, quietDay: 0, maxTimeBackS: 20 },
    retracts: { probability: 0.12, maxDepth: 4 },
  },
}
const KEEP_ALL = { ringSeconds: 1_000_000, ringBytes: 1_000_000_000 }

let rig: Rig
/** Serves from the first line to the last without a restart. */
let steady: Serve
let steadyUrl: string
let steadyPorts: { httpPort: number; wsPort: number }
let market: ReturnType<typeof playMarket>
let listener: Client
let subscriptions: unknown[][]

const isPush = ({ result }: Frame): boolean => typeof result?.cursor === 'string'
/** Pushes of a subscription in order, without their `sent_time`. */
const pushesOf = (client: Client, id: number): string[] =>
  client.frames.filter((frame) => frame.id === id && isPush(frame)).map(({ result }) => JSON.stringify(result))
const cursorOf = (push: string): string => (JSON.parse(push) as { cursor: string }).cursor

function isAfter(cursor: string, other: string): boolean {
  const [seq = 0, n = 0] = cursor.split(':').slice(2).map(Number)
  const [otherSeq = 0, otherN = 0] = other.split(':').slice(2).map(Number)
  return seq > otherSeq || (seq === otherSeq && n > otherN)
}

async function caughtUp(serve: Serve): Promise<void> {
  await vi.waitFor(async () => {
    const [state] = (await serve.status()).chains
    if (state?.seq !== market.last.seq) throw new Error(`served: ${JSON.stringify(state)}`)
  }, 10_000)
}

/** Subscriptions to every topic, for the busiest pairs and tokens. */
function everything(): unknown[][] {
  const swaps = new Map<string, number>()
  for (const { pairs } of market.updates) {
    for (const { pair, trades } of pairs) swaps.set(pair, (swaps.get(pair) ?? 0) + trades.length)
  }
  const pairs = [...swaps].sort(([, a], [, b]) => b - a).map(([pair]) => pair)
  const [one = '', two = '', three = ''] = pairs
  const infos = new Map(
    market.updates.flatMap(({ pairs: updated }) => updated.flatMap((p) => (p.info ? [[p.pair, p.info]] : []))),
  )
  const { token0 = '', token1 = '' } = infos.get(one) ?? {}
  return [
    ...[one, two].map((pair) => ['tx', pair, 'eth']),
    ...[token0, token1].map((token) => ['multi_tx', token, 'eth']),
    ...pairs.slice(0, 4).map((pair) => ['liq', pair, 'eth']),
    ['kline', one, 's1', 'eth'],
    ['kline', two, 'k5', 'eth'],
    ['multi_kline', [one, 'k1', 'eth'], [one, 's1', 'eth'], [two, 'k1', 'eth'], [three, 'k60', 'eth']],
    ['price', [`${one}-eth`, `${token0}-eth`, `${token1}-eth`, `${two}-eth`]],
    ...['tx', 'liq'].map((topic) => [topic, '*', 'eth']),
    ['kline', '*', 'k1', 'eth'],
    ['price', ['*-eth']],
  ]
}

/** Waits until every subscription has what it missed. */
async function replayed({ httpPort }: { httpPort: number }, client: Client): Promise<void> {
  await vi.waitFor(
    async () => {
      const text = await (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text()
      if (!text.includes('\ndextape_serve_catching_up 0\n')) throw new Error('a subscription is catching up')
    },
    { timeout: 20_000, interval: 5 },
  )
  await client.settle()
}

async function resume(url: string, id: number, since: string): Promise<Client> {
  const client = await connect(url)
  await client.call('subscribe', [...(subscriptions[id] ?? []), { since }], id)
  return client
}

beforeAll(async () => {
  rig = await startRig({ push: KEEP_ALL })
  market = playMarket(rig, plan)
  steady = rig.open()
  steadyPorts = await steady.start()
  steadyUrl = `ws://127.0.0.1:${steadyPorts.wsPort}`
  await market.play(25)
  await caughtUp(steady)
  subscriptions = everything()
  listener = await connect(steadyUrl)
  for (const [id, params] of subscriptions.entries()) await listener.call('subscribe', params, id)
}, 60_000)
afterAll(async () => {
  listener.close()
  await steady.stop()
  await rig.stop()
})

describe('a resumed subscription', () => {
  it('switches from replay to live without gaps or duplicates, while updates arrive', async () => {
    const joined: { id: number; from: string; client: Client }[] = []
    while (market.remainingLines > 60) {
      await market.play(random.int(1, 4))
      const id = random.int(0, subscriptions.length - 1)
      const sent = pushesOf(listener, id)
      if (sent.length === 0) continue
      const from = cursorOf(random.pick(sent))
      joined.push({ id, from, client: await resume(steadyUrl, id, from) })
    }
    await caughtUp(steady)
    await listener.settle()
    expect(joined.length).toBeGreaterThan(15)
    for (const { id, from, client } of joined) {
      await replayed(steadyPorts, client)
      const sent = pushesOf(listener, id)
      expect(pushesOf(client, id), JSON.stringify([subscriptions[id], from])).toEqual(
        sent.slice(sent.findIndex((push) => cursorOf(push) === from) + 1),
      )
      client.close()
    }
  })
})

describe('after a restart', () => {
  beforeAll(async () => {
    await market.play(20)
    await market.flush()
    await market.play(12)
    await rig.start()
    await caughtUp(rig.serve)
    await market.play(8)
    await caughtUp(rig.serve)
    await caughtUp(steady)
    await listener.settle()
  })

  it('replays the same pushes from any cursor on a node started from the store', async () => {
    for (const id of subscriptions.keys()) {
      const sent = pushesOf(listener, id)
      for (const at of [0, sent.length - 1, random.int(0, sent.length), random.int(0, sent.length)]) {
        const push = sent[at]
        if (push === undefined) continue
        const client = await resume(rig.wsUrl, id, cursorOf(push))
        await replayed(rig.ports, client)
        expect(client.frames.filter(({ result }) => result?.topic === 'gap')).toEqual([])
        expect(pushesOf(client, id), JSON.stringify([subscriptions[id], cursorOf(push)])).toEqual(sent.slice(at + 1))
        client.close()
      }
    }
  })

  it('sends a gap notice for pushes older than a short ring, then replays the rest', async () => {
    const short = rig.open({ push: { ringSeconds: 90 } })
    const ports = await short.start()
    await caughtUp(short)
    const missed = subscriptions.map(() => 0)
    for (const id of subscriptions.keys()) {
      const sent = pushesOf(listener, id)
      const from = '1:eth:25:0'
      const client = await resume(`ws://127.0.0.1:${ports.wsPort}`, id, from)
      await replayed(ports, client)
      const gaps = client.frames.filter(({ result }) => result?.topic === 'gap')
      const to = String(gaps[0]?.result?.to)
      expect(gaps.length).toBeGreaterThan(0)
      for (const { result } of gaps) expect(result).toMatchObject({ subscription: id, chain: 'eth', from, to })
      const after = sent.filter((push) => isAfter(cursorOf(push), to))
      expect(pushesOf(client, id), JSON.stringify([subscriptions[id], from])).toEqual(after)
      missed[id] = sent.length - after.length
      client.close()
    }
    expect(missed.filter((count) => count > 0).length).toBeGreaterThan(5)
    await short.stop()
  })

  it('knows the open candles of idle pairs with an almost empty ring', async () => {
    const short = rig.open({ push: { ringSeconds: 1 } })
    const { wsPort } = await short.start()
    await caughtUp(short)
    const pairs = [...new Set(market.updates.flatMap((update) => update.pairs.map(({ pair }) => pair)))]
    const series = pairs.flatMap((pair) => ['k60', 'k1440', 'k10080'].map((interval) => [pair, interval, 'eth']))
    const snapshots: string[][] = []
    for (const url of [steadyUrl, `ws://127.0.0.1:${wsPort}`]) {
      const client = await connect(url)
      await client.call('subscribe', ['multi_kline', ...series, { snapshot: true }], 1)
      await client.settle()
      snapshots.push(pushesOf(client, 1))
      client.close()
    }
    expect(snapshots[0]?.length).toBeGreaterThan(20)
    expect(snapshots[1]).toEqual(snapshots[0])
    await short.stop()
  })

  it('sends the same live pushes from both nodes', async () => {
    const client = await connect(rig.wsUrl)
    for (const [id, params] of subscriptions.entries()) await client.call('subscribe', params, id)
    const before = subscriptions.map((_, id) => pushesOf(listener, id).length)
    await market.play(market.remainingLines)
    await Promise.all([caughtUp(rig.serve), caughtUp(steady)])
    await Promise.all([client.settle(), listener.settle()])
    for (const id of subscriptions.keys()) {
      expect(pushesOf(client, id)).toEqual(pushesOf(listener, id).slice(before[id]))
    }
    client.close()
  })
})

it('pushed every topic, reorgs included, with each cursor once and in order', async () => {
  const frames = listener.frames.filter(isPush).map(({ result }) => result?.topic ?? 'switch')
  expect(new Set(frames)).toEqual(new Set(['tx', 'liq', 'kline', 'price', 'retract', 'switch']))
  for (const id of subscriptions.keys()) {
    const cursors = pushesOf(listener, id).map(cursorOf)
    expect(cursors.filter((cursor, at) => at > 0 && !isAfter(cursor, cursors[at - 1] ?? ''))).toEqual([])
  }
})

it('matches the declaration in every push and subscription', () => {
  const pushes = listener.frames.filter(isPush)
  expect(pushes.length).toBeGreaterThan(1000)
  expect(pushes.flatMap((frame) => undeclared(String(subscriptions[Number(frame.id)]?.[0]), frame))).toEqual([])
  expect(subscriptions.flatMap(undeclaredParams)).toEqual([])
})

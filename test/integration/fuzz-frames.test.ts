/** Thousands of malformed frames over several sockets, while another client is subscribed to a live market. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { INTERVALS, TOPICS } from '../contract/interface/pushes.js'
import { createJunk, type JunkWorld } from '../rig/contract/frames/junk.js'
import { expectedReply } from '../rig/contract/frames/model.js'
import { type FuzzSocket, openFuzzSocket, type Sent } from '../rig/contract/frames/socket.js'
import { contractMarket } from '../rig/contract/market.js'
import { KEY, type Served, serveMarket } from '../rig/contract/served.js'
import { countOf, seedOf } from '../rig/counts.js'
import { deriveExpectedPushes } from '../rig/http/expected-pushes.js'
import { marketMoney, moneySections } from '../rig/market/money.js'
import { createRandom } from '../rig/market/random.js'
import { speedFor, type TapePlan } from '../rig/up/recording.js'
import { type Client, connect } from '../serve/push-client.js'

const SEED = seedOf('pushFrames')
const FRAMES = countOf('pushFrames')
const SOCKETS = 8
/** Frames sent on a socket before it waits for their replies. */
const WAVE = 50
const CHAIN = 'eth'
const MAX_BATCH = 100
const MAX_FRAME_BYTES = 262_144
/** More than sockets and subscriptions need, less than a leak of 1 KB per frame would take. */
const MAX_GROWTH_BYTES = 96 * 1024 * 1024

const PLAN: TapePlan = {
  seed: 733,
  chains: [CHAIN],
  blocksPerChain: 180,
  options: {
    ...{ secondsPerBlock: 3, swapsPerBlock: 6, quietHour: 0, quietDay: 0, maxTimeBackS: 0 },
    retracts: { probability: 0.03, maxDepth: 3 },
  },
}
const LISTEN_AFTER = 20

describe(`malformed frames, seed ${SEED}`, () => {
  const market = contractMarket(PLAN)
  const pairs = market.pairs(CHAIN).slice(0, 3).map(({ pair }) => pair) // biome-ignore format: one step
  let served: Served
  let listener: Client
  const since = new Map<string, number>()

  const world: JunkWorld = {
    topics: TOPICS,
    intervals: INTERVALS,
    chains: [CHAIN],
    maxBatch: MAX_BATCH,
    pairs: market.pairs(CHAIN).map(({ pair }) => pair),
    tokens: market.tokens(CHAIN),
    secret: KEY,
    maxBytes: MAX_FRAME_BYTES,
  }

  async function listen(id: string, params: unknown[]): Promise<void> {
    const { result } = await listener.call('subscribe', params, id)
    const [cursor = ''] = (result as { cursor: string[] }).cursor
    since.set(id, Number(cursor.split(':')[2]))
  }

  beforeAll(async () => {
    served = await serveMarket({ market, speed: speedFor(market.lines, 12), config: moneyOf() })
    await served.up.until('began', async () => ((await served.up.status()).get(CHAIN)?.seq ?? 0) >= LISTEN_AFTER)
    listener = await connect(served.ws, { 'x-api-key': KEY })
    for (const pair of pairs) await listen(`tx ${pair}`, ['tx', pair, CHAIN])
    await listen('kline', ['kline', pairs[0], 's1', CHAIN])
    await listen('price', ['price', pairs.map((pair) => `${pair}-${CHAIN}`)])
  })
  afterAll(async () => {
    listener?.close()
    await served?.stop()
  })

  const memoryBytes = async (): Promise<number> =>
    (await served.up.metrics()).get('process_resident_memory_bytes') ?? Number.NaN

  test(`gives each of ${FRAMES} frames its expected reply or none, without growing memory`, async () => {
    const sockets: FuzzSocket[] = []
    for (let at = 0; at < SOCKETS; at++) sockets.push(await openFuzzSocket(served.ws, KEY))
    const next = createJunk(createRandom(SEED), world)
    const perRound = SOCKETS * WAVE
    const kinds = new Map<string, number>()
    let warm = 0
    for (let sent = 0; sent < FRAMES; sent += perRound) {
      const waves = sockets.map(() =>
        Array.from({ length: WAVE }, (): Sent => {
          const { kind, data } = next()
          kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
          return { kind, data, expected: expectedReply(data, world) }
        }),
      )
      const problems = await Promise.all(sockets.map((socket, at) => socket.run(waves[at] ?? [])))
      expect(problems.flat(), `seed ${SEED}, frames ${sent} and on`).toEqual([])
      if (sent === perRound * Math.floor(FRAMES / perRound / 4)) warm = await memoryBytes()
    }
    expect([...kinds.values()].reduce((sum, count) => sum + count, 0)).toBe(FRAMES)
    expect(Math.min(...kinds.values())).toBeGreaterThan(FRAMES / 700)
    expect((await memoryBytes()) - warm).toBeLessThan(MAX_GROWTH_BYTES)
    for (const socket of sockets) socket.close()
  })

  test.each([
    ['a frame over the limit', () => 'x'.repeat(MAX_FRAME_BYTES + 1), false],
    ['a text frame that is not UTF-8', () => Buffer.from([0xc3, 0x28]), false],
  ])('%s closes only that socket', async (_, data, binary) => {
    const socket = new WebSocket(served.ws, { headers: { 'x-api-key': KEY } })
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()).on('error', () => {}))
    await new Promise<void>((resolve) => socket.on('open', resolve))
    socket.send(data(), { binary })
    await closed
    expect((await listener.call('ping')).result).toBe('pong')
  })

  test('delivers every trade to the subscribed client once, in order', async () => {
    await served.played()
    await listener.settle()
    const expectation = deriveExpectedPushes(market.lines, marketMoney(CHAIN))
    for (const pair of pairs) {
      const id = `tx ${pair}`
      const from = since.get(id) ?? 0
      const due = expectation
        .of(pair)
        .filter(({ seq }) => seq > from)
        .map((push): unknown => (push.kind === 'trade' ? push.trade.id : push.ids))
      const pushes = listener.frames.filter((frame) => frame.id === id).map(({ result }) => result ?? {})
      const got = pushes.map(({ topic, tx, ids }) => (topic === 'retract' ? ids : (tx as { id: string }).id))
      expect(due.length).toBeGreaterThan(20)
      expect(got).toEqual(due)
    }
    const cursors = listener.frames.map(({ result }) => String(result?.cursor).split(':').slice(2).map(Number))
    const isBack = ([seq = 0, n = 0]: number[], [lastSeq = 0, lastN = 0]: number[]) =>
      seq < lastSeq || (seq === lastSeq && n < lastN)
    expect(cursors.filter((cursor, at) => at > 0 && isBack(cursor, cursors[at - 1] ?? []))).toEqual([])
  })

  test('stops cleanly, with no key and no error in its log', async () => {
    listener.close()
    const { code, out, err } = await served.stop()
    expect(code).toBe(0)
    expect(`${out}${err}`).not.toContain(KEY)
    expect(err.split('\n').filter((line) => /error/i.test(line))).toEqual([])
  })

  function moneyOf(): Record<string, unknown> {
    return { chains: moneySections([marketMoney(CHAIN)]) }
  }
})

/** All subscriptions that resume are replayed together; each gets what it would get if it were replayed alone. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { createMetrics } from '../../../services/core/runtime/metrics.js'
import { applyUpdate } from '../../../services/serve/memory/apply-update.js'
import { viewOf } from '../../../services/serve/memory/replay-recent.js'
import { createServedChain } from '../../../services/serve/memory/served-chain.js'
import { createCatchUps } from '../../../services/serve/push/catch-up.js'
import { anyWalletChannel } from '../../../services/serve/push/channels.js'
import { cursorAt, FIRST_CLOSING, type Place } from '../../../services/serve/push/cursor.js'
import { encodeUpdate } from '../../../services/serve/push/encode-update.js'
import { createHub, type Subscription } from '../../../services/serve/push/hub.js'
import { addressOf } from '../../../services/serve/push/params.js'
import { createReplayRing, type ReplayRing } from '../../../services/serve/push/replay-ring.js'
import type { CatchUp } from '../../../services/serve/push/session.js'
import type { PushSocket } from '../../../services/serve/push/transport/push-transport.js'
import { numberClosings, snapshotUpdate, type UpdateSnapshot } from '../../../services/serve/push/update-snapshot.js'
import { createServeMetrics } from '../../../services/serve/serve-metrics.js'
import { foldLines, startFold } from '../../rig/aggregate/fold-lines.js'
import { generateRecording } from '../../rig/market/generate.js'
import { marketMoney } from '../../rig/market/money.js'
import { createRandom, type Random } from '../../rig/market/random.js'

const SEED = 20_271
const RUNS = 20
const CHAINS = ['eth', 'bsc']
const NOW_MS = 1_700_000_000_000
const ALL = { ringSeconds: 1e9, ringBytes: 1e12 }

const snapshots = new Map<string, UpdateSnapshot[]>()
/** Every channel that has a push, by topic. */
const channelsOfTopic = new Map<string, string[]>()

beforeAll(() => {
  const found = new Map<string, Set<string>>()
  for (const [at, chain] of CHAINS.entries()) {
    const options = { secondsPerBlock: 3, swapsPerBlock: 4, quietHour: 0, quietDay: 0, maxTimeBackS: 20 }
    const retracts = { probability: 0.12, maxDepth: 4 }
    const lines = generateRecording({ seed: SEED + at, chain, blocks: 60, options: { ...options, retracts } })
    const state = createServedChain(chain)
    const updates = foldLines(startFold(marketMoney(chain)), lines).flatMap(({ update }) => {
      const outcome = applyUpdate(state, update, 0)
      return outcome.kind === 'applied' ? [snapshotUpdate({ ...outcome.applied, view: viewOf(state) })] : []
    })
    snapshots.set(chain, updates)
    const out = { isWanted: () => true, concerns: () => true }
    for (const update of updates)
      encodeUpdate(update, {
        ...out,
        publish: (channels) => {
          for (const channel of channels) {
            const topic = channel.split('|', 1)[0] ?? ''
            found.set(topic, (found.get(topic) ?? new Set()).add(channel))
          }
        },
      })
  }
  for (const [topic, channels] of found) channelsOfTopic.set(topic, [...channels])
})

const chainOf = (channel: string): string => channel.split('|').at(-1) ?? ''

function subscribe(random: Random, id: number): Subscription {
  const [topic, known] = random.pick([...channelsOfTopic])
  const count = topic === 'price' || topic === 'kline' ? random.int(1, 6) : 1
  const picked = [...new Set(Array.from({ length: count }, () => random.pick(known)))]
  // As the topic has it: what concerns one wallet, and the retracts of all.
  const channels = topic === 'wallet' ? [...picked, ...picked.map((one) => anyWalletChannel(chainOf(one)))] : picked
  const spec = {
    ...{ canonical: channels.join(' '), channels, chains: [...new Set(channels.map(chainOf))], snapshot: () => [] },
    refills: (chain: string) =>
      channels.flatMap((channel) =>
        chainOf(channel) === chain ? [{ path: channel, query: {}, isRanged: false }] : [],
      ),
  }
  const budget = { takeMemory: () => true, releaseMemory: () => {} }
  return { topic, canonical: spec.canonical, id, spec, onSlow: 'conflate', backlog: undefined, budget }
}

/** The reference: the pushes of one subscription after a place, update by update. */
function replayAlone({ id, spec }: Subscription, from: Place, updates: readonly UpdateSnapshot[]): string[] {
  const named = new Set(spec.channels.map(addressOf))
  const texts: string[] = []
  for (const update of updates) {
    encodeUpdate(update, {
      isWanted: (channel) => spec.channels.includes(channel),
      concerns: (...addresses) => named.has('*') || addresses.some((address) => named.has(address)),
      publish: (_channels, { n, result, sentTime }) => {
        const seq = n >= FIRST_CLOSING ? update.seq - 1 : update.seq
        if (seq < from.seq || (seq === from.seq && n <= from.n)) return
        texts.push(`{"id":${id},"jsonrpc":"2.0","result":${result}${sentTime ? `,"sent_time":${NOW_MS}}` : '}'}`)
      },
    })
  }
  return texts
}

/** A socket whose client reads only when told to. */
function openSocket(groups: Map<string, Set<string[]>>): PushSocket & { texts: string[]; unread: number } {
  const socket = {
    texts: [] as string[],
    unread: 0,
    send(text: string | Uint8Array) {
      socket.texts.push(Buffer.from(text).toString())
      socket.unread += text.length
    },
    cork: (work: () => void) => work(),
    subscribe: (group: string) => groups.set(group, (groups.get(group) ?? new Set()).add(socket.texts)),
    unsubscribe: () => {},
    getBufferedAmount: () => socket.unread,
    end: () => {},
    close: () => {},
  }
  return socket
}

/** Any place of a chain: kept or not, reached or not. */
function pickPlace(random: Random, chain: string, ring: ReplayRing): Place {
  const head = ring.head() ?? { epoch: 1, chain, seq: 0, n: 0 }
  if (random.chance(0.1)) return head
  const epoch = random.chance(0.05) ? random.int(0, 2) : head.epoch
  const seq = random.int(1, head.seq + (random.chance(0.1) ? 3 : 0))
  const update = snapshots.get(chain)?.find((one) => one.seq === seq)
  const last = update?.lastN ?? 0
  const closed = numberClosings(update?.closings ?? []).map(({ n }) => n)
  return { epoch, chain, seq, n: random.pick([0, last, random.int(0, last), ...closed]) }
}

type Run = { random: Random; ring: typeof ALL; pauseBytes: number }
type Heard = { subscription: Subscription; since: Place[]; texts: string[] }

/** Sockets resume while updates arrive and clients read slowly; returns what each subscription got once all are live. */
async function resumeAll({ random, ring: limits, pauseBytes }: Run): Promise<Heard[]> {
  const rings = new Map(CHAINS.map((chain) => [chain, createReplayRing(limits)]))
  const ringOf = (chain: string) => rings.get(chain) ?? createReplayRing(limits)
  const headOf = (chain: string) => ringOf(chain).head() ?? { epoch: 1, chain, seq: 0, n: 0 }
  const groups = new Map<string, Set<string[]>>()
  const hub = createHub({
    metrics: createServeMetrics(createMetrics({ processMetrics: false })),
    nowMs: () => NOW_MS,
    broadcast: (group, text) => {
      for (const texts of groups.get(group) ?? []) texts.push(Buffer.from(text).toString())
    },
  })
  const left = new Map(CHAINS.map((chain) => [chain, [...(snapshots.get(chain) ?? [])]]))
  function arrive(chain: string): void {
    const update = left.get(chain)?.shift()
    if (update === undefined) return
    ringOf(chain).push(update)
    encodeUpdate(update, hub)
  }
  for (const chain of CHAINS) for (let n = random.int(5, 50); n > 0; n -= 1) arrive(chain)

  const catchUps = createCatchUps({
    hub,
    feed: { ringOf, headOf },
    nowMs: () => NOW_MS,
    pauseBytes,
    turnMs: 0,
    behindMs: 0,
  })
  const heard: Heard[] = []
  const open: { socket: ReturnType<typeof openSocket>; catchingUp: Map<Subscription, CatchUp>; start(): void }[] = []
  let id = 0
  function connect(): void {
    const socket = openSocket(groups)
    const catchingUp = new Map<Subscription, CatchUp>()
    for (let n = random.int(1, 8); n > 0; n -= 1) {
      const subscription = subscribe(random, id++)
      const places = subscription.spec.chains.map((chain) => pickPlace(random, chain, ringOf(chain)))
      heard.push({ subscription, since: [...places], texts: socket.texts })
      catchingUp.set(subscription, { subscription, places, snapshot: false, isReplaying: false, isEnded: false })
    }
    const session = { catchingUp, isSlow: false, isClosed: false }
    open.push({ socket, catchingUp, start: () => catchUps.start(socket, session) })
    catchUps.start(socket, session)
  }
  const sockets = random.int(1, 6)
  while (open.length < sockets || open.some(({ catchingUp }) => catchingUp.size > 0)) {
    if (open.length < sockets && random.chance(0.3)) connect()
    if (random.chance(0.2)) arrive(random.pick(CHAINS))
    for (const { socket, start } of open) {
      if (socket.unread === 0 || random.chance(0.5)) continue
      socket.unread = random.chance(0.5) ? 0 : Math.floor(socket.unread / 2)
      start()
    }
    await nextTurn()
  }
  for (const chain of CHAINS) for (let n = 3; n > 0; n -= 1) arrive(chain)
  for (const chain of CHAINS) rings.delete(chain)
  for (const [chain, updates] of left) {
    const all = snapshots.get(chain) ?? []
    arrived.set(chain, all.slice(0, all.length - updates.length))
  }
  return heard
}

/** Of the last run. */
const arrived = new Map<string, UpdateSnapshot[]>()

type Message = { id: number; result: { topic?: string; chain?: string; cursor?: string; from?: string; to?: string } }

function textsOf({ subscription, texts }: Heard, chain: string): string[] {
  const ofSubscription = texts.filter((text) => text.startsWith(`{"id":${subscription.id},`))
  return ofSubscription.filter((text) => {
    const { result } = JSON.parse(text) as Message
    return (result.cursor?.split(':')[1] ?? result.chain) === chain
  })
}

const placeOf = (cursor = ''): Place => {
  const [epoch = 0, , seq = 0, n = 0] = cursor.split(':').map(Number)
  return { epoch, chain: cursor.split(':')[1] ?? '', seq, n }
}
const isAfter = (a: Place, b: Place): boolean =>
  a.epoch > b.epoch || (a.epoch === b.epoch && (a.seq > b.seq || (a.seq === b.seq && a.n > b.n)))

it('replays the same bytes in the same order as a replay of each subscription alone', async () => {
  const random = createRandom(SEED)
  let pushes = 0
  for (let run = 0; run < RUNS; run += 1) {
    for (const one of await resumeAll({ random, ring: ALL, pauseBytes: random.pick([500, 5000, 1e9]) })) {
      for (const since of one.since) {
        const texts = textsOf(one, since.chain)
        // A place that is not kept is moved by gap notices, one for each item.
        const gaps = texts.filter((text) => text.includes('"topic":"gap"'))
        const items = one.subscription.spec.refills(since.chain).length
        expect([0, items]).toContain(gaps.length)
        const [gap] = gaps
        const from = gap === undefined ? since : placeOf((JSON.parse(gap) as Message).result.to)
        const expected = replayAlone(one.subscription, from, arrived.get(since.chain) ?? [])
        expect(texts, `run ${run}, ${one.subscription.canonical} since ${cursorAt(since)}`).toEqual([
          ...gaps,
          ...expected,
        ])
        pushes += expected.length
      }
    }
  }
  expect(pushes).toBeGreaterThan(2000)
})

it('sends all pushes that no gap notice covers, where updates are dropped during the replay', async () => {
  const random = createRandom(SEED + 1)
  let gaps = 0
  for (let run = 0; run < RUNS; run += 1) {
    const ring = { ringSeconds: random.int(5, 60), ringBytes: 1e12 }
    for (const one of await resumeAll({ random, ring, pauseBytes: random.pick([500, 5000]) })) {
      for (const since of one.since) {
        let [from, expected] = [since, [] as string[]]
        const replay = () => replayAlone(one.subscription, from, arrived.get(since.chain) ?? [])
        const texts = textsOf(one, since.chain)
        for (const { topic, from: last, to } of texts.map((text) => (JSON.parse(text) as Message).result)) {
          if (topic !== 'gap' || cursorAt(from) === to) continue
          const reached = placeOf(last)
          if (cursorAt(since) !== last) expected.push(...replay().filter((text) => !isAfter(placeIn(text), reached)))
          from = placeOf(to)
          gaps += 1
        }
        expected = [...expected, ...replay()]
        expect(texts.filter((text) => !text.includes('"topic":"gap"'))).toEqual(expected)
      }
    }
  }
  expect(gaps).toBeGreaterThan(100)
})

const placeIn = (text: string): Place => placeOf((JSON.parse(text) as Message).result.cursor)

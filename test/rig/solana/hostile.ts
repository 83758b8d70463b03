/**
 * A node that fails, lies and lags. Each outcome depends only on the seed, the request and how often it was made,
 * so a run can be repeated.
 */
import { type Asked, fault, type Reply, type RpcAnswer, type RpcRequest } from '../json-rpc/server.js'
import type { Random } from '../market/random.js'
import type { Ledger } from './ledger.js'
import { lieAbout, refusal } from './lies.js'
import { minContextSlot, nodeBehind, notAvailable, statusNotYet, storageUnreachable } from './rpc-errors.js'
import type { Gate } from './rpc-server.js'
import { randomFrom } from './seeded.js'
import type { Notice } from './subscriptions.js'

export type Hostility = {
  seed: number
  /** Share of requests that fail in some way. */
  errorChance?: number
  /** Share of answers that are lies, where a lie is possible. */
  lieChance?: number
  /** Share of slots whose block becomes available only some requests after the slot. */
  lateChance?: number
  /** How long a request may hang. */
  silenceMs?: number
  /** Whether the chain will still have more slots: a node may then announce one that has no block yet. */
  isGoingOn?: () => boolean
}

export type HostileGate = Gate & {
  readonly counts: Readonly<{ requests: number; errors: number; lies: number; late: number }>
  /** Runs once between two requests, after this many more of them. */
  after(requests: number, event: () => void): void
}

const MOST_TIMES_LATE = 3

export function hostileGate(ledger: Ledger, hostility: Hostility): HostileGate {
  const {
    seed,
    errorChance = 0.05,
    lieChance = 0.05,
    lateChance = 0.1,
    silenceMs = 1500,
    isGoingOn = () => true,
  } = hostility
  const counts = { requests: 0, errors: 0, lies: 0, late: 0 }
  const times = new Map<string, number>()
  const timesOf = (text: string): number => {
    const time = (times.get(text) ?? 0) + 1
    times.set(text, time)
    return time
  }
  const randomFor = (text: string): Random => randomFrom(`${seed} ${timesOf(text)} ${text}`)
  let waiting: { requestsLeft: number; event: () => void } | null = null

  function pass({ requests, batch }: Asked, answer: (request: RpcRequest) => RpcAnswer): Reply {
    happen(requests.length)
    const random = randomFor(JSON.stringify(requests.map(({ method, params }) => [method, params])))
    if (random.chance(errorChance)) {
      counts.errors += 1
      return someFailure(requests, batch, random, silenceMs)
    }
    const answers = requests.map((request) => answerOne(request, answer, batch))
    return { kind: 'answer', body: batch ? answers : answers[0] }
  }

  function answerOne(request: RpcRequest, ask: (request: RpcRequest) => RpcAnswer, batch: boolean): RpcAnswer {
    const name = JSON.stringify([request.method, request.params])
    // In a batch, each request can fail alone.
    if (batch && randomFor(`one ${name}`).chance(errorChance)) {
      counts.errors += 1
      return fault(request.id, -32603, 'Internal error')
    }
    if (isLate(request)) {
      counts.late += 1
      const slot = Number(request.params?.[0])
      return refusal(request, randomFor(`late ${name}`).pick([notAvailable, statusNotYet])(slot))
    }
    const answer = ask(request)
    if (!randomFor(name).chance(lieChance)) return answer
    const lie = lieAbout({ request, answer, random: randomFor(`how ${name}`), ledger, ask, isGoingOn })
    if (lie === null) return answer
    counts.lies += 1
    return lie
  }

  function isLate({ method, params }: RpcRequest): boolean {
    if (method !== 'getBlock') return false
    const slot = Number(params?.[0])
    const random = randomFrom(`${seed} late ${slot} ${ledger.blockAt(slot)?.blockhash}`)
    return random.chance(lateChance) && timesOf(`times ${slot}`) <= random.int(1, MOST_TIMES_LATE)
  }

  function happen(requests: number): void {
    counts.requests += requests
    if (waiting === null) return
    waiting.requestsLeft -= requests
    if (waiting.requestsLeft > 0) return
    const { event } = waiting
    waiting = null
    event()
  }

  return {
    pass,
    counts,
    notice: (notice) => someNotices(notice, randomFor('notice')),
    after(requests, event) {
      waiting = { requestsLeft: requests, event }
    },
  }
}

/** Lost, sent twice, or replaced by an error that the node could not read the block. */
function someNotices(notice: Notice, random: Random): readonly Notice[] {
  const { method, params } = notice
  return random.pick<readonly Notice[]>([
    [notice],
    [notice],
    [notice, notice],
    [],
    method === 'blockNotification' ? [{ ...notice, params: { ...params, result: unread(params.result) } }] : [notice],
  ])
}

/** agave's `RpcBlockUpdate` for an error: no block, and the reason. */
function unread(result: unknown): unknown {
  const { context, value } = result as { context: unknown; value: { slot: number } }
  return { context, value: { slot: value.slot, block: null, err: 'BlockStoreError' } }
}

function someFailure(requests: readonly RpcRequest[], batch: boolean, random: Random, silenceMs: number): Reply {
  const all = (refuse: (request: RpcRequest) => RpcAnswer, status = 200): Reply => {
    const answers = requests.map(refuse)
    return { kind: 'answer', status, body: batch ? answers : answers[0] }
  }
  const plain = (code: number, message: string) => (request: RpcRequest) => fault(request.id, code, message)
  return random.pick<() => Reply>([
    () => ({ kind: 'text', status: 500, body: 'Internal Server Error' }),
    () => ({ kind: 'text', status: 502, body: '<html><body>Bad Gateway</body></html>' }),
    () => ({ kind: 'text', status: 200, body: '{"jsonrpc":"2.0","id":1,"resu' }),
    () => ({ kind: 'text', status: 200, body: 'garbage: } ]' }),
    () => all(plain(429, 'Too many requests for a specific RPC call'), 429),
    () => all(plain(-32603, 'Internal error')),
    () => all((request) => refusal(request, nodeBehind(random.int(100, 300)))),
    () => all((request) => refusal(request, minContextSlot(1))),
    () => all((request) => refusal(request, storageUnreachable())),
    () => ({ kind: 'cut' }),
    () => ({ kind: 'silence', ms: silenceMs }),
  ])()
}

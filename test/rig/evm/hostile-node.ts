/**
 * A proxy in front of a real node that fails and lies. Each outcome depends only on the seed, the request and how often it
 * was made, so a run can be repeated.
 */
import { createRandom, type Random } from '../market/random.js'
import { hashOfText } from './abi.js'
import { eventsBetweenRequests } from './between-requests.js'
import { lieAbout } from './lies.js'
import type { EvmNode } from './node.js'
import {
  type Asked,
  fault,
  type Reply,
  type RpcRequest,
  type RunningProxy,
  startProxy,
  type Upstream,
} from './proxy.js'

export type Hostility = {
  seed: number
  /** Share of requests that fail in some way. */
  errorChance?: number
  /** Share of answers that are lies, where a lie is possible. */
  lieChance?: number
  /** How long a request may hang. */
  silenceMs?: number
}

export type HostileNode = RunningProxy & {
  readonly requests: number
  readonly errors: number
  readonly lies: number
  /** Runs once between two requests, after this many more of them. */
  after(requests: number, event: () => Promise<void>): void
  /** Runs now, while no request is pending. */
  between(event: () => Promise<void>): Promise<void>
}

type Batches = 'taken' | 'refused' | 'few'
const FEW = 5

export async function startHostileNode(node: EvmNode, hostility: Hostility): Promise<HostileNode> {
  const { seed, errorChance = 0.05, lieChance = 0.05, silenceMs = 1500 } = hostility
  const batches = createRandom(seed).weighted<Batches>([
    [3, 'taken'],
    [1, 'refused'],
    [1, 'few'],
  ])
  const counts = { requests: 0, errors: 0, lies: 0 }
  const times = new Map<string, number>()
  const randomFor = (text: string): Random => {
    const time = (times.get(text) ?? 0) + 1
    times.set(text, time)
    return createRandom(Number.parseInt(hashOfText(`${seed} ${time} ${text}`).slice(2, 10), 16))
  }
  const pauses = eventsBetweenRequests()

  async function pass(asked: Asked, upstream: Upstream): Promise<Reply> {
    counts.requests += asked.requests.length
    const random = randomFor(JSON.stringify(asked.requests.map(({ method, params }) => [method, params])))
    const failure = random.chance(errorChance) ? someFailure(asked, random, silenceMs) : refusedBatch(asked, batches)
    if (failure !== null) {
      counts.errors++
      return failure
    }
    return pauses.during(asked.requests.length, async () => {
      const answers = await upstream(asked.requests)
      for (const [at, request] of asked.requests.entries()) {
        const answer = answers[at]
        // In a batch, each request can fail alone.
        if (asked.batch && randomFor(`one ${nameOf(request)}`).chance(errorChance)) {
          answers[at] = fault(request.id, -32603, 'Internal error')
          counts.errors++
          continue
        }
        if (answer === undefined || !randomFor(nameOf(request)).chance(lieChance)) continue
        const lie = await lieAbout(request, answer, randomFor(`how ${nameOf(request)}`), upstream)
        if (lie === null) continue
        answers[at] = lie
        counts.lies++
      }
      return { kind: 'answer', body: asked.batch ? answers : answers[0] }
    })
  }

  const proxy = await startProxy(node, {
    pass,
    notice: (message) => randomFor('notice').pick([[message], [message], [message], [message, message], []]),
  })
  return {
    ...proxy,
    after: pauses.after,
    between: pauses.between,
    get requests() {
      return counts.requests
    },
    get errors() {
      return counts.errors
    },
    get lies() {
      return counts.lies
    },
  }
}

const nameOf = ({ method, params }: RpcRequest): string => JSON.stringify([method, params])

function someFailure({ requests, batch }: Asked, random: Random, silenceMs: number): Reply {
  const all = (code: number, message: string, status = 200): Reply => {
    const answers = requests.map(({ id }) => fault(id, code, message))
    return { kind: 'answer', status, body: batch ? answers : answers[0] }
  }
  return random.pick<() => Reply>([
    () => ({ kind: 'text', status: 500, body: 'Internal Server Error' }),
    () => ({ kind: 'text', status: 502, body: '<html><body>Bad Gateway</body></html>' }),
    () => ({ kind: 'text', status: 200, body: '{"jsonrpc":"2.0","id":1,"resu' }),
    () => all(-32005, 'daily request count exceeded, request rate limited', 429),
    () => all(-32603, 'Internal error'),
    () => all(-32000, 'header not found'),
    () => all(-32000, 'query timeout exceeded'),
    () => ({ kind: 'cut' }),
    () => ({ kind: 'silence', ms: silenceMs }),
  ])()
}

function refusedBatch({ requests, batch, transport }: Asked, batches: Batches): Reply | null {
  if (!batch || batches === 'taken' || (batches === 'few' && requests.length <= FEW)) return null
  const [status, message] =
    batches === 'refused'
      ? [400, 'batch requests are not supported']
      : [413, `batch too large: at most ${FEW} requests`]
  // Over a socket, an answer without an id would look like no answer.
  const body = transport === 'ws' ? requests.map(({ id }) => fault(id, -32600, message)) : fault(null, -32600, message)
  return { kind: 'answer', status, body }
}

/** A client that wants every push once: it comes back after each loss with the last cursor of each subscription. */
import type { Random } from '../rig/market/random.js'
import type { Connection, Network } from './simulated-network.js'
import type { VirtualTime } from './virtual-time.js'

/** A push as it came, without the time it was sent at. */
export type HeardPush = { cursor: string; text: string }

export type Heard = {
  params: readonly unknown[]
  /** The cursor of the first reply: what came before is not due. */
  firstBegan: string | undefined
  /** Where it resumes without a push since: that cursor, or the end of the last gap. */
  began: string | undefined
  pushes: HeardPush[]
  /** Ranges the server said it cannot send again. */
  gaps: { from: string; to: string }[]
}

export type SimulatedClient = {
  readonly heard: readonly Heard[]
  /** Frames that are neither replies, pushes nor gap notices. */
  readonly unexpected: string[]
  readonly connections: number
  /** Drops the connection; it comes back by itself. */
  disconnect(): void
  start(): Promise<never>
}

type Frame = {
  id?: number
  error?: unknown
  result?: { cursor?: string | string[]; topic?: string; subscription?: number; from?: string; to?: string }
}

const RETRY_MS = 100

const sinceOf = ({ began, pushes }: Heard): string | undefined => pushes.at(-1)?.cursor ?? began

export function createSimulatedClient(
  world: { time: VirtualTime; random: Random; network: Network; tell: (line: string) => void },
  subscriptions: readonly (readonly unknown[])[],
  isAllowed: (node: string) => boolean,
): SimulatedClient {
  const { time, random, network, tell } = world
  const heard: Heard[] = subscriptions.map((params) => ({
    params,
    firstBegan: undefined,
    began: undefined,
    pushes: [],
    gaps: [],
  }))
  const unexpected: string[] = []
  let connections = 0
  let open: { connection: Connection; lost: () => void } | undefined

  function take(text: string): void {
    const frame = JSON.parse(text) as Frame | Frame[]
    if (Array.isArray(frame)) return frame.forEach(takeReply)
    const { id, result } = frame
    const notice = result?.topic === 'gap' ? heard[result.subscription ?? -1] : undefined
    if (notice !== undefined && result?.from !== undefined && result.to !== undefined) {
      tell(`is told of a gap from ${result.from} to ${result.to} in ${JSON.stringify(notice.params)}`)
      notice.gaps.push({ from: result.from, to: result.to })
      // What was skipped is refilled over REST; pushes go on from here.
      notice.began = result.to
      return
    }
    const one = id === undefined ? undefined : heard[id]
    if (one === undefined || typeof result?.cursor !== 'string') {
      if (!text.includes('"bye"')) unexpected.push(text)
      return
    }
    tell(`gets ${result.cursor} of ${JSON.stringify(one.params)}`)
    one.pushes.push({ cursor: result.cursor, text: text.replace(/,"sent_time":\d+\}$/, '}') })
  }

  function takeReply({ id = -1, result, error }: Frame): void {
    const one = heard[id]
    const [cursor] = Array.isArray(result?.cursor) ? result.cursor : []
    if (one === undefined || cursor === undefined) unexpected.push(JSON.stringify({ id, result, error }))
    else {
      one.firstBegan ??= cursor
      one.began ??= cursor
    }
  }

  function subscribe(one: Heard, id: number) {
    const since = sinceOf(one)
    const options = since === undefined ? [] : [{ since: [since] }]
    return { jsonrpc: '2.0', method: 'subscribe', params: [...one.params, ...options], id }
  }

  async function session(): Promise<void> {
    const nodes = network.endpoints().filter(({ name }) => isAllowed(name))
    if (nodes.length === 0) return
    const node = random.pick(nodes)
    await new Promise<void>((resolve) => {
      const connection = node.connect({ onText: take, onClose: resolve })
      open = {
        connection,
        lost: () => {
          connection.close()
          resolve()
        },
      }
      connections += 1
      tell(`connects to ${node.name} and asks for ${JSON.stringify(heard.map((one) => sinceOf(one) ?? 'now'))}`)
      connection.send(JSON.stringify(heard.map(subscribe)))
    })
    open = undefined
  }

  return {
    heard,
    unexpected,
    get connections() {
      return connections
    },
    disconnect: () => open?.lost(),
    async start() {
      for (;;) {
        await session()
        await time.delay(random.int(1, RETRY_MS))
      }
    },
  }
}

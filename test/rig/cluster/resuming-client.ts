/**
 * A client that is never satisfied with less than everything: it notes the cursor of each push, and after every loss comes back
 * at once with the last one of each subscription and chain.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'

export type Told = {
  params: readonly unknown[]
  /** By chain: the cursor of the very first reply, before any push. */
  began: Map<string, string>
  /** By chain: the cursors of all pushes, in order of arrival, whichever connection brought them. */
  cursors: Map<string, string[]>
}

export type ResumingClient = {
  readonly told: readonly Told[]
  /** Whatever was neither a reply nor a push: gaps, merged pushes, refusals. */
  readonly notices: string[]
  /** How often it was connected. */
  readonly connections: () => number
  /** Once the first subscriptions are acknowledged. */
  readonly listening: Promise<void>
  close(): Promise<void>
}

export type ClientPlan = {
  /** Several nodes of one installation: after a loss it goes to the next. */
  url: string | readonly string[]
  key: string
  subscriptions: readonly (readonly unknown[])[]
  onPush?: (chain: string) => void
}

type Result = { status?: string; cursor?: string | string[]; data?: unknown; topic?: string; reason?: string }
type Frame = { id?: number; error?: unknown; result?: Result }

const RETRY_MS = 50

export function startResumingClient({ url, key, subscriptions, onPush }: ClientPlan): ResumingClient {
  const told = subscriptions.map((params): Told => ({ params, began: new Map(), cursors: new Map() }))
  const notices: string[] = []
  const closing = new AbortController()
  const urls = typeof url === 'string' ? [url] : url
  let [connections, tries] = [0, 0]
  let acknowledged = () => {}
  const listening = new Promise<void>((resolve) => {
    acknowledged = resolve
  })

  function take(text: string): void {
    const frame = JSON.parse(text) as Frame | Frame[]
    if (Array.isArray(frame)) {
      for (const reply of frame) takeReply(reply)
      acknowledged()
      return
    }
    const { id, result } = frame
    const push = id === undefined ? undefined : told[id]
    if (push === undefined || typeof result?.cursor !== 'string') {
      // Of a node that is stopped in order.
      if (result?.topic !== 'bye' || !/shutting down/.test(result.reason ?? '')) notices.push(text)
      return
    }
    const chain = chainOf(result.cursor)
    const cursors = push.cursors.get(chain)
    if (cursors === undefined) push.cursors.set(chain, [result.cursor])
    else cursors.push(result.cursor)
    onPush?.(chain)
  }

  function takeReply({ id = -1, result, error }: Frame): void {
    const one = told[id]
    if (one === undefined || !Array.isArray(result?.cursor)) {
      notices.push(JSON.stringify({ id, error, result }))
      return
    }
    for (const cursor of result.cursor) if (!one.began.has(chainOf(cursor))) one.began.set(chainOf(cursor), cursor)
  }

  async function connection(): Promise<void> {
    const socket = new WebSocket(urls[tries++ % urls.length] ?? '', {
      headers: { 'x-api-key': key },
      perMessageDeflate: false,
    })
    const stop = () => socket.terminate()
    closing.signal.addEventListener('abort', stop, { once: true })
    try {
      socket.on('message', (data) => take(String(data)))
      socket.on('open', () => {
        connections += 1
        socket.send(JSON.stringify(told.map(subscribe)))
      })
      // A refused connection is closed as well.
      socket.on('error', () => {})
      await new Promise((resolve) => socket.on('close', resolve))
    } finally {
      closing.signal.removeEventListener('abort', stop)
    }
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      await connection()
      await sleep(RETRY_MS, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  const done = run()
  return {
    ...{ told, notices, listening, connections: () => connections },
    async close() {
      closing.abort()
      await done
    },
  }
}

function subscribe({ params, began, cursors }: Told, id: number) {
  const since = [...began].map(([chain, cursor]) => cursors.get(chain)?.at(-1) ?? cursor)
  return { jsonrpc: '2.0', method: 'subscribe', params: since.length === 0 ? params : [...params, { since }], id }
}

const chainOf = (cursor: string): string => cursor.split(':')[1] ?? ''

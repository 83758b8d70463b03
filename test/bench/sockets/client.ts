/** One client that records the cursor of every push, by subscription, and resumes after its socket closed. */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Latencies } from './latency.js'
import { type Place, placeOf } from './place.js'
import type { Plan } from './plan.js'

export type Heard = {
  params: readonly unknown[]
  /** By chain: the cursor at which the subscription began. */
  since: Map<string, Place>
  /** By chain, in order of arrival. */
  places: Map<string, Place[]>
}

/** With the last cursor of each chain, to resume from. */
type Resumable = Heard & { last: Map<string, string> }

export type Client = {
  heard: readonly Heard[]
  notices: string[]
  /** Opens a socket; resolves once all subscriptions are acknowledged. The second time they resume. */
  connect(url: string): Promise<void>
  /** Reads nothing more from the socket. */
  stall(): void
  close(): void
  closedWith(): number | undefined
}

export type Timing = {
  /** From the server's `sent_time` to the arrival here. */
  sent: Latencies
  /** From the block's chain time, in whole seconds, to the arrival here. */
  chain: Latencies
}

const MAX_BATCH = 100
const CURSOR = '"cursor":"'
const SENT_TIME = '"sent_time":'
const CHAIN_TIME = '"time":'

export function createClient(key: string, plan: Plan, timing?: Timing): Client {
  const heard = plan.map((params): Resumable => ({ params, since: new Map(), places: new Map(), last: new Map() }))
  const notices: string[] = []
  let socket: WebSocket | undefined
  let closeCode: number | undefined
  let acknowledged = () => {}
  let unacknowledged = 0

  function take(text: string): void {
    // A batch of subscribes is answered with one array.
    if (text.startsWith('[')) {
      for (const reply of JSON.parse(text) as { id: number; result: { cursor: string[] } }[]) {
        for (const cursor of reply.result.cursor) begin(heard[reply.id], cursor)
        unacknowledged -= 1
      }
      if (unacknowledged === 0) acknowledged()
      return
    }
    const at = text.lastIndexOf(CURSOR)
    const end = text.indexOf('"', at + CURSOR.length)
    if (at < 0 || !text.startsWith('{"id":')) {
      notices.push(text)
      return
    }
    const subscription = heard[Number.parseInt(text.slice(6), 10)]
    if (subscription !== undefined) append(subscription, text.slice(at + CURSOR.length, end))
    if (timing !== undefined) note(timing, text, end)
  }

  async function connect(url: string): Promise<void> {
    const opened = new WebSocket(url, { headers: { 'x-api-key': key }, perMessageDeflate: false })
    socket = opened
    closeCode = undefined
    opened.on('message', (data) => take((data as Buffer).toString('latin1')))
    opened.on('error', () => {})
    opened.on('close', (code) => {
      if (socket === opened) closeCode = code
    })
    const ready = new Promise<void>((resolve, reject) => {
      acknowledged = resolve
      opened.on('close', (code) => reject(new Error(`the server closed a socket with ${code} before it answered`)))
    })
    ready.catch(() => {})
    await once(opened, 'open')
    const requests = heard.map(subscribe)
    unacknowledged = requests.length
    for (let at = 0; at < requests.length; at += MAX_BATCH)
      opened.send(JSON.stringify(requests.slice(at, at + MAX_BATCH)))
    await ready
  }

  return {
    heard,
    notices,
    connect,
    stall: () => socket?.pause(),
    close: () => socket?.terminate(),
    closedWith: () => closeCode,
  }
}

function subscribe({ params, last }: Resumable, id: number) {
  const options = last.size === 0 ? [] : [{ since: [...last.values()] }]
  return { jsonrpc: '2.0', method: 'subscribe', params: [...params, ...options], id }
}

/** The reply to a resumed subscription names the head: what comes first is the replay. */
function begin(heard: Resumable | undefined, cursor: string): void {
  const { chain, place } = readCursor(cursor)
  if (heard === undefined || heard.since.has(chain)) return
  heard.since.set(chain, place)
  heard.last.set(chain, cursor)
}

function append({ places, last }: Resumable, cursor: string): void {
  const { chain, place } = readCursor(cursor)
  last.set(chain, cursor)
  const list = places.get(chain)
  if (list === undefined) places.set(chain, [place])
  else list.push(place)
}

function readCursor(cursor: string): { chain: string; place: Place } {
  const [, chain = '', seq, n] = cursor.split(':')
  return { chain, place: placeOf(Number(seq), Number(n)) }
}

function note({ sent, chain }: Timing, text: string, cursorEnd: number): void {
  const nowMs = Date.now()
  const sentAt = text.indexOf(SENT_TIME, cursorEnd)
  if (sentAt > 0) sent.add(nowMs - Number.parseInt(text.slice(sentAt + SENT_TIME.length), 10))
  // In a candle it is the start of its bucket.
  if (text.includes('"topic":"kline"')) return
  const timeAt = text.indexOf(CHAIN_TIME)
  if (timeAt > 0) chain.add(nowMs - Number.parseInt(text.slice(timeAt + CHAIN_TIME.length), 10) * 1000)
}

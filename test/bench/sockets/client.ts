/** One socket that records the cursor of every push, by subscription. */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Plan } from './plan.js'

/** A cursor as one ascending number: the update within the epoch, then the push within the update. */
export type Place = number
/** Pushes that close candles come after all others of an update and have separate numbers. */
export const CLOSING = 2 ** 24 - 1
export const placeOf = (seq: number, n: number): Place => seq * 2 ** 24 + Math.min(n, CLOSING)
export const seqOf = (place: Place): number => Math.floor(place / 2 ** 24)
export const numberOf = (place: Place): number => place % 2 ** 24

export type Heard = {
  params: readonly unknown[]
  /** By chain: the cursor at which the subscription began. */
  since: Map<string, Place>
  /** By chain, in order of arrival. */
  places: Map<string, Place[]>
}

export type Client = { heard: readonly Heard[]; notices: string[]; close(): void; closedWith(): number | undefined }

const CURSOR = '"cursor":"'

export async function openClient(url: string, key: string, plan: Plan): Promise<Client> {
  const socket = new WebSocket(url, { headers: { 'x-api-key': key }, perMessageDeflate: false })
  const heard = plan.map((params): Heard => ({ params, since: new Map(), places: new Map() }))
  const notices: string[] = []
  let closeCode: number | undefined
  let acknowledged = () => {}
  const ready = new Promise<void>((resolve) => {
    acknowledged = resolve
  })

  function take(text: string): void {
    // The batch of subscribes is answered with one array.
    if (text.startsWith('[')) {
      for (const reply of JSON.parse(text) as { id: number; result: { cursor: string[] } }[]) {
        for (const cursor of reply.result.cursor) note(heard[reply.id]?.since, cursor)
      }
      acknowledged()
      return
    }
    const at = text.lastIndexOf(CURSOR)
    const end = text.indexOf('"', at + CURSOR.length)
    if (at < 0 || !text.startsWith('{"id":')) {
      notices.push(text)
      return
    }
    const subscription = heard[Number.parseInt(text.slice(6), 10)]
    if (subscription !== undefined) append(subscription.places, text.slice(at + CURSOR.length, end))
  }

  socket.on('message', (data) => take((data as Buffer).toString('latin1')))
  socket.on('close', (code) => {
    closeCode = code
  })
  await once(socket, 'open')
  const batch = plan.map((params, id) => ({ jsonrpc: '2.0', method: 'subscribe', params, id }))
  socket.send(JSON.stringify(batch))
  await ready
  return { heard, notices, close: () => socket.terminate(), closedWith: () => closeCode }
}

function note(since: Map<string, Place> | undefined, cursor: string): void {
  const [, chain = '', seq, n] = cursor.split(':')
  since?.set(chain, placeOf(Number(seq), Number(n)))
}

function append(places: Map<string, Place[]>, cursor: string): void {
  const [, chain = '', seq, n] = cursor.split(':')
  const place = placeOf(Number(seq), Number(n))
  const list = places.get(chain)
  if (list === undefined) places.set(chain, [place])
  else list.push(place)
}

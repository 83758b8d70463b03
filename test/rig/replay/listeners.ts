/** Sockets that note every swap pushed to them, every gap notice, and how late each swap came. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

export type Listener = {
  chain: string
  /** Where the subscription began. */
  since: string
  cursors: string[]
  /** Of retracts of swaps. */
  retracts: string[]
  /** The `to` of each notice. */
  gaps: string[]
  others: string[]
  close(): void
  isClosed(): boolean
}

/** `onSwap`: its chain time in seconds. `resume`: the cursor after which it begins; the head by default. */
export async function listenTo(
  url: string,
  key: string,
  chain: string,
  onSwap: (timeS: number) => void,
  resume?: string,
): Promise<Listener> {
  const socket = new WebSocket(url, { headers: { 'x-api-key': key }, perMessageDeflate: false })
  const lists = { cursors: [] as string[], retracts: [] as string[], gaps: [] as string[], others: [] as string[] }
  const listener = { chain, since: '', ...lists }
  let isClosed = false
  socket.on('close', () => {
    isClosed = true
  })
  socket.on('error', () => {})
  await once(socket, 'open')
  const begun = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const text = (data as Buffer).toString('latin1')
      if (text.includes('"topic":"tx"')) {
        listener.cursors.push(cursorIn(text))
        onSwap(Number(/"time":(\d+)/.exec(text)?.[1]))
      } else if (text.includes('"topic":"retract"')) listener.retracts.push(cursorIn(text))
      else if (text.includes('"topic":"gap"')) listener.gaps.push(/"to":"([^"]+)"/.exec(text)?.[1] ?? '')
      else if (listener.since === '') {
        listener.since = /"cursor":\["([^"]+)"/.exec(text)?.[1] ?? text
        resolve()
      } else listener.others.push(text)
    })
  })
  const params = ['tx', '*', chain, ...(resume === undefined ? [] : [{ since: [resume] }])]
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params }))
  await begun
  return Object.assign(listener, { close: () => socket.terminate(), isClosed: () => isClosed })
}

const cursorIn = (text: string): string => /"cursor":"([^"]+)"/.exec(text)?.[1] ?? ''

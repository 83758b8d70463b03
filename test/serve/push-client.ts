import WebSocket from 'ws'
import { KEY } from './rig.js'

export type Frame = {
  id?: number | string | null
  jsonrpc?: string
  result?: Record<string, unknown> & { topic?: string; status?: string; cursor?: unknown }
  error?: { code: number; message: string }
  sent_time?: number
}

/** Generous, so that only a frame that never arrives times out. */
const PATIENCE_MS = 30_000

export type Client = Awaited<ReturnType<typeof connect>>

/** A client that buffers the frames it receives. */
export async function connect(url: string, headers: Record<string, string> = { 'x-api-key': KEY }) {
  const socket = new WebSocket(url, { headers })
  const frames: Frame[] = []
  const waiting: (() => void)[] = []
  socket.on('message', (data) => {
    frames.push(JSON.parse(String(data)) as Frame)
    for (const wake of waiting.splice(0)) wake()
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }))
  })
  await new Promise<void>((resolve, reject) => {
    socket.on('open', () => resolve())
    socket.on('error', reject)
  })

  /** Waits for the first matching frame and removes it from the buffer. */
  async function take(fits: (frame: Frame) => boolean, what = 'a frame'): Promise<Frame> {
    const deadline = Date.now() + PATIENCE_MS
    for (;;) {
      const index = frames.findIndex(fits)
      const [frame] = index < 0 ? [] : frames.splice(index, 1)
      if (frame !== undefined) return frame
      const arrived = new Promise<void>((resolve) => {
        waiting.push(resolve)
      })
      const remainingMs = deadline - Date.now()
      if (remainingMs <= 0) throw new Error(`${what} did not come; there are ${JSON.stringify(frames).slice(0, 2000)}`)
      await Promise.race([arrived, new Promise((resolve) => setTimeout(resolve, remainingMs))])
    }
  }

  let lastId = 0
  /** Sends a request and returns its reply. */
  async function call(method: string, params?: unknown, id: number | string = `call-${++lastId}`): Promise<Frame> {
    socket.send(JSON.stringify({ jsonrpc: '2.0', method, params, id }))
    return take((frame) => frame.id === id && (frame.error !== undefined || isReply(frame)), `the reply to ${method}`)
  }

  return {
    socket,
    frames,
    closed,
    take,
    call,
    send: (text: string) => socket.send(text),
    topic: (topic: string) => take((frame) => frame.result?.topic === topic, `a ${topic} push`),
    /** Waits until every frame sent so far is in `frames`. */
    settle: async () => void (await call('ping')),
    close: () => socket.close(),
  }
}

function isReply({ result }: Frame): boolean {
  return result !== undefined && (typeof result === 'string' || (result.status === 'ok' && !('data' in result)))
}

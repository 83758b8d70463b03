/** A socket that sends any frame and compares each reply with the expected one. */
import WebSocket from 'ws'
import { type Expected, type ExpectedFrame, replyProblem } from './model.js'

export type Sent = { kind: string; data: string | Buffer; expected: ExpectedFrame }

export type FuzzSocket = {
  /** Sends all frames; resolves with the wrong replies once every expected reply has arrived. */
  run(frames: readonly Sent[]): Promise<string[]>
  isOpen(): boolean
  close(): void
}

export async function openFuzzSocket(url: string, key: string): Promise<FuzzSocket> {
  const socket = new WebSocket(url, { headers: { 'x-api-key': key } })
  const replies: unknown[] = []
  let barrier = ''
  let reached: (() => void) | undefined
  let failed: ((error: Error) => void) | undefined
  let runs = 0
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as Record<string, unknown>
    if (isPush(message)) return
    if (message.id === barrier && message.result === 'pong') reached?.()
    else replies.push(message)
  })
  socket.on('close', (code) => failed?.(new Error(`the server closed the socket (${code})`)))
  await new Promise<void>((resolve, reject) => socket.on('open', resolve).on('error', reject))

  async function run(frames: readonly Sent[]): Promise<string[]> {
    barrier = `barrier ${++runs}`
    const arrived = new Promise<void>((resolve, reject) => {
      reached = resolve
      failed = reject
    })
    for (const { data } of frames) socket.send(data, { binary: typeof data !== 'string' })
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'ping', id: barrier }))
    await arrived
    return problemsOf(frames, replies.splice(0))
  }

  return { run, isOpen: () => socket.readyState === WebSocket.OPEN, close: () => socket.close() }
}

/** Replies come in the order of their requests. */
function problemsOf(frames: readonly Sent[], replies: readonly unknown[]): string[] {
  const due = frames.filter(
    (frame): frame is Sent & { expected: Expected | Expected[] } => frame.expected !== undefined,
  )
  const problems = due.flatMap(({ kind, data, expected }, at) => {
    const problem = at < replies.length ? replyProblem(replies[at], expected) : 'no reply came'
    return problem === undefined ? [] : [`${kind}: ${problem}: ${show(String(data))} got ${show(replies[at])}`]
  })
  const more = replies.length > due.length ? [`${replies.length - due.length} replies more than were due`] : []
  return [...problems, ...more].slice(0, 3)
}

const show = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 300)

/** A message that is not a reply: a push or a notice. */
function isPush(message: Record<string, unknown>): boolean {
  const { result } = message
  return typeof result === 'object' && result !== null && ('topic' in result || 'data' in result)
}

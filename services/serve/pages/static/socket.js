/** A WebSocket that reconnects: gets a token, resumes its subscriptions and reports its state. */
import { CallError, call } from './api.js'

const DELAYS_S = [1, 2, 4, 8, 15]
const PING_MS = 15_000
const SILENT_MS = 40_000
const BATCH = 50
const BAD_PARAMS = -32602

/**
 * @param {{ key: string, onState: (state: { kind: 'connecting' | 'live' | 'waiting' | 'refused', inS?: number, why?: string }) => void }} options
 */
export function openSocket({ key, onState }) {
  /** By request id, which is also the id of the pushes. */
  const subscriptions = new Map()
  let nextId = 1
  let socket
  let failures = 0
  let heardAtMs = 0
  let closed = false
  let timer

  async function connect() {
    onState({ kind: 'connecting' })
    let access
    try {
      access = await call(key, '/v2/ws/token', { method: 'POST' })
    } catch (error) {
      if (closed) return
      if (error instanceof CallError && error.kind === 'key') onState({ kind: 'refused', why: error.message })
      else wait(error instanceof CallError ? error.message : String(error))
      return
    }
    if (closed) return
    socket = new WebSocket(access.url)
    socket.addEventListener('open', opened)
    socket.addEventListener('message', ({ data }) => heard(JSON.parse(data)))
    socket.addEventListener('close', ({ reason }) => {
      socket = undefined
      if (!closed) wait(reason === '' ? 'Connection lost.' : `The server closed the connection: ${reason}.`)
    })
  }

  function opened() {
    heardAtMs = Date.now()
    onState({ kind: 'live' })
    send([...subscriptions.values()].map(subscribeRequest))
  }

  function wait(why) {
    const inS = DELAYS_S[Math.min(failures, DELAYS_S.length - 1)]
    failures += 1
    onState({ kind: 'waiting', inS, why })
    // Jitter, so that clients do not reconnect all at once.
    timer = setTimeout(connect, inS * 1000 * (0.8 + Math.random() * 0.4))
  }

  function heard(message) {
    heardAtMs = Date.now()
    for (const one of Array.isArray(message) ? message : [message]) dispatch(one)
  }

  function dispatch({ id, result, error }) {
    const subscription = subscriptions.get(id)
    if (subscription === undefined) return
    if (error !== undefined) return refused(subscription, error)
    failures = 0
    if (result.topic === undefined && Array.isArray(result.cursor)) {
      // Replayed pushes carry their own cursors.
      if (subscription.cursors.size === 0) for (const cursor of result.cursor) note(subscription, cursor)
      return
    }
    if (typeof result.cursor === 'string') note(subscription, result.cursor)
    subscription.listener(result)
  }

  function refused(subscription, error) {
    const missed = subscription.cursors.size > 0
    if (error.code === BAD_PARAMS && (missed || subscription.options !== undefined)) {
      // Subscribe again without the rejected options; missed pushes are not replayed.
      subscription.cursors.clear()
      subscription.options = undefined
      if (missed) subscription.listener({ topic: 'gap' })
      send([subscribeRequest(subscription)])
      return
    }
    subscriptions.delete(subscription.id)
    subscription.listener({ topic: 'refused', reason: error.message })
  }

  function subscribeRequest({ id, params, options, cursors }) {
    const resumed = cursors.size === 0 ? options : { since: [...cursors.values()] }
    return { jsonrpc: '2.0', id, method: 'subscribe', params: resumed === undefined ? params : [...params, resumed] }
  }

  function send(requests) {
    if (socket?.readyState !== WebSocket.OPEN) return
    for (let at = 0; at < requests.length; at += BATCH) socket.send(JSON.stringify(requests.slice(at, at + BATCH)))
  }

  const pinging = setInterval(() => {
    if (socket?.readyState !== WebSocket.OPEN) return
    if (Date.now() - heardAtMs > SILENT_MS) socket.close()
    else send([{ jsonrpc: '2.0', id: 0, method: 'ping' }])
  }, PING_MS)

  connect()

  return {
    /** @param {{ params: unknown[], options?: object }[]} wanted
     *  @param {(result: Record<string, unknown>) => void} listener receives pushes and notices
     *  @returns {() => void} unsubscribes */
    subscribe(wanted, listener) {
      const made = wanted.map(({ params, options }) => ({
        id: nextId++,
        params,
        options,
        listener,
        cursors: new Map(),
      }))
      for (const subscription of made) subscriptions.set(subscription.id, subscription)
      send(made.map(subscribeRequest))
      return () => {
        for (const { id } of made) subscriptions.delete(id)
        send(made.map(({ params }) => ({ jsonrpc: '2.0', id: 0, method: 'unsubscribe', params })))
      }
    },
    close() {
      closed = true
      clearTimeout(timer)
      clearInterval(pinging)
      socket?.close()
    },
  }
}

/** Keeps the last cursor `epoch:chain:seq:n` of each chain. */
function note(subscription, cursor) {
  subscription.cursors.set(cursor.split(':')[1], cursor)
}

import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { type SocketTransport, socketTransport } from '../../../../services/ingest/sources/nodes/socket-transport.js'

/** Answers each request with its method's name, except for those that end a connection. */
let server: WebSocketServer
let connections: WebSocket[]
let transport: SocketTransport

beforeEach(async () => {
  connections = []
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server.on('connection', (client, { socket }) => {
    connections.push(client)
    client.on('error', () => {})
    client.on('message', (data) => {
      const { id, method } = JSON.parse(String(data)) as { id: number; method: string }
      if (method === 'never') return
      if (method !== 'close and hang') return client.send(JSON.stringify({ jsonrpc: '2.0', id, result: method }))
      // It sends a close frame and ignores the reply, so that the client stays half closed.
      socket.pause()
      client.close()
    })
  })
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  transport = socketTransport({
    url: `ws://127.0.0.1:${port}`,
    endpoint: { name: 'node', redact: (text) => text },
    maxAnswerBytes: 1_000_000,
    readError: () => ({ kind: 'node_error', detail: '' }),
  })
})

afterEach(async () => {
  transport.close()
  for (const client of connections) client.terminate()
  await new Promise((resolve) => server.close(resolve))
})

const send = { signal: new AbortController().signal, timeoutMs: 60_000 }
const ask = (method: string) => transport.exchange([{ method, params: [] }], send)
const failure = (asked: Promise<unknown>) => asked.then(String, (error: Error) => error.message)

it('fails pending requests when the connection is lost', async () => {
  const waiting = failure(ask('never'))
  await ask('first')
  connections[0]?.terminate()
  expect(await waiting).toContain('the socket was closed')
  expect(await ask('second')).toEqual([{ ok: true, result: 'second' }])
})

it('fails pending requests on a closing connection at the next request, before their timeout', async () => {
  const ended = new Promise<void>((resolve) => {
    transport.subscribe({ method: 'sub', params: [] }, { onNotice() {}, onEnd: resolve }, send).catch(() => {})
  })
  await ask('first')
  const waiting = failure(ask('close and hang'))
  // Requests before the close frame are pending with it.
  const asked: Promise<string>[] = []
  const askMore = () => {
    asked.push(failure(ask('more')))
    return connections.length
  }
  await expect.poll(askMore).toBe(2)
  expect(await waiting).toContain('closing')
  await Promise.all(asked)
  await ended
  expect(await ask('last')).toEqual([{ ok: true, result: 'last' }])
})

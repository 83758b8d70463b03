/** Stands between a client and a node, over HTTP and WebSocket; what becomes of a request is a gate's decision. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import type { EvmNode } from './node.js'

export type RpcRequest = { jsonrpc: '2.0'; id: unknown; method: string; params?: unknown[] }
export type RpcAnswer = {
  jsonrpc: '2.0'
  id: unknown
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

export type Asked = { requests: readonly RpcRequest[]; batch: boolean; transport: 'http' | 'ws' }
export type Reply =
  | { kind: 'answer'; body: unknown; status?: number; headers?: Record<string, string> }
  /** What is no JSON. */
  | { kind: 'text'; body: string; status: number }
  /** The connection ends in the middle. */
  | { kind: 'cut' }
  /** Nothing comes for that long, then the connection ends. */
  | { kind: 'silence'; ms: number }

export type Upstream = (requests: readonly RpcRequest[]) => Promise<RpcAnswer[]>
export type Gate = {
  pass(asked: Asked, upstream: Upstream): Promise<Reply>
  /** A subscription's notice, as often as it is to be sent. */
  notice?(message: string): readonly string[]
}

export type RunningProxy = { url: string; wsUrl: string; stop(): Promise<void> }

export async function startProxy(node: EvmNode, gate: Gate): Promise<RunningProxy> {
  const upstream: Upstream = async (requests) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(node.url, { method: 'POST', headers, body: JSON.stringify(requests) })
    const answers = (await response.json()) as RpcAnswer[]
    // In the order of the questions, whatever the node's.
    return requests.map(({ id }) => answers.find((answer) => answer.id === id) ?? fault(id, -32603, 'no answer'))
  }
  const server = createServer((request, response) => void answerHttp(gate, upstream, request, response))
  const connections = new Set<Socket>()
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (client) => serveSocket(node, gate, upstream, client))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    stop: async () => {
      for (const client of sockets.clients) client.terminate()
      for (const socket of connections) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const fault = (id: unknown, code: number, message: string): RpcAnswer => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})

function askedOf(text: string, transport: Asked['transport']): Asked {
  const body = JSON.parse(text) as RpcRequest | RpcRequest[]
  return { requests: Array.isArray(body) ? body : [body], batch: Array.isArray(body), transport }
}

async function answerHttp(
  gate: Gate,
  upstream: Upstream,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  request.setEncoding('utf8')
  let text = ''
  try {
    for await (const piece of request) text += piece
    const reply = await gate.pass(askedOf(text, 'http'), upstream)
    if (reply.kind === 'answer' || reply.kind === 'text') {
      const body = reply.kind === 'text' ? reply.body : JSON.stringify(reply.body)
      const headers = { 'content-type': 'application/json', ...(reply.kind === 'answer' ? reply.headers : {}) }
      response.writeHead(reply.status ?? 200, headers).end(body)
      return
    }
    if (reply.kind === 'silence') await waitUnlessClosed(response, reply.ms)
    else
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': '1000000' })
        .write('{"jsonrpc":"2.0",')
    response.destroy()
  } catch {
    // The client went away, or the node did: either way there is nobody to answer.
    response.destroy()
  }
}

function waitUnlessClosed(response: ServerResponse, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    response.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Subscriptions go to a socket of the node's own; all else is asked over HTTP. */
function serveSocket(node: EvmNode, gate: Gate, upstream: Upstream, client: WebSocket): void {
  const behind = new WebSocket(node.wsUrl)
  const opened = new Promise<void>((resolve) => behind.once('open', () => resolve()))
  behind.on('error', () => client.terminate())
  behind.on('message', (data) => {
    const text = String(data)
    const copies = text.includes('"eth_subscription"') ? (gate.notice?.(text) ?? [text]) : [text]
    for (const copy of copies) if (client.readyState === WebSocket.OPEN) client.send(copy)
  })
  client.on('error', () => {})
  client.on('close', () => behind.terminate())
  client.on('message', async (data) => {
    try {
      const asked = askedOf(String(data), 'ws')
      if (asked.requests.some(({ method }) => /^eth_(un)?subscribe$/.test(method))) {
        await opened
        behind.send(String(data))
        return
      }
      const reply = await gate.pass(asked, upstream)
      // What a web server would say in HTTP's words ends a socket.
      if (reply.kind === 'silence') setTimeout(() => client.terminate(), reply.ms)
      else if (reply.kind !== 'answer') client.terminate()
      else if (client.readyState === WebSocket.OPEN) client.send(JSON.stringify(reply.body))
    } catch {
      client.terminate()
    }
  })
}

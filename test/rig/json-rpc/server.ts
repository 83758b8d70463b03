/** JSON-RPC over HTTP and WebSocket on a separate port; `pass` decides the outcome of each request. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'

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
  /** A response that is not JSON. */
  | { kind: 'text'; body: string; status: number }
  /** The connection ends in the middle of the response. */
  | { kind: 'cut' }
  /** Nothing is sent for that long, then the connection ends. */
  | { kind: 'silence'; ms: number }

export type Pass = (asked: Asked) => Promise<Reply>

export type RunningServer = { url: string; wsUrl: string; stop(): Promise<void> }

/** `takeSocket`: handles socket messages that are not plain requests; returns false for those that are. */
export type ServerParts = { pass: Pass; takeSocket?: (client: WebSocket) => (asked: Asked, text: string) => boolean }

export async function serveJsonRpc({ pass, takeSocket }: ServerParts): Promise<RunningServer> {
  const server = createServer((request, response) => void answerHttp(pass, request, response))
  const connections = new Set<Socket>()
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (client) => {
    const isTaken = takeSocket?.(client) ?? (() => false)
    client.on('error', () => {})
    client.on('message', (data) => void answerSocket(pass, client, String(data), isTaken))
  })
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

export const fault = (id: unknown, code: number, message: string, data?: unknown): RpcAnswer => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
})

function askedOf(text: string, transport: Asked['transport']): Asked {
  const body = JSON.parse(text) as RpcRequest | RpcRequest[]
  return { requests: Array.isArray(body) ? body : [body], batch: Array.isArray(body), transport }
}

async function answerHttp(pass: Pass, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.setEncoding('utf8')
  let text = ''
  try {
    for await (const piece of request) text += piece
    const reply = await pass(askedOf(text, 'http'))
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
    // The client or the node disconnected, so nobody waits for the answer.
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

async function answerSocket(
  pass: Pass,
  client: WebSocket,
  text: string,
  isTaken: (asked: Asked, text: string) => boolean,
): Promise<void> {
  try {
    const asked = askedOf(text, 'ws')
    if (isTaken(asked, text)) return
    const reply = await pass(asked)
    // An HTTP error status closes a socket instead.
    if (reply.kind === 'silence') setTimeout(() => client.terminate(), reply.ms)
    else if (reply.kind !== 'answer') client.terminate()
    else if (client.readyState === WebSocket.OPEN) client.send(JSON.stringify(reply.body))
  } catch {
    client.terminate()
  }
}

/** A proxy between a client and a node, over HTTP and WebSocket; a gate decides the outcome of each request. */
import { WebSocket } from 'ws'
import {
  type Asked,
  fault,
  type Reply,
  type RpcAnswer,
  type RpcRequest,
  type RunningServer,
  serveJsonRpc,
} from '../json-rpc/server.js'

export { type Asked, fault, type Reply, type RpcAnswer, type RpcRequest } from '../json-rpc/server.js'

export type Upstream = (requests: readonly RpcRequest[]) => Promise<RpcAnswer[]>
export type Gate = {
  pass(asked: Asked, upstream: Upstream): Promise<Reply>
  /** A subscription notification, once per time it is to be sent. */
  notice?(message: string): readonly string[]
}

export type RunningProxy = RunningServer

/** The address of the node. */
export type ProxiedNode = { url: string; wsUrl: string }

export function startProxy(node: ProxiedNode, gate: Gate): Promise<RunningProxy> {
  const upstream: Upstream = async (requests) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(node.url, { method: 'POST', headers, body: JSON.stringify(requests) })
    const answers = (await response.json()) as RpcAnswer[]
    // In the order of the requests, whatever the node's order.
    return requests.map(({ id }) => answers.find((answer) => answer.id === id) ?? fault(id, -32603, 'no answer'))
  }
  return serveJsonRpc({
    pass: (asked) => gate.pass(asked, upstream),
    takeSocket: (client) => subscriptionsOf(node, gate, client),
  })
}

/** Subscriptions use a WebSocket to the node; all other requests use HTTP. */
function subscriptionsOf(node: ProxiedNode, gate: Gate, client: WebSocket) {
  const behind = new WebSocket(node.wsUrl)
  const opened = new Promise<void>((resolve) => behind.once('open', () => resolve()))
  behind.on('error', () => client.terminate())
  behind.on('message', (data) => {
    const text = String(data)
    const copies = text.includes('"eth_subscription"') ? (gate.notice?.(text) ?? [text]) : [text]
    for (const copy of copies) if (client.readyState === WebSocket.OPEN) client.send(copy)
  })
  client.on('close', () => behind.terminate())
  return ({ requests }: Asked, text: string): boolean => {
    if (!requests.some(({ method }) => /^eth_(un)?subscribe$/.test(method))) return false
    void opened.then(() => behind.send(text))
    return true
  }
}

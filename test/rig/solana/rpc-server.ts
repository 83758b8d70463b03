/** A node of the simulated chain: JSON-RPC over HTTP and WebSocket, like real ones. */
import {
  type Asked,
  type Reply,
  type RpcAnswer,
  type RpcRequest,
  type RunningServer,
  serveJsonRpc,
} from '../json-rpc/server.js'
import type { Ledger } from './ledger.js'
import { createMethods, type NodeOptions } from './rpc-methods.js'
import { answered, type Notice, type SubscriptionOptions, serveSubscriptions } from './subscriptions.js'

/** Sits in front of the node and decides the outcome of requests and notifications. */
export type Gate = {
  pass(asked: Asked, answer: (request: RpcRequest) => RpcAnswer): Reply | Promise<Reply>
  notice?(notice: Notice): readonly Notice[]
}

export type RpcServerOptions = NodeOptions & Partial<Omit<SubscriptionOptions, 'notice'>> & { gate?: Gate }

export type RpcServer = RunningServer & {
  /** Request count per method. */
  readonly asked: ReadonlyMap<string, number>
}

const OPEN_GATE: Gate = {
  pass: ({ requests, batch }, answer) => {
    const answers = requests.map(answer)
    return { kind: 'answer', body: batch ? answers : answers[0] }
  },
}

export async function startRpcServer(ledger: Ledger, options: RpcServerOptions = {}): Promise<RpcServer> {
  const { gate = OPEN_GATE, hasBlocks = false, hasSlots = true, ...nodeOptions } = options
  const methods = createMethods(ledger, nodeOptions)
  const asked = new Map<string, number>()
  const answer = (request: RpcRequest): RpcAnswer => {
    asked.set(request.method, (asked.get(request.method) ?? 0) + 1)
    return answered(request, ({ method, params = [] }) => methods(method, params))
  }
  const notice = gate.notice?.bind(gate)
  const server = await serveJsonRpc({
    pass: async (each) => gate.pass(each, answer),
    takeSocket: (client) =>
      serveSubscriptions(ledger, client, { hasBlocks, hasSlots, ...(notice === undefined ? {} : { notice }) }),
  })
  return { ...server, asked }
}

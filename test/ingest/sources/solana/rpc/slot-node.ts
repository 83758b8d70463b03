/** A node of a simulated chain over HTTP and WebSocket that answers like agave unless a test overrides it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { SlotChain } from './slot-chain.js'

export type Question = { id: number; method: string; params: unknown[] }
export type Answer = { result: unknown } | { error: { code: number; message: string; data?: unknown } }
/** Overrides the answer to a request; undefined keeps the node's answer. */
export type Interfere = (
  question: Question,
  asNode: () => Answer,
) => Answer | { status: number; text: string } | undefined

export type SlotNode = {
  url: string
  wsUrl: string
  chain: SlotChain
  /** The head; null: the last slot of the chain. */
  head: number | null
  /** The first available slot. */
  first: number
  genesis: string
  interfere: Interfere
  asked: Question[]
  countOf(method: string): number
  /** Sends `method` to all its subscribers. */
  notify(method: 'slotNotification' | 'blockNotification', result: unknown): number
  dropSockets(): void
  stop(): Promise<void>
}

export const refuse = (code: number, message: string): Answer => ({ error: { code, message } })

const SUBSCRIPTIONS: Readonly<Record<string, number>> = { slotSubscribe: 1, blockSubscribe: 2 }

export async function startSlotNode(chain: SlotChain): Promise<SlotNode> {
  const subscribers = new Map<WebSocket, Set<number>>()
  const headOf = () => node.head ?? Math.max(...node.chain.keys())

  function getBlock(slot: number, details: unknown): Answer {
    if (slot > headOf()) return refuse(-32004, `Block not available for slot ${slot}`)
    if (slot < node.first)
      return refuse(-32001, `Block ${slot} cleaned up, does not exist on node. First available block: ${node.first}`)
    const block = node.chain.get(slot)
    // Until it is rooted, a skipped slot is not known to be skipped.
    if (block === undefined)
      return slot > headOf() - 32
        ? refuse(-32004, `Block not available for slot ${slot}`)
        : refuse(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`)
    if (details !== 'none') return { result: block }
    const { transactions: _, ...header } = block
    return { result: header }
  }

  function asNode({ method, params }: Question): Answer {
    const head = headOf()
    const known = [...node.chain.keys()].filter((slot) => slot >= node.first && slot <= head)
    const [one, other] = params as [never, never]
    if (method === 'getSlot')
      return { result: (one as { commitment: string }).commitment === 'finalized' ? headOf() - 32 : headOf() }
    if (method === 'getGenesisHash') return { result: node.genesis }
    if (method === 'getBlock') return getBlock(one, (other as { transactionDetails?: unknown }).transactionDetails)
    if (method === 'getBlocks') return { result: known.filter((slot) => slot >= one && slot <= other) }
    if (method === 'getBlocksWithLimit') return { result: known.filter((slot) => slot >= one).slice(0, other) }
    if (method in SUBSCRIPTIONS) return { result: SUBSCRIPTIONS[method] }
    return refuse(-32601, 'Method not found')
  }

  function answer(text: string): { status: number; text: string; question: Question; isTaken: boolean } {
    const question = JSON.parse(text) as Question
    node.asked.push(question)
    const said = node.interfere(question, () => asNode(question)) ?? asNode(question)
    if ('status' in said) return { ...said, question, isTaken: false }
    const body = JSON.stringify({ jsonrpc: '2.0', id: question.id, ...said })
    return { status: 200, text: body, question, isTaken: 'result' in said }
  }

  const server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    const { status, text: body } = answer(text)
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => {
    subscribers.set(socket, new Set())
    socket.on('close', () => subscribers.delete(socket))
    socket.on('message', (data) => {
      const { text, question, isTaken } = answer(String(data))
      const id = SUBSCRIPTIONS[question.method]
      socket.send(text)
      if (id !== undefined && isTaken) subscribers.get(socket)?.add(id)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  const node: SlotNode = {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    chain,
    head: null,
    first: 0,
    genesis: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
    interfere: () => undefined,
    asked: [],
    countOf: (method) => node.asked.filter((question) => question.method === method).length,
    notify(method, result) {
      const subscription = method === 'slotNotification' ? 1 : 2
      const listening = [...subscribers].filter(([, ids]) => ids.has(subscription))
      for (const [socket] of listening)
        socket.send(JSON.stringify({ jsonrpc: '2.0', method, params: { result, subscription } }))
      return listening.length
    },
    dropSockets() {
      for (const socket of subscribers.keys()) socket.terminate()
    },
    async stop() {
      node.dropSockets()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return node
}

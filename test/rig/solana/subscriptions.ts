/** The subscriptions of one socket (solana.com/docs/rpc/websocket): `blockSubscribe`, if enabled, and `slotSubscribe`. */
import { WebSocket } from 'ws'
import { type Asked, fault, type RpcAnswer, type RpcRequest } from '../json-rpc/server.js'
import { type BlockOptions, blockAnswer } from './block-answer.js'
import type { Ledger, LedgerBlock } from './ledger.js'
import { invalidParams, methodNotFound, RpcError } from './rpc-errors.js'

export type Notice = { jsonrpc: '2.0'; method: string; params: { subscription: number; result: unknown } }

export type SubscriptionOptions = {
  /** `blockSubscribe` is off if a node was not started with it. */
  hasBlocks: boolean
  hasSlots: boolean
  /** Returns one entry per time the notification is to be sent. */
  notice?: (notice: Notice) => readonly Notice[]
}

type BlockConfig = BlockOptions & { commitment?: string; showRewards?: boolean }
type Subscription = { kind: 'slot' } | { kind: 'block'; config: BlockConfig; sentSlot: number }

export function serveSubscriptions(ledger: Ledger, client: WebSocket, options: SubscriptionOptions) {
  const { hasBlocks, hasSlots, notice = (one) => [one] } = options
  const subscriptions = new Map<number, Subscription>()
  let lastId = 0

  const end = ledger.onBlock((block) => {
    for (const [id, subscription] of subscriptions) {
      if (subscription.kind === 'slot') {
        const result = { slot: block.slot, parent: block.parentSlot, root: ledger.finalizedSlot }
        send('slotNotification', id, result)
      } else sendBlocks(id, subscription, block)
    }
  })
  client.on('close', end)

  function sendBlocks(id: number, subscription: Subscription & { kind: 'block' }, newest: LedgerBlock): void {
    const { config, sentSlot } = subscription
    const isFinal = (config.commitment ?? 'finalized') === 'finalized'
    const ready = isFinal
      ? ledger.blocks.filter(({ slot }) => slot > sentSlot && slot <= ledger.finalizedSlot)
      : [newest]
    for (const block of ready) {
      const { slot } = block
      subscription.sentSlot = slot
      const content = blockAnswer(block, { ...config, rewards: config.showRewards ?? false })
      send('blockNotification', id, { context: { slot }, value: { slot, block: content, err: null } })
    }
  }

  function send(method: string, subscription: number, result: unknown): void {
    for (const copy of notice({ jsonrpc: '2.0', method, params: { result, subscription } }))
      if (client.readyState === WebSocket.OPEN) client.send(JSON.stringify(copy))
  }

  function answer({ method, params = [] }: RpcRequest): unknown {
    if (method === 'blockSubscribe' && hasBlocks) {
      const [filter, config = {}] = params as [unknown, BlockConfig?]
      if (filter !== 'all') throw invalidParams('only the filter "all" is served')
      return opened({ kind: 'block', config, sentSlot: ledger.finalizedSlot })
    }
    if (method === 'slotSubscribe' && hasSlots) return opened({ kind: 'slot' })
    if (/^(block|slot)Unsubscribe$/.test(method)) return subscriptions.delete(Number(params[0]))
    throw methodNotFound()
  }

  function opened(subscription: Subscription): number {
    subscriptions.set(++lastId, subscription)
    return lastId
  }

  return ({ requests, batch }: Asked): boolean => {
    if (!requests.some(({ method }) => /(S|Uns)ubscribe$/.test(method))) return false
    const answers = requests.map((request) => answered(request, answer))
    if (client.readyState === WebSocket.OPEN) client.send(JSON.stringify(batch ? answers : answers[0]))
    return true
  }
}

export function answered(request: RpcRequest, answer: (request: RpcRequest) => unknown): RpcAnswer {
  const { id } = request
  try {
    return { jsonrpc: '2.0', result: answer(request), id }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return fault(id, error.code, error.message, error.data)
  }
}

/** Blocks from a Yellowstone gRPC endpoint, as they are confirmed. */
import { type EndpointName, endpointNames } from '../../nodes/endpoint-name.js'
import { NodeFault } from '../../nodes/node-fault.js'
import type { BlockStream } from '../block-stream.js'
import type { Commitment, SlotBlock } from '../slot-block.js'
import { subscribe } from './geyser-subscription.js'
import { geyserTarget } from './geyser-target.js'

export type GeyserOptions = {
  chain: string
  /** `https://host:port`, or `http://` without TLS. */
  url: string
  /** Sent as `x-token`; never logged. */
  token?: string | undefined
  commitment: Commitment
  /** Only transactions with one of these accounts; empty: all (see `accountsOfInterest`). */
  accounts: readonly string[]
  /** For logs; default: the URL's host. */
  name?: EndpointName | undefined
  maxSilentMs?: number
  /** Buffered blocks. */
  maxWaiting?: number
}

/** Endpoints ping every 10 to 15 s. */
const MAX_SILENT_MS = 60_000
const MAX_WAITING = 16

export function geyserStream(options: GeyserOptions): BlockStream {
  const { chain, url, token, commitment, maxSilentMs = MAX_SILENT_MS, maxWaiting = MAX_WAITING } = options
  const endpoint = options.name ?? endpointNames([url])[0]
  if (endpoint === undefined) throw new Error('an endpoint without a name')
  const { name } = endpoint
  const target = geyserTarget(url, token, endpoint)
  const closed = new AbortController()
  let { accounts } = options

  /** Ends when either signal aborts. */
  async function* oneCall(fromSlot: number | undefined, signal: AbortSignal): AsyncGenerator<SlotBlock> {
    const signals = [signal, closed.signal]
    if (signals.some(({ aborted }) => aborted)) return
    const wanted = { commitment, accounts, fromSlot }
    const subscription = subscribe({ target, name, chain, wanted, maxSilentMs, maxWaiting })
    const end = () => subscription.end()
    for (const each of signals) each.addEventListener('abort', end, { once: true })
    try {
      for (let block = await subscription.next(); block !== undefined; block = await subscription.next()) yield block
    } finally {
      for (const each of signals) each.removeEventListener('abort', end)
      end()
    }
  }

  return {
    name,
    async *blocks(fromSlot, signal) {
      let from = fromSlot
      for (;;) {
        try {
          yield* oneCall(from, signal)
          return
        } catch (error) {
          // A whole block includes the requested transactions.
          if (isOf(error, 'too_many_addresses')) accounts = []
          // Continue from now: the blocks in between are requested over RPC.
          else if (isOf(error, 'unknown_block')) from = undefined
          else throw error
        }
      }
    },
    close: () => closed.abort(),
  }
}

function isOf(error: unknown, kind: NodeFault['kind']): boolean {
  return error instanceof NodeFault && error.kind === kind
}

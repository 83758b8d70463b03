/** Blocks a node pushes over its socket (`blockSubscribe`). Most public nodes do not offer it. */
import { isFields } from '../../../decode/solana/wire/shape.js'
import { type EndpointName, endpointNames } from '../../nodes/endpoint-name.js'
import { type Blame, blameOn, type FaultKind, NodeFault } from '../../nodes/node-fault.js'
import { socketTransport } from '../../nodes/socket-transport.js'
import { BlockQueue, type BlockStream, type Commitment, type SlotBlock } from '../slot-block.js'
import { readError } from './read-error.js'
import { blockNotices, isCount, readBlock } from './rpc-messages.js'

export type BlockNoticesOptions = {
  chain: string
  /** ws or wss. */
  url: string
  commitment: Commitment
  /** For logs; default: the URL's host. */
  name?: EndpointName | undefined
  timeoutMs?: number
  maxAnswerBytes?: number
  /** Reconnect after this long without a notice. */
  maxSilentMs?: number
}

const TIMEOUT_MS = 20_000
const MAX_ANSWER_BYTES = 128e6
const MAX_SILENT_MS = 30_000
const MAX_WAITING = 8
const NOT_OFFERED: ReadonlySet<FaultKind> = new Set<FaultKind>(['unsupported', 'invalid', 'denied'])

/** Nodes do not replay: blocks start now, whatever slot is requested. A node that does not offer it yields nothing. */
export function blockNoticesStream(options: BlockNoticesOptions): BlockStream {
  const { chain, url, timeoutMs = TIMEOUT_MS, maxSilentMs = MAX_SILENT_MS } = options
  const endpoint = options.name ?? endpointNames([url])[0]
  if (endpoint === undefined) throw new Error('an endpoint without a name')
  const { name } = endpoint
  const wire = { url, endpoint, maxAnswerBytes: options.maxAnswerBytes ?? MAX_ANSWER_BYTES, readError }
  const blame = blameOn(endpoint, chain)
  const closed = new AbortController()
  const fault = (kind: 'timeout' | 'unavailable', detail: string) =>
    new NodeFault({ kind, endpoint: name, detail, chain })

  async function* blocks(signal: AbortSignal): AsyncGenerator<SlotBlock> {
    const queue = new BlockQueue<SlotBlock>(MAX_WAITING)
    // A separate connection: blocks take megabytes, and responses would queue behind them.
    const socket = socketTransport(wire)
    const stop = (): void => queue.end()
    const signals = [signal, closed.signal]
    for (const each of signals) each.addEventListener('abort', stop, { once: true })
    const silence = setTimeout(
      () => queue.end(fault('timeout', `no block within ${maxSilentMs / 1000} s`)),
      maxSilentMs,
    )
    const listener = {
      onNotice(notice: unknown): void {
        silence.refresh()
        const block = blockIn(notice, blame)
        if (block !== null) queue.push(block)
      },
      onEnd: () => queue.end(fault('unavailable', 'the socket was closed')),
    }
    try {
      if (signals.some(({ aborted }) => aborted)) return
      socket.subscribe(blockNotices(options.commitment), listener, { signal, timeoutMs }).catch((error: unknown) => {
        if (!(error instanceof NodeFault && NOT_OFFERED.has(error.kind))) return queue.end(error)
        // Not an error: blocks are requested instead.
        clearTimeout(silence)
        socket.close()
      })
      for (let block = await queue.next(); block !== undefined; block = await queue.next()) yield block
    } finally {
      clearTimeout(silence)
      for (const each of signals) each.removeEventListener('abort', stop)
      socket.close()
    }
  }

  return { name, blocks: (_fromSlot, signal) => blocks(signal), close: () => closed.abort() }
}

/** Null: no block, or an invalid one. Both are requested instead. */
function blockIn(notice: unknown, blame: Blame): SlotBlock | null {
  const { value } = isFields(notice) ? notice : {}
  const { slot, block, err } = isFields(value) ? value : {}
  if (!isCount(slot) || !isFields(block) || (err !== undefined && err !== null)) return null
  try {
    return readBlock(block, slot, blame)
  } catch (error) {
    if (error instanceof NodeFault) return null
    throw error
  }
}

/** One call of Geyser's `Subscribe`: yields blocks until it ends. */
import { Client, type ServiceError, type StatusObject } from '@grpc/grpc-js'
import { BadTransaction } from '../../../decode/solana/decode-errors.js'
import { NodeFault } from '../../nodes/node-fault.js'
import { BlockQueue } from '../block-stream.js'
import type { SlotBlock } from '../slot-block.js'
import { readBlock } from './geyser-block.js'
import { blocksRequest, geyserService, PONG, type SubscribeUpdate, type Wanted } from './geyser-service.js'
import { CHANNEL_OPTIONS, type GeyserTarget } from './geyser-target.js'
import { faultKind } from './status-fault.js'

export type SubscriptionOptions = {
  target: GeyserTarget
  /** The endpoint's, for logs. */
  name: string
  chain: string
  wanted: Wanted
  /** Time out after this long without a message: endpoints ping every few seconds. */
  maxSilentMs: number
  maxWaiting: number
}

export interface Subscription {
  /** Undefined: `end` was called. Throws a `NodeFault` if the endpoint ended it. */
  next(): Promise<SlotBlock | undefined>
  end(): void
}

export function subscribe({ target, name, chain, wanted, maxSilentMs, maxWaiting }: SubscriptionOptions): Subscription {
  const queue = new BlockQueue<SlotBlock>(maxWaiting)
  const isWhole = wanted.accounts.length === 0
  let hasCome = false
  const client = new Client(target.address, target.credentials, CHANNEL_OPTIONS)
  const { path, requestSerialize, responseDeserialize } = geyserService().subscribe
  const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, target.metadata.clone())
  const silence = setTimeout(() => fail('timeout', `no message within ${maxSilentMs / 1000} s`), maxSilentMs)

  call.on('data', (update: SubscribeUpdate) => {
    silence.refresh()
    // If the endpoint does not read, responses would pile up here.
    if (update.ping !== undefined && !call.writableNeedDrain) call.write(PONG)
    if (update.block !== undefined) receive(update.block)
  })
  // The status that follows reports it too, and also an end without an error.
  call.on('error', (_error: ServiceError) => {})
  call.on('status', ({ code, details }: StatusObject) => {
    const kind = faultKind({ code, details }, { fromSlot: wanted.fromSlot, accounts: wanted.accounts, hasCome })
    fail(kind, details === '' ? 'the stream ended' : details)
  })
  call.write(blocksRequest(wanted))

  function receive(block: unknown): void {
    try {
      queue.push(readBlock(block, isWhole))
      hasCome = true
    } catch (error) {
      // Throwing here would end the process.
      if (!(error instanceof BadTransaction)) queue.end(error)
      fail('lies', `sent an invalid block: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  function fail(kind: NodeFault['kind'], detail: string): void {
    queue.end(new NodeFault({ kind, endpoint: name, detail: target.redact(detail), chain }))
    close()
  }

  function close(): void {
    clearTimeout(silence)
    call.cancel()
    client.close()
  }

  return {
    next: () => queue.next(),
    end() {
      queue.end()
      close()
    },
  }
}

/** Blocks from a Yellowstone gRPC endpoint, as they are confirmed. */
import {
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  credentials,
  Metadata,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js'
import { ConfigError } from '../../../../core/domain/errors.js'
import { BadTransaction } from '../../../decode/solana/decode-errors.js'
import { type EndpointName, endpointNames } from '../../nodes/endpoint-name.js'
import { NodeFault } from '../../nodes/node-fault.js'
import { BlockQueue, type BlockStream, type Commitment, type SlotBlock } from '../slot-block.js'
import { readBlock } from './geyser-block.js'
import { blocksRequest, geyserService, PONG, type SubscribeUpdate, type Wanted } from './geyser-service.js'
import { faultKind } from './status-fault.js'

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

type SubscriptionOptions = {
  target: GeyserTarget
  /** The endpoint's, for logs. */
  name: string
  chain: string
  wanted: Wanted
  /** Time out after this long without a message: endpoints ping every few seconds. */
  maxSilentMs: number
  maxWaiting: number
}

/** One call of Geyser's `Subscribe`: yields blocks until it ends. */
interface Subscription {
  /** Undefined: `end` was called. Throws a `NodeFault` if the endpoint ended it. */
  next(): Promise<SlotBlock | undefined>
  end(): void
}

function subscribe({ target, name, chain, wanted, maxSilentMs, maxWaiting }: SubscriptionOptions): Subscription {
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

/** A Geyser endpoint's address, credentials and gRPC options, from its URL and token. */
type GeyserTarget = {
  /** host:port */
  address: string
  credentials: ChannelCredentials
  metadata: Metadata
  /** Removes the token from an endpoint's message. */
  redact(text: string): string
}

const MEBIBYTE = 1024 * 1024

/**
 * A block may exceed 50 MB. HTTP/2's default window would limit a stream to 64 KB per round trip. Each connection is new: gRPC's own
 * back-off between attempts, up to two minutes, would add to ours.
 */
const CHANNEL_OPTIONS: ChannelOptions = {
  'grpc.max_receive_message_length': 256 * MEBIBYTE,
  'grpc-node.flow_control_window': 16 * MEBIBYTE,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_retries': 0,
}

function geyserTarget(url: string, token: string | undefined, { name, redact }: EndpointName): GeyserTarget {
  const { protocol, hostname, port, pathname, search } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new ConfigError({
      code: 'geyser_url',
      what: `The URL of the Geyser endpoint ${name} has an unsupported scheme`,
      expected: 'https://host:port, or http:// without TLS',
      got: `${protocol}//`,
    })
  if (pathname.length > 1 || search !== '')
    throw new ConfigError({
      code: 'geyser_url',
      what: `The URL of the Geyser endpoint ${name} has a path or a query`,
      expected: 'https://host:port',
      fix: 'gRPC URLs have no path. If it is the token, pass it as the endpoint’s token.',
    })
  const metadata = new Metadata()
  if (token !== undefined) metadata.set('x-token', checkedToken(token, name))
  return {
    address: `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`,
    credentials: protocol === 'https:' ? credentials.createSsl() : credentials.createInsecure(),
    metadata,
    redact: (text) => redact(token === undefined ? text : text.replaceAll(token, '(hidden)')),
  }
}

/** gRPC's own error would contain the token. */
function checkedToken(token: string, name: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new ConfigError({
    code: 'geyser_token',
    what: `The token of the Geyser endpoint ${name} is invalid`,
    expected: 'printable ASCII characters without spaces',
    got: token === '' ? 'an empty token' : 'a token with other characters (hidden)',
  })
}

/** A Geyser endpoint in this process: real gRPC, sending what the test asks for. */
import { once } from 'node:events'
import { Server, ServerCredentials, type ServerDuplexStream, type ServiceError, status } from '@grpc/grpc-js'
import {
  geyserService,
  type SubscribeRequest,
  type SubscribeUpdate,
} from '../../../../../services/ingest/sources/solana/geyser/geyser-service.js'

type Wire = ServerDuplexStream<SubscribeRequest, SubscribeUpdate | Buffer>

/** A subscriber. */
export class Visitor {
  readonly requests: SubscribeRequest[] = []
  private wake: () => void = () => {}
  gone = false

  constructor(
    private readonly wire: Wire,
    readonly token: unknown,
  ) {
    wire.on('data', (request: SubscribeRequest) => {
      this.requests.push(request)
      this.wake()
    })
    const leave = () => {
      this.gone = true
      this.wake()
    }
    wire.on('cancelled', leave).on('end', leave).on('error', leave)
  }

  get fromSlot(): string | undefined {
    return this.requests[0]?.fromSlot
  }

  get accounts(): readonly string[] | undefined {
    return Object.values(this.requests[0]?.blocks ?? {})[0]?.accountInclude
  }

  /** Resolves with the n-th request of this subscriber, counted from 1. */
  async request(n: number): Promise<SubscribeRequest | undefined> {
    await this.until(() => this.requests.length >= n)
    return this.requests[n - 1]
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo() && !this.gone)
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
  }

  /** Bytes are sent as they are. Resolves when the other side can accept more. */
  async send(update: SubscribeUpdate | Buffer): Promise<void> {
    if (!this.wire.write(update)) await once(this.wire, 'drain')
  }

  refuse(code: status, details: string): void {
    this.wire.emit('error', Object.assign(new Error(details), { code, details }) as ServiceError)
  }

  end(): void {
    this.wire.end()
  }
}

export interface GeyserServer {
  url: string
  visitors: Visitor[]
  /** Cuts all connections like a machine that goes down, and accepts no new ones. */
  stop(): void
}

/** `serve`: called after each subscriber's first request. Rejects any other `token` with a message that contains it. */
export async function startGeyser(
  serve: (visitor: Visitor) => Promise<void> | void,
  token: string,
  port = 0,
): Promise<GeyserServer> {
  const server = new Server({ 'grpc.max_send_message_length': -1 })
  const visitors: Visitor[] = []
  const { subscribe: Subscribe } = geyserService()
  const serialize = Subscribe.responseSerialize
  const responseSerialize = (update: object) => (Buffer.isBuffer(update) ? update : serialize(update))
  const definition = { Subscribe: { ...Subscribe, responseSerialize } }
  server.addService(definition, {
    Subscribe(wire: Wire) {
      const visitor = new Visitor(wire, wire.metadata.get('x-token')[0])
      visitors.push(visitor)
      if (visitor.token !== token)
        return visitor.refuse(status.UNAUTHENTICATED, `No valid auth token: ${String(visitor.token)}`)
      void visitor.request(1).then(() => serve(visitor))
    },
  })
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, at) =>
      error === null ? resolve(at) : reject(error),
    )
  })
  return { url: `http://127.0.0.1:${bound}`, visitors, stop: () => server.forceShutdown() }
}

/** A Geyser endpoint and streams from it, closed after each test. */
import { afterEach } from 'vitest'
import { type GeyserOptions, geyserStream } from '../../../../../services/ingest/sources/solana/geyser/geyser-stream.js'
import type { BlockStream, SlotBlock } from '../../../../../services/ingest/sources/solana/slot-block.js'
import { type GeyserServer, startGeyser, type Visitor } from './geyser-server.js'

export const TOKEN = 'a-secret-0123456789'

let closing = new AbortController()
let servers: GeyserServer[] = []

afterEach(() => {
  closing.abort()
  closing = new AbortController()
  for (const server of servers) server.stop()
  servers = []
})

export type Rig = {
  server: GeyserServer
  open(options?: Partial<GeyserOptions>): BlockStream
  /** The first blocks of a new stream. */
  taken(count: number, fromSlot?: number, options?: Partial<GeyserOptions>): Promise<SlotBlock[]>
  /** The error that ends a new stream. */
  fault(fromSlot?: number, options?: Partial<GeyserOptions>): Promise<unknown>
}

export const testSignal = (): AbortSignal => closing.signal

export async function serve(each: (visitor: Visitor) => Promise<void> | void): Promise<Rig> {
  const server = await startGeyser(each, TOKEN)
  servers.push(server)
  const open = (options: Partial<GeyserOptions> = {}) =>
    geyserStream({
      chain: 'solana',
      url: server.url,
      token: TOKEN,
      commitment: 'confirmed',
      accounts: [],
      ...options,
    })
  async function taken(count: number, fromSlot?: number, options: Partial<GeyserOptions> = {}): Promise<SlotBlock[]> {
    const blocks: SlotBlock[] = []
    for await (const block of open(options).blocks(fromSlot, closing.signal)) if (blocks.push(block) === count) break
    return blocks
  }
  const fault = (fromSlot?: number, options?: Partial<GeyserOptions>) =>
    taken(Number.POSITIVE_INFINITY, fromSlot, options).then(
      () => undefined,
      (error: unknown) => error,
    )
  return { server, open, taken, fault }
}

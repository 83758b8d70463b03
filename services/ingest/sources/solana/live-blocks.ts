/** The last blocks pushed by streams, by slot: the reader looks here before it sends a request. */

import { createBackoff, type Sleep, sleep } from '../../../core/runtime/backoff.js'
import type { Metrics, Sample } from '../../../core/runtime/metrics.js'
import { type FaultKind, NodeFault } from '../nodes/node-fault.js'
import { type BlockStream, type SlotBlock, type SlotHeader, slotHeader } from './slot-block.js'

/** A stream's public status. `connected`: blocks arrive. */
export type StreamStatus = { name: string; connected: boolean; lastSlot: number | null; error: string | null }

export type LiveOptions = {
  streams: readonly BlockStream[]
  /** A block takes several MB. */
  maxBlocks?: number
  sleep?: Sleep
  random?: () => number
  /** A stream was lost; it will be reconnected. */
  onLost?(name: string, error: unknown): void
}

export interface LiveBlocks {
  /** It stays until newer ones evict it: a range that is read again finds it again. */
  take(slot: number): SlotBlock | undefined
  /** For a block that turned out not to be on the chain. */
  forget(slot: number): void
  /** Called for every new block. Returns a function that stops it. */
  onSlot(listener: (header: SlotHeader) => void): () => void
  status(): StreamStatus[]
  close(): Promise<void>
}

const MAX_BLOCKS = 32

/** The endpoint would send the same block again for the same slot. */
const LASTING: ReadonlySet<FaultKind> = new Set<FaultKind>(['lies', 'too_wide'])

/** Runs until it is closed. */
export function followStreams(options: LiveOptions): LiveBlocks {
  const { streams, maxBlocks = MAX_BLOCKS, random = Math.random } = options
  /** In order of arrival. Not by slot: a made-up slot far ahead would never be evicted. */
  const blocks = new Map<number, SlotBlock>()
  const listeners = new Set<(header: SlotHeader) => void>()
  const statuses = new Map<BlockStream, StreamStatus>()
  const closing = new AbortController()
  const { signal } = closing
  const runs = streams.map((stream) => keepRunning(stream))

  function add(block: SlotBlock): void {
    const { number, hash } = block
    // Of two different blocks, the later one is on the chain.
    if (blocks.get(number)?.hash === hash) return
    blocks.delete(number)
    blocks.set(number, block)
    for (const slot of blocks.keys()) {
      if (blocks.size <= maxBlocks) break
      blocks.delete(slot)
    }
    for (const listener of listeners) listener(slotHeader(block))
  }

  async function keepRunning(stream: BlockStream): Promise<void> {
    const status: StreamStatus = { name: stream.name, connected: false, lastSlot: null, error: null }
    statuses.set(stream, status)
    const backoff = createBackoff({ firstMs: 500, maxMs: 30_000, random, sleep: options.sleep ?? sleep })
    let fromSlot: number | undefined
    while (!signal.aborted) {
      try {
        for await (const block of stream.blocks(fromSlot, signal)) {
          backoff.reset()
          fromSlot = block.number + 1
          Object.assign(status, { connected: true, lastSlot: block.number, error: null })
          add(block)
        }
      } catch (error) {
        status.error = error instanceof Error ? error.message : String(error)
        if (error instanceof NodeFault && LASTING.has(error.kind)) fromSlot = undefined
        options.onLost?.(stream.name, error)
      }
      status.connected = false
      await backoff.wait(signal)
    }
  }

  return {
    take: (slot) => blocks.get(slot),
    forget: (slot) => void blocks.delete(slot),
    onSlot(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    status: () => [...statuses.values()].map((status) => ({ ...status })),
    async close() {
      closing.abort()
      for (const stream of streams) stream.close()
      await Promise.all(runs)
    },
  }
}

/** Stream names are host names. */
export function registerStreamMetrics(metrics: Metrics, chain: string, streams: () => StreamStatus[]): void {
  const labels = ['chain', 'stream']
  const each = (value: (stream: StreamStatus) => number) =>
    function* (): Iterable<Sample> {
      for (const stream of streams()) yield { labels: { chain, stream: stream.name }, value: value(stream) }
    }
  metrics.gauge(
    { name: 'dextape_stream_connected', help: '1 if a stream sends blocks, 0 if blocks are requested', labels },
    each(({ connected }) => (connected ? 1 : 0)),
  )
  metrics.gauge(
    { name: 'dextape_stream_head_blocks', help: 'Last slot a stream sent', labels },
    each(({ lastSlot }) => lastSlot ?? 0),
  )
}

/**
 * Tells the other threads of this process what one of them appended, with the bytes: they wake up at once, and read no pages of
 * the log's file, which would stay mapped.
 */
import { BroadcastChannel } from 'node:worker_threads'
import type { TailChunk } from './tail.js'

/** Chunks of one append, in memory that all threads share. */
export type ThreadAppend = { topicId: number; chunks: readonly TailChunk[] }

export type ThreadChannel = {
  announce(topic: string, append: ThreadAppend): void
  /** Called with each append of another thread from now on; a second call for a topic changes nothing. */
  listen(topic: string, onAppend: (append: ThreadAppend) => void): void
  close(): void
}

export function openThreadChannel(path: string): ThreadChannel {
  const channels = new Map<string, BroadcastChannel>()
  const listening = new Set<string>()

  function channelOf(topic: string): BroadcastChannel {
    const known = channels.get(topic)
    if (known !== undefined) return known
    const opened = new BroadcastChannel(`${path} ${topic}`)
    opened.unref()
    channels.set(topic, opened)
    return opened
  }

  return {
    announce: (topic, append) => channelOf(topic).postMessage(append),
    listen(topic, onAppend) {
      if (listening.has(topic)) return
      listening.add(topic)
      channelOf(topic).onmessage = (event) => {
        const { topicId, chunks } = (event as { data: ThreadAppend }).data
        // A buffer arrives as a plain byte array.
        const asBuffers = chunks.map((chunk) => ({ ...chunk, bytes: asBuffer(chunk.bytes) }))
        onAppend({ topicId, chunks: asBuffers })
      }
    },
    close() {
      for (const channel of channels.values()) channel.close()
      channels.clear()
    },
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** Other threads get it by reference. The database takes no shared memory. */
export function sharedBuffer(bytes: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(bytes))
}

/**
 * The chunks this process appended last, in any thread. Followers of a topic read them here: pages of the log's file that were read stay
 * mapped, and would make up a fifth of an idle process's memory.
 */
export type TailChunk = { first: number; end: number; bytes: Buffer; times?: ChunkTimes | undefined }

/** By the wall clock, for chunks with a block whose arrival is known. They are kept only here. */
export type ChunkTimes = { appendedMs: number; arrivedMs: readonly (number | undefined)[] }

export type Tail = {
  /** Adds a committed chunk. */
  add(topicId: number, chunk: TailChunk): void
  /** The chunk with this offset, if it is kept. */
  find(topicId: number, offset: number): TailChunk | undefined
}

export function createTail(maxBytes: number): Tail {
  const byTopic = new Map<number, TailChunk[]>()
  /** Topics of the kept chunks, oldest first. */
  let order: number[] = []
  let dropped = 0
  let bytes = 0

  function dropOldest(): void {
    const topicId = order[dropped] as number
    dropped += 1
    bytes -= byTopic.get(topicId)?.shift()?.bytes.byteLength ?? 0
    if (dropped * 2 <= order.length) return
    order = order.slice(dropped)
    dropped = 0
  }

  return {
    add(topicId, chunk) {
      const kept = byTopic.get(topicId)
      if (kept === undefined) byTopic.set(topicId, [chunk])
      else kept.push(chunk)
      order.push(topicId)
      bytes += chunk.bytes.byteLength
      while (bytes > maxBytes) dropOldest()
    },
    find: (topicId, offset) => byTopic.get(topicId)?.findLast(({ first, end }) => first <= offset && offset < end),
  }
}

/** The ids of all records ever applied, in chunks by height: recent chunks in memory, all of them in the state store. */
import type { AppliedHistory } from '../accept-record.js'
import { pack, padded, type StateChange, type StateStore, unpack } from './state-store.js'

const CHUNK_HEIGHTS = 512
const CHUNKS_IN_MEMORY = 16

export class StoredHistory implements AppliedHistory {
  private readonly chunks = new Map<number, Set<string>>()
  private changed = new Set<number>()

  constructor(private readonly store: StateStore) {}

  has(number: number, name: string): boolean {
    return this.chunk(number).has(`${number}:${name}`)
  }

  add(number: number, name: string): void {
    this.chunk(number).add(`${number}:${name}`)
    this.changed.add(Math.floor(number / CHUNK_HEIGHTS))
  }

  /** The changes a checkpoint must write. */
  image(): StateChange[] {
    const changes = [...this.changed].map((chunk) => ({
      key: key(chunk),
      value: pack([...(this.chunks.get(chunk) ?? [])]),
    }))
    this.changed.clear()
    return changes
  }

  /** Drops old chunks from memory; call only after the last image is written. */
  shrink(): void {
    for (const chunk of this.chunks.keys()) {
      if (this.chunks.size <= CHUNKS_IN_MEMORY) return
      if (!this.changed.has(chunk)) this.chunks.delete(chunk)
    }
  }

  private chunk(number: number): Set<string> {
    const index = Math.floor(number / CHUNK_HEIGHTS)
    let chunk = this.chunks.get(index)
    if (chunk === undefined) {
      const kept = this.store.get(key(index))
      chunk = new Set(kept === undefined ? [] : unpack<string[]>(kept).fields)
      this.chunks.set(index, chunk)
    }
    return chunk
  }
}

function key(chunk: number): string {
  return `a/${padded(chunk)}`
}

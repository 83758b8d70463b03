/** Fetches ranges of blocks, several at a time, and yields them in order. */

export type ChunkOptions<B> = {
  from: number
  to: number
  /** The blocks of a range. */
  fetch(from: number, to: number): Promise<B[]>
  weightOf(block: B): number
  /** Ranges fetched concurrently. */
  ahead?: number
  /** Carries the adapted size from one run to the next. */
  size: ChunkSize
}

/** Blocks per range, adapted so that a range is neither too small for a request nor too large for memory. */
export type ChunkSize = { blocks: number }

const AHEAD = 6
const WEIGHT_WANTED = 2500
const MOST_BLOCKS = 500

export async function* inChunks<B>(options: ChunkOptions<B>): AsyncGenerator<B[]> {
  const { to, fetch, weightOf, ahead = AHEAD, size } = options
  const fetching: { span: number; blocks: Promise<B[]> }[] = []
  let next = options.from
  const fill = () => {
    while (next <= to && fetching.length < ahead) {
      const last = Math.min(to, next + size.blocks - 1)
      const blocks = fetch(next, last)
      // Awaited later; until then a rejection must not count as unhandled.
      blocks.catch(() => {})
      fetching.push({ span: last + 1 - next, blocks })
      next = last + 1
    }
  }
  for (fill(); ; fill()) {
    const first = fetching.shift()
    if (first === undefined) return
    const blocks = await first.blocks
    const weight = blocks.reduce((sum, block) => sum + weightOf(block), 0)
    adapt(size, first.span, weight)
    yield blocks
  }
}

/** By density, so that ranges fetched with an older size lead to the same result. */
function adapt(size: ChunkSize, span: number, weight: number): void {
  const fitting = Math.round((span * WEIGHT_WANTED) / Math.max(1, weight))
  size.blocks = Math.max(1, Math.min(MOST_BLOCKS, size.blocks * 2, fitting))
}

/** Ranges of blocks, fetched several at a time and given in order. */

export type ChunkOptions<B> = {
  from: number
  to: number
  /** What of the range has a block. */
  fetch(from: number, to: number): Promise<B[]>
  weightOf(block: B): number
  /** Ranges on their way at once. */
  ahead?: number
  /** Carries what was found to be a good size from one run to the next. */
  size: ChunkSize
}

/** Blocks of a range, so that what they hold is neither too little for a request nor too much for the memory. */
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
      // Awaited in its turn; until then a failure is nobody's surprise.
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

/** By the density of what came, so that ranges already on their way with an older size say the same. */
function adapt(size: ChunkSize, span: number, weight: number): void {
  const fitting = Math.round((span * WEIGHT_WANTED) / Math.max(1, weight))
  size.blocks = Math.max(1, Math.min(MOST_BLOCKS, size.blocks * 2, fitting))
}

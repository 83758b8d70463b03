/** Ranges of blocks, fetched several at a time and given in order. */
import type { EvmBlock } from '../../decode/evm/log.js'

export type ChunkOptions = {
  from: number
  to: number
  fetch(from: number, to: number): Promise<EvmBlock[]>
  /** Ranges on their way at once. */
  ahead?: number
  /** Carries what was found to be a good size from one run to the next. */
  size?: ChunkSize
}

/** Blocks of a range, so that its logs are neither too few for a request nor too many for the memory. */
export type ChunkSize = { blocks: number }

const AHEAD = 6
const LOGS_WANTED = 2500
const BLOCKS = { least: 1, first: 20, most: 500 }

export const firstChunkSize = (): ChunkSize => ({ blocks: BLOCKS.first })

export async function* inChunks(options: ChunkOptions): AsyncGenerator<EvmBlock[]> {
  const { to, fetch, ahead = AHEAD, size = firstChunkSize() } = options
  const fetching: Promise<EvmBlock[]>[] = []
  let next = options.from
  const fill = () => {
    while (next <= to && fetching.length < ahead) {
      const last = Math.min(to, next + size.blocks - 1)
      const chunk = fetch(next, last)
      // Awaited in its turn; until then a failure is nobody's surprise.
      chunk.catch(() => {})
      fetching.push(chunk)
      next = last + 1
    }
  }
  for (fill(); fetching.length > 0; fill()) {
    const blocks = await (fetching.shift() as Promise<EvmBlock[]>)
    adapt(size, blocks)
    yield blocks
  }
}

/** By the density of what came, so that ranges already on their way with an older size say the same. */
function adapt(size: ChunkSize, blocks: readonly EvmBlock[]): void {
  const logs = blocks.reduce((sum, block) => sum + block.logs.length, 0)
  const fitting = Math.round((blocks.length * LOGS_WANTED) / Math.max(1, logs))
  size.blocks = Math.max(BLOCKS.least, Math.min(BLOCKS.most, size.blocks * 2, fitting))
}

/** Up to which block a chain is final: as reported by the nodes, or by depth if they report nothing. */
import type { Finality } from '../../../core/config/node-source.js'
import type { ChainNodes, Header } from './chain-nodes.js'

export interface FinalityWatch {
  /** Asks the nodes again if their last answer is old. */
  refresh(signal: AbortSignal): Promise<void>
  /** The last final block as seen from a block. */
  finalOf(number: number): number
}

const ASK_EVERY_MS = 15_000
/** For nodes without the `finalized` tag. */
const DEPTH_WITHOUT_TAG = 64

export function watchFinality(
  finality: Finality,
  reader: Pick<ChainNodes<Header>, 'finalized'>,
  nowMs: () => number,
): FinalityWatch {
  if (finality.kind === 'depth') return byDepth(finality.blocks)
  const withoutTag = byDepth(DEPTH_WITHOUT_TAG)
  let final: number | null = null
  let askedAtMs = Number.NEGATIVE_INFINITY
  return {
    async refresh(signal) {
      if (nowMs() - askedAtMs < ASK_EVERY_MS) return
      const answer = await reader.finalized(signal)
      askedAtMs = nowMs()
      // A lagging node must not move finality back.
      if (answer !== null) final = Math.max(final ?? 0, answer)
    },
    finalOf: (number) => (final === null ? withoutTag.finalOf(number) : Math.min(number, final)),
  }
}

function byDepth(blocks: number): FinalityWatch {
  return {
    async refresh() {},
    finalOf: (number) => Math.max(0, number - blocks),
  }
}

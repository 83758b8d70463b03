/** How far a backfill is, in blocks. */
export type Progress = { done: number; total: number; percent: number; blocksPerS: number; leftS: number | null }

/** The rate is of the last look back, so that it follows the nodes. */
const LOOK_BACK_MS = 60_000

export function createProgress(nowMs: () => number) {
  let marks: { atMs: number; at: number }[] = []
  return {
    /** `at`: the last block written, between the first wanted and the one to reach. */
    at(first: number, at: number, head: number): Progress {
      const now = nowMs()
      marks.push({ atMs: now, at })
      const old = marks.findLastIndex(({ atMs }) => atMs <= now - LOOK_BACK_MS)
      marks = marks.slice(Math.max(0, old))
      const oldest = marks[0] ?? { atMs: now, at }
      const blocksPerS = now === oldest.atMs ? 0 : ((at - oldest.at) * 1000) / (now - oldest.atMs)
      const total = Math.max(1, head - first + 1)
      const done = Math.min(total, Math.max(0, at - first + 1))
      return {
        ...{ done, total, percent: Math.floor((done * 100) / total), blocksPerS: Math.round(blocksPerS) },
        leftS: blocksPerS > 0 ? Math.ceil((total - done) / blocksPerS) : null,
      }
    },
  }
}

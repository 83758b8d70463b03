import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countOf } from '../rig/counts.js'
import { type Baseline, makeBaseline } from '../rig/up/baseline.js'
import { readRows } from '../rig/up/contents.js'
import { rowDifferences } from '../rig/up/differences.js'
import { play, untilSeqs } from '../rig/up/play.js'
import { retractDepths, seqsOf, tapeWithoutOrphans, writeTape } from '../rig/up/recording.js'

/** Columns that depend on the order of the log, which includes orphaned blocks. */
const ORDER = ['version', 'seq']
const RESTARTS = countOf('orphanRestarts')

let base: Baseline
let clean: Awaited<ReturnType<typeof readRows>>

beforeAll(async () => {
  const options = { retracts: { probability: 0.12, maxDepth: 20 } }
  base = await makeBaseline({ seed: 42, chains: ['eth', 'solana'], blocksPerChain: 120, options })
  const lines = tapeWithoutOrphans(base.lines)
  const dataDir = base.pathOf('clean')
  const events = writeTape(base.pathOf('clean.jsonl'), lines)
  await play({ dataDir, events }, (up) => untilSeqs(up, seqsOf(lines)))
  clean = await readRows(dataDir)
})

afterAll(() => base?.remove())

describe('retracts leave no trace in the rows', () => {
  it('has retracts of depth 1 to 20 in the recording', () => {
    const depths = [...retractDepths(base.lines).values()]
    expect(Math.min(...depths)).toBe(1)
    expect(Math.max(...depths)).toBe(20)
    expect(depths.length).toBeGreaterThan(15)
  })

  it('has the same tables as a run without the orphaned blocks', () => {
    expect(rowDifferences(base.contents.rows, clean, ORDER)).toEqual([])
  })

  if (RESTARTS > 0)
    it('has the same tables when stopped between orphaned blocks and their retract', async () => {
      const { lines } = base
      const dataDir = base.pathOf('stopped')
      const deepest = [...retractDepths(lines)].sort(([, a], [, b]) => b - a).slice(0, RESTARTS)
      // Every second stop is inside the orphaned branch, the others are right before the retract.
      const cuts = deepest.map(([at, depth], index) => (index % 2 === 0 ? at : at - Math.floor(depth / 2)))
      for (const cut of [...cuts.sort((a, b) => a - b), lines.length]) {
        const played = lines.slice(0, cut)
        const events = writeTape(base.pathOf('growing.jsonl'), played)
        await play({ dataDir, events }, (up) => untilSeqs(up, seqsOf(played)))
      }
      expect(rowDifferences(await readRows(dataDir), clean, ORDER)).toEqual([])
      expect(await base.differencesOf(dataDir)).toEqual([])
    })
})

/** The same recording in one process on embedded parts, and through a broker and a server by three: the same to the last bit. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../rig/cluster/cluster.js'
import { clusterContents, updateBytes } from '../rig/cluster/contents.js'
import { recordedDay } from '../rig/evm/day.js'
import { describeRecorded } from '../rig/recordings.js'
import type { RecordingLine } from '../rig/reference/lines.js'
import { type Baseline, baselineOf } from '../rig/up/baseline.js'
import { withLog } from '../rig/up/contents.js'
import { contentDifferences } from '../rig/up/differences.js'
import { BUSY } from '../rig/up/play.js'
import { generateTape } from '../rig/up/recording.js'

const generated = () =>
  generateTape({
    ...{ seed: 61, chains: ['eth', 'bsc', 'solana'], blocksPerChain: 250 },
    options: { retracts: { probability: 0.08, maxDepth: 12 } },
  })

function playsTheSame(linesOf: () => RecordingLine[]): void {
  let base: Baseline
  let cluster: Cluster

  beforeAll(async () => {
    base = await baselineOf(linesOf())
    const ingest = ['--events', base.tape, '--speed', 'max']
    cluster = await startCluster({ ingest, settings: BUSY })
    await cluster.untilSeqs(base.seqs)
  }, 300_000)

  afterEach(({ task }) => {
    if (task.result?.state === 'fail') console.error(cluster.tails())
  })

  afterAll(async () => {
    await cluster?.stop()
    base?.remove()
  })

  it('leaves the same rows in every table, the same updates, the same dead letters', async () => {
    const { chains, contents } = base
    expect(contentDifferences(await clusterContents(cluster, chains), contents)).toEqual([])
  })

  it('leaves the same bytes in every update', async () => {
    for (const chain of base.chains) {
      const expected = await withLog(base.dataDir, ({ log }) => updateBytes(log, chain))
      const got = await updateBytes(cluster.log, chain)
      expect(expected.length).toBeGreaterThanOrEqual(base.seqs.get(chain) ?? Number.NaN)
      expect(got.length).toBe(expected.length)
      expect(got.findIndex((bytes, at) => bytes !== expected[at])).toBe(-1)
    }
  })
}

describe('a generated market of three chains with reorgs', () => playsTheSame(generated))

describeRecorded('USDC/WETH on 2024-01-05', 2, () => playsTheSame(recordedDay().lines))

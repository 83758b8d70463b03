/** The same recording in one process on embedded parts, and through a broker and a server by three: the same to the last bit. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../rig/cluster/cluster.js'
import { clusterContents, updateBytes } from '../rig/cluster/contents.js'
import { recordedDay } from '../rig/evm/day.js'
import { describeRecorded, hasRecordings } from '../rig/recordings.js'
import type { RecordingLine } from '../rig/reference/lines.js'
import { type Baseline, baselineOf } from '../rig/up/baseline.js'
import { withLog } from '../rig/up/contents.js'
import { contentDifferences } from '../rig/up/differences.js'
import { generateTape, interleave } from '../rig/up/recording.js'

/** How often it writes changes nothing of what it leaves; nothing is let go of for its age. */
const SETTINGS = {
  intervals: { flush_ms: 50, checkpoint_ms: 50 },
  retention: { updates_h: 1_000_000, s1_candles_d: 100_000 },
}

const GENERATED = ['base', 'bsc', 'solana']
const RECORDED = 'eth'

/** The recorded chain, where there are recordings, on the same tape: two runs are enough for both. */
function linesOfAll(): RecordingLine[] {
  const options = { retracts: { probability: 0.08, maxDepth: 12 } }
  const generated = generateTape({ seed: 61, chains: GENERATED, blocksPerChain: 250, options })
  return hasRecordings ? interleave([generated, recordedDay().lines()]) : generated
}

let base: Baseline
let cluster: Cluster

beforeAll(async () => {
  base = await baselineOf(linesOfAll(), SETTINGS)
  const ingest = ['--events', base.tape, '--speed', 'max']
  cluster = await startCluster({ ingest, settings: SETTINGS, broker: 'shared' })
  await cluster.untilSeqs(base.seqs)
}, 300_000)

afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(cluster.tails())
})

afterAll(async () => {
  await cluster?.stop()
  base?.remove()
})

async function expectSameBytes(chain: string): Promise<void> {
  const expected = await withLog(base.dataDir, ({ log }) => updateBytes(log, chain))
  const got = await updateBytes(cluster.log, chain)
  expect(expected.length).toBeGreaterThanOrEqual(base.seqs.get(chain) ?? Number.NaN)
  expect(got.length).toBe(expected.length)
  expect(got.findIndex((bytes, at) => bytes !== expected[at])).toBe(-1)
}

it('leaves the same rows in every table, the same updates, the same dead letters', async () => {
  const { chains, contents } = base
  expect(contentDifferences(await clusterContents(cluster, chains), contents)).toEqual([])
})

describe('a generated market of three chains with reorgs', () => {
  it.each(GENERATED)('leaves the same bytes in every update of %s', expectSameBytes)
})

describeRecorded('USDC/WETH on 2024-01-05', 1, () => {
  it('leaves the same bytes in every update', () => expectSameBytes(RECORDED))
})

/** What /metrics and traces get of a fold: batches, depth of reorgs, writes and checkpoints, and the spans of traced blocks. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createFoldMeters } from '../../services/aggregate/fold-meters.js'
import { createCodec } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { createMetrics } from '../../services/core/runtime/metrics.js'
import type { Tracer } from '../../services/core/runtime/tracing.js'
import type { Store } from '../../services/core/store/port.js'
import { appendLines, runPipeline } from '../rig/aggregate/pipeline-run.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { samplesOf } from '../rig/metrics-samples.js'

it('measures a fold, and traces the blocks that are asked for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-meters-'))
  const { log, registry } = openEmbedded({ path: join(folder, 'log') })
  const chain = 'eth'
  const lines = generateRecording({ seed: 5, chain, blocks: 60 })
  const metrics = createMetrics({ processMetrics: false })
  const spans: [string, number][] = []
  const tracer: Tracer = {
    ...{ wants: (number) => number % 10 === 0, close: async () => {} },
    span: ({ number }, name, startMs, endMs) => {
      expect(endMs).toBeGreaterThanOrEqual(startMs)
      spans.push([name, number])
    },
  }
  const store = { insertRows: async () => {} } as unknown as Store
  const facts = { ...marketMoney(chain), chain }
  const deps = { facts, log, codec: createCodec(registry), store, meters: createFoldMeters(metrics), tracer }
  await appendLines(deps, lines)
  const { pipeline } = await runPipeline(deps)
  const samples = samplesOf(await metrics.text())
  const of = (name: string) => samples.get(`${name}{chain="eth"}`) ?? 0
  expect(of('dextape_fold_batch_records_sum')).toBe(lines.length)
  expect(of('dextape_fold_reorg_depth_blocks_count')).toBe(pipeline.counts.retracts)
  expect(of('dextape_store_batch_rows_sum')).toBeGreaterThan(0)
  expect(of('dextape_fold_checkpoint_seconds_count')).toBe(1)
  expect([pipeline.sink.waitingRows, pipeline.counts.logWaitMs > 0]).toEqual([0, true])
  const ofName = (name: string) => spans.filter(([span]) => span === name).map(([, number]) => number)
  expect(ofName('fold').length).toBeGreaterThan(2)
  expect(ofName('store')).toEqual(ofName('fold'))
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})

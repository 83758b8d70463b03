/** Runs a recording through one chain's pipeline on any log and store, optionally with crashes. */
import { type ChainPipeline, openChainPipeline, type PipelineDeps } from '../../../services/aggregate/chain-pipeline.js'
import { memoryStateStore } from '../../../services/aggregate/checkpoint/state-store.js'
import { blocksTopic } from '../../../services/core/log/port.js'
import type { Random } from '../market/random.js'
import type { RecordingLine } from '../reference/lines.js'
import { Crash, crashingLog } from './crashing-log.js'
import { chainRecordOf, FOLD_SETTINGS } from './fold-lines.js'

type RunDeps = Omit<PipelineDeps, 'settings' | 'stateStore'> & Partial<Pick<PipelineDeps, 'stateStore'>>

const SETTINGS = { ...FOLD_SETTINGS, flushEveryMs: 10, flushRows: 1000, publishTrades: true }
const CRASH_PROBABILITY = 0.15
const CHECKPOINT_PROBABILITY = 0.3

export async function appendLines({ facts, log, codec }: RunDeps, lines: readonly RecordingLine[]): Promise<void> {
  const { chain } = facts
  const topic = blocksTopic(chain)
  await codec.prepare(topic, ['block', 'retract'])
  const entries = lines.map((line) => {
    const record = chainRecordOf({ ...line, chain }, facts)
    if (record.kind === 'retract')
      return { key: chain, value: codec.encodeRetract(topic, record.retract), timestampMs: 0 }
    return { key: chain, value: codec.encodeBlock(topic, record.block), timestampMs: record.block.time * 1000 }
  })
  await log.append(topic, entries)
}

/** Folds all blocks in the log; with `random`, it crashes at times and resumes from its last checkpoint. */
export async function runPipeline(
  given: RunDeps,
  random?: Random,
): Promise<{ pipeline: ChainPipeline; crashes: number }> {
  const { log, facts } = given
  const topic = blocksTopic(facts.chain)
  const deps: PipelineDeps = {
    stateStore: memoryStateStore(),
    ...given,
    settings: SETTINGS,
    log: random === undefined ? log : crashingLog(log, random, CRASH_PROBABILITY),
  }
  const { end } = await log.info(topic)
  let pipeline = await openChainPipeline(deps)
  let crashes = 0
  while (pipeline.position < end) {
    const maxRecords = 1 + Math.floor((random?.next() ?? 0.5) * 20)
    try {
      await pipeline.process(await log.read(topic, { from: pipeline.position, maxRecords }))
      if (pipeline.stopped !== null) throw pipeline.stopped
      if ((random?.next() ?? 1) < CHECKPOINT_PROBABILITY) await pipeline.checkpoint()
    } catch (error) {
      if (!(error instanceof Crash)) throw error
      crashes += 1
      // A timer may still checkpoint before the process exits; that must not cover unpublished updates.
      await pipeline.checkpoint().catch(() => undefined)
      pipeline = await openChainPipeline(deps)
    }
  }
  await pipeline.checkpoint()
  return { pipeline, crashes }
}

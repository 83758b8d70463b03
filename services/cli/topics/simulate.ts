/** `dextape simulate`: a simulated market as a recording, without a data directory. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Seed } from '../../core/config/file-schema.js'
import { chainFacts } from '../../core/config/index.js'
import { ConfigError } from '../../core/domain/errors.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { SourceRecord } from '../../ingest/source.js'
import { openSimulator } from '../../ingest/sources/simulator/simulator.js'
import { SEED_FIELD } from '../../ingest/validate/line.js'
import { SIMULATED_CHAINS } from '../../processes/choose-source.js'
import { configOf, type GlobalOptions, loggerOf, type World } from '../context.js'
import { readNumber } from '../read-number.js'
import { recordJson } from './record-json.js'
import { parseWhen } from './when.js'
import { type Target, writeLines } from './write-lines.js'

export type SimulateOptions = GlobalOptions & Target & { seed?: string; hours: string; end?: string }

const Hours = Type.Number({ minimum: 0.1, maximum: 720 })
const TELL_EVERY_MS = 2000

export async function simulate(world: World, options: SimulateOptions): Promise<void> {
  const config = configOf(world, options)
  const seed = options.seed === undefined ? config.simulator.seed : readNumber('--seed', options.seed, Seed)
  const historyS = Math.round(readNumber('--hours', options.hours, Hours) * 3600)
  const endMs = options.end === undefined ? world.nowMs() : timeOf(options.end)
  const counts = { blocks: 0, retracts: 0, events: 0 }
  const source = openSimulator({
    ...{ seed, swapsPerS: config.simulator.swapsPerS, historyS },
    chains: SIMULATED_CHAINS.map((chain) => chainFacts(config, chain)),
    snapshots: { load: async () => undefined, save: async () => {} },
    // A file that is written once is never resumed.
    snapshotEvery: Number.POSITIVE_INFINITY,
    nowMs: () => endMs,
    sleep: async () => {},
    onHistory: tellProgress(loggerOf(world, config), world.nowMs),
  })
  const stop = new AbortController()
  async function* lines(): AsyncGenerator<string> {
    for await (const item of source.items(undefined, stop.signal)) {
      // Up to the end: what would come next has to wait for the clock.
      if (item.kind === 'idle') return
      if (item.kind === 'record') yield `${lineOf(item.record, seed, counts)}\n`
    }
  }
  await writeLines(world, lines(), options)
  if (options.out === undefined) return
  const { size } = statSync(resolve(world.cwd, options.out))
  const { blocks, retracts, events } = counts
  await world.out.line(`${options.out}: ${blocks} blocks, ${retracts} retracts, ${events} events, ${size} bytes`)
}

function lineOf(
  record: SourceRecord,
  seed: number,
  counts: { blocks: number; retracts: number; events: number },
): string {
  const mark = { [SEED_FIELD]: seed }
  if (record.kind === 'retract') {
    counts.retracts += 1
    return recordJson(record, mark)
  }
  counts.blocks += 1
  counts.events += record.block.events.length
  return recordJson(record, mark)
}

function tellProgress(logger: Logger, nowMs: () => number): (done: number) => void {
  let toldMs = nowMs()
  return (done) => {
    if (nowMs() - toldMs < TELL_EVERY_MS) return
    toldMs = nowMs()
    logger.info('simulating', { percent: Math.floor(done * 100) })
  }
}

function timeOf(text: string): number {
  const when = parseWhen('--end', text)
  if (when.kind === 'time') return when.ms
  throw new ConfigError({
    code: 'when_invalid',
    what: '--end is not a time',
    expected: 'a time in UTC (2024-01-05T12:00) or epoch seconds (@1704412800)',
    got: JSON.stringify(text),
  })
}

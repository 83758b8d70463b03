import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openChainPipeline } from '../../services/aggregate/chain-pipeline.js'
import { readMeta } from '../../services/aggregate/checkpoint/restore-state.js'
import { memoryStateStore, type StateStore } from '../../services/aggregate/checkpoint/state-store.js'
import { createAggregate } from '../../services/aggregate/main.js'
import { DextapeError } from '../../services/core/domain/errors.js'
import { type Codec, createCodec, type DecodedRecord } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { blocksTopic, deadTopic, type EventLog, tradesTopic, updatesTopic } from '../../services/core/log/port.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import type { Store } from '../../services/core/store/port.js'
import { exactDifferences } from '../rig/aggregate/exact.js'
import { FOLD_SETTINGS } from '../rig/aggregate/fold-lines.js'
import { appendLines } from '../rig/aggregate/pipeline-run.js'
import type { RecordingLine } from '../rig/reference/lines.js'
import { MONDAY, MONEY, pool, swap, type Tape, tape } from '../rig/tape.js'

/** A store that takes everything: what is published does not depend on it. */
const sponge = { insertRows: async () => {}, command: async () => {} } as unknown as Store
const PIPELINE_SETTINGS = { ...FOLD_SETTINGS, flushEveryMs: 10, flushRows: 1000, publishTrades: true }
const AGGREGATE_SETTINGS = {
  ...PIPELINE_SETTINGS,
  ...{ updatesKeptMs: 86_400_000, updatesHeldMs: 0, deadKeptMs: 86_400_000, secondCandlesKeptS: 86_400 },
}
const TOPIC = blocksTopic('t')
/** Its update cannot be split below the size of the name. */
const longNamed = { type: 'token' as const, token: 'a', name: 'x'.repeat(6000), symbol: 'a', decimals: 6 }

let folder: string
let path: string
let log: EventLog
let codec: Codec
let state: StateStore
function open(maxValueBytes?: number): void {
  const opened = openEmbedded({ path, ...(maxValueBytes === undefined ? {} : { maxValueBytes }) })
  log = opened.log
  codec = createCodec(opened.registry)
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dextape-stopped-'))
  path = join(folder, 'log')
  state = memoryStateStore()
  open()
})
afterEach(async () => {
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})

const append = (lines: readonly RecordingLine[]) => appendLines({ facts: MONEY, log, codec, store: sponge }, lines)

/** As a process would: reads to the end or to where the chain stops, checkpointing whenever that is allowed. */
async function foldOnce(using: Codec = codec) {
  const deps = { facts: MONEY, settings: PIPELINE_SETTINGS, log, codec: using, store: sponge, stateStore: state }
  const pipeline = await openChainPipeline(deps)
  const failure = await pipeline
    .process(await log.read(TOPIC, { from: pipeline.position }))
    .catch((error: unknown) => error)
  await pipeline.checkpoint().catch(() => undefined)
  return { pipeline, failure }
}

async function recordsOf(topic: string): Promise<DecodedRecord[]> {
  const records = await log.read(topic, { from: 0 })
  return records.map(({ value }) => codec.decodeLogRecord(value))
}

const seqs = async () =>
  (await recordsOf(updatesTopic('t'))).map((record) => (record.kind === 'update' ? record.update.seq : record.kind))

/** Dead letters are of no order: a block that failed once may have left some ahead of others. */
async function contents() {
  const letters = (await recordsOf(deadTopic('t'))).map((record) => JSON.stringify(record)).sort()
  return { updates: await recordsOf(updatesTopic('t')), trades: await recordsOf(tradesTopic('t')), letters }
}

function someBlocks(): Tape {
  return tape()
    .block(MONDAY, pool('p', 'a', 'usd'), swap('unknown', 1, 'usd', 1, 'a'))
    .block(MONDAY + 1, swap('p', 10, 'usd', 5, 'a'), swap('unknown', 10, 'usd', 5, 'a'))
    .block(
      MONDAY + 2,
      ...[swap('p', 11, 'usd', 5, 'a'), swap('p', 12, 'usd', 5, 'a'), swap('unknown', 10, 'usd', 5, 'a')],
    )
}

describe('a block that was folded and not published is in no checkpoint', () => {
  it('an update too large for the log stops the chain; with a larger limit the restart publishes it, none missing', async () => {
    const large = tape()
      .block(MONDAY + 1, longNamed)
      .block(MONDAY + 2, pool('p', 'a', 'usd'))
    await append(large.lines)
    await log.close()
    open(5000)
    const { pipeline } = await foldOnce()
    expect(pipeline.stopped).toMatchObject({ code: 'record_too_large' })
    expect([await seqs(), pipeline.position]).toEqual([[1], 1])
    await log.close()
    open()
    await foldOnce()
    expect(await seqs()).toEqual([1, 2, 3])
    expect(readMeta(state)).toMatchObject({ seq: 3, position: 3 })
  })

  const failures = [
    ['stops the chain', () => new DextapeError({ code: 'broken', what: 'broken' })],
    ['ends the run', () => new TypeError('broken')],
  ] as const
  const encoders = ['encodeUpdate', 'encodeTrade', 'encodeDeadLetter'] as const
  const cases = encoders.flatMap((encoder) =>
    failures.flatMap(([what, failure]) => [1, 2, 3].map((call) => ({ encoder, call, what, failure }))),
  )
  it.each(cases)('$encoder failing at call $call $what: the restart publishes the same updates', async (one) => {
    const { lines } = someBlocks()
    await append(lines)
    let calls = 0
    const failing: Codec = {
      ...codec,
      [one.encoder]: (...args: [string, never]) => {
        calls += 1
        if (calls === one.call) throw one.failure()
        return codec[one.encoder](...args)
      },
    }
    const first = await foldOnce(failing)
    expect(first.pipeline.stopped ?? first.failure).toMatchObject({ message: 'broken' })
    const { pipeline } = await foldOnce()
    expect([pipeline.stopped, pipeline.position]).toEqual([null, lines.length])
    expect(await seqs()).toEqual([1, 2, 3, 4])
    const interrupted = await contents()

    await log.close()
    path = join(folder, 'clean')
    open()
    state = memoryStateStore()
    await append(lines)
    await foldOnce()
    expect(exactDifferences(interrupted, await contents())).toEqual([])
  })

  it('a checkpoint whose write failed is not followed by one that lacks its changes', async () => {
    const { lines } = someBlocks()
    await append(lines.slice(0, 3))
    const kept = state
    let isFull = false
    state = {
      ...kept,
      async commit(changes) {
        if (isFull) throw new Error('disk full')
        await kept.commit(changes)
      },
    }
    const deps = { facts: MONEY, settings: PIPELINE_SETTINGS, log, codec, store: sponge, stateStore: state }
    const pipeline = await openChainPipeline(deps)
    await pipeline.process(await log.read(TOPIC, { from: 0 }))
    isFull = true
    await expect(pipeline.checkpoint()).rejects.toThrow('disk full')
    isFull = false
    await append(lines.slice(3))
    await expect(pipeline.process(await log.read(TOPIC, { from: 3 }))).rejects.toThrow('disk full')
    await expect(pipeline.checkpoint()).rejects.toThrow('disk full')
    expect(readMeta(kept)).toMatchObject({ seq: 0, position: 0 })
    state = kept
    await foldOnce()
    expect(readMeta(kept)).toMatchObject({ seq: 4, position: 4 })
  })
})

describe('a stopped chain', () => {
  /** `onCommit` runs inside each checkpoint's write. */
  function aggregateOf(onCommit: () => void = () => {}, checkpointEveryMs = 3_600_000) {
    const stateStore: StateStore = {
      ...state,
      async commit(changes) {
        await state.commit(changes)
        onCommit()
      },
    }
    return createAggregate({
      ...{ log, codec, store: sponge, logger: silentLogger, nowMs: Date.now },
      ...{ settings: { ...AGGREGATE_SETTINGS, checkpointEveryMs } },
      ...{ openState: async () => stateStore, factsOf: () => MONEY },
    })
  }

  it('ends when the abort comes while its last checkpoint is written', async () => {
    const { lines } = someBlocks()
    // The third block is missing: the fourth does not continue the chain.
    await append([...lines.slice(0, 2), ...lines.slice(3)])
    const stop = new AbortController()
    const aggregate = aggregateOf(() => {
      if (aggregate.status()[0]?.stopped) stop.abort()
    })
    await aggregate.runChain('t', stop.signal)
    expect(stop.signal.aborted).toBe(true)
    expect(readMeta(state)).toMatchObject({ seq: 2, position: 2 })
  }, 10_000)

  it('whose block could not be published stays stopped, and no timer checkpoints it', async () => {
    const large = tape().block(MONDAY + 1, longNamed)
    await append(large.lines)
    await log.close()
    open(5000)
    const stop = new AbortController()
    const aggregate = aggregateOf(undefined, 0)
    const run = aggregate.runChain('t', stop.signal)
    await expect.poll(() => aggregate.status()[0]?.stopped).toMatch(/Cannot split/)
    // Rows of what was published are still written by the timer.
    await expect.poll(() => aggregate.status()[0]?.flushedSeq).toBe(1)
    stop.abort()
    await run
    expect(readMeta(state)).toMatchObject({ seq: 0, position: 0 })
  })
})

it('the dead letter of a record as large as the log takes fits the log, and names where the whole record is', async () => {
  const { lines } = someBlocks()
  await append(lines.slice(0, 1))
  const huge = Buffer.alloc(log.maxValueBytes, 7)
  await log.append(TOPIC, [{ key: 't', value: huge, timestampMs: MONDAY * 1000 }])
  await append(lines.slice(1))
  const { pipeline, failure } = await foldOnce()
  expect([failure, pipeline.stopped, pipeline.position]).toEqual([undefined, null, 5])
  expect(await seqs()).toEqual([1, 2, 3, 4])
  const [letter] = (await log.read(deadTopic('t'), { from: 0 })).map(({ value }) => codec.decodeLogRecord(value))
  if (letter?.kind !== 'dead') throw new Error('no dead letter')
  const { raw, detail, source } = letter.dead
  expect(source).toBe('dex.blocks.t@1')
  expect(detail).toContain(`(raw cut to ${raw.length} of ${huge.length} bytes)`)
  expect(raw.length).toBeGreaterThan(huge.length - 1000)
})

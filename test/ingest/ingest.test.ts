import { describe, expect, it } from 'vitest'
import { DextapeError } from '../../services/core/domain/errors.js'
import { createLogger } from '../../services/core/runtime/logger.js'
import { createMetrics } from '../../services/core/runtime/metrics.js'
import { createHealth } from '../../services/core/runtime/part-health.js'
import { registerIngestMetrics, totals } from '../../services/ingest/ingest-status.js'
import { createPublisher } from '../../services/ingest/publish.js'
import type { Source, SourceItem } from '../../services/ingest/source.js'
import { openRecording } from '../../services/ingest/sources/recording/recording.js'
import { memoryLog } from './memory-log.js'
import { buried, ingestOf, jsonLines, newRig, options, playFile, published, writeRecording } from './rig.js'
import { blockAt, rawSwap, read } from './samples.js'

const away = (retry: boolean) => new DextapeError({ code: 'log_away', what: 'the log is away', retry })

/** Fails the nth append for each n given, before or after it took effect. */
function failing(log: ReturnType<typeof memoryLog>, calls: readonly number[], error: Error) {
  let call = 0
  log.beforeAppend = () => {
    if (calls.includes(++call)) throw error
  }
}

describe('ingest', () => {
  it('publishes blocks and retracts of several chains in order, and dead-letters what it cannot use', async () => {
    const rig = newRig(memoryLog())
    const retract = { kind: 'retract', chain: 'eth', from_number: 2, from_hash: '0xb2', to_number: 1, to_hash: '0xb1' }
    const bsc = blockAt(70, { chain: 'bsc' })
    const bad = blockAt(2, { hash: '0xb2b', events: [rawSwap({ amount_in: '-1' }), rawSwap({ log_index: 8 })] })
    const path = writeRecording(jsonLines(blockAt(1), bsc, blockAt(2), retract, 'nonsense', bad))
    const { status } = await playFile(rig, path)
    expect(await published(rig)).toEqual(['1', '2', '-2→1', '2'])
    expect(await published(rig, 'bsc')).toEqual(['70'])
    expect([await buried(rig), await buried(rig, 'unknown')]).toEqual([
      ['out_of_range r.jsonl:6'],
      ['malformed_json r.jsonl:5'],
    ])
    expect([status.state, totals(status)]).toEqual(['done', { blocks: 4, retracts: 1, events: 4, deadLetters: 2 }])
    expect(status.chains.get('eth')?.head).toEqual({
      number: 2,
      hash: '0xb2b',
      timeS: 1_704_412_002,
      finalizedNumber: 36,
    })
  })

  it('stamps dead letters without a time with the chain time, so that retention keeps them', async () => {
    const rig = newRig(memoryLog())
    await playFile(rig, writeRecording(jsonLines(blockAt(1), 'nonsense')))
    expect((await rig.log.read('dex.dead.unknown', { from: 0 })).map(({ timestampMs }) => timestampMs)).toEqual([
      1_704_412_001_000,
    ])
  })

  it('splits a block that exceeds the log’s record size', async () => {
    const rig = newRig(memoryLog(20_000))
    const events = Array.from({ length: 200 }, (_, log_index) => rawSwap({ log_index }))
    await playFile(rig, writeRecording(jsonLines(blockAt(1, { events }), blockAt(2))))
    const parts = await published(rig)
    expect(parts.length).toBeGreaterThan(2)
    expect([parts.at(0), parts.at(-2), parts.at(-1)]).toEqual(['1', '1', '2'])
  })

  it('truncates the raw form of a dead letter to the log’s record size, and marks it as truncated', async () => {
    const rig = newRig(memoryLog(40_000))
    await playFile(rig, writeRecording(jsonLines('x'.repeat(100_000))))
    const [record] = await rig.log.read('dex.dead.unknown', { from: 0 })
    const letter = rig.codec.decodeLogRecord(record?.value ?? Buffer.alloc(0))
    if (letter.kind !== 'dead') throw new Error('not a letter')
    const { detail, raw } = letter.dead
    expect(detail).toContain(`(raw cut to ${raw.length} of 100000 bytes)`)
    expect(raw.length).toBeGreaterThan(39_000)
  })

  it('resumes where it stopped, and counts only new records', async () => {
    const rig = newRig(memoryLog())
    const path = writeRecording(jsonLines(blockAt(1), 'nonsense', blockAt(2)))
    await playFile(rig, path)
    writeRecording(jsonLines(blockAt(1), 'nonsense', blockAt(2), blockAt(3)), { path })
    const { status } = await playFile(rig, path)
    expect(await published(rig)).toEqual(['1', '2', '3'])
    expect(await buried(rig, 'unknown')).toEqual(['malformed_json r.jsonl:2'])
    expect(totals(status).blocks).toBe(1)
  })

  it('retries errors that are retryable', async () => {
    const log = memoryLog()
    const rig = newRig(log)
    failing(log, [1, 2, 4], away(true))
    const { status } = await playFile(rig, writeRecording(jsonLines(blockAt(1), 'nonsense', blockAt(2))))
    expect(await published(rig)).toEqual(['1', '2'])
    expect(await buried(rig, 'unknown')).toEqual(['malformed_json r.jsonl:2'])
    expect([status.state, status.error]).toEqual(['done', undefined])
  })

  it('names the dependency it waits for, and logs its outage and its recovery once each', async () => {
    const log = memoryLog()
    const lines: string[] = []
    const health = createHealth({ logger: createLogger('json', {}, (line) => lines.push(line)), nowMs: () => 5000 })
    const reports: unknown[] = []
    log.beforeAppend = () => {
      reports.push(health.report())
      if (reports.length <= 3) throw away(true)
    }
    const source = await openRecording(writeRecording(jsonLines(blockAt(1))), options())
    await ingestOf(newRig(log), source, { health }).run(new AbortController().signal)
    const away5 = { part: 'log', since: 5, reason: 'the log is away' }
    expect([reports, health.report()]).toEqual([[[], [away5], [away5], [away5]], []])
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
      'part unreachable, retrying',
      'part reachable again',
    ])
  })

  it('fails without a retry on a permanent error, and gives the reason', async () => {
    const log = memoryLog()
    failing(log, [1], away(false))
    const { status } = await playFile(newRig(log), writeRecording(jsonLines(blockAt(1))))
    expect([status.state, status.error]).toEqual(['failed', { code: 'log_away', message: 'the log is away' }])
  })

  it('publishes the records read before a source failure, then retries from there', async () => {
    const rig = newRig(memoryLog())
    const froms: unknown[] = []
    const source: Source<number> = {
      id: 'flaky',
      name: 'flaky',
      async *items(from): AsyncGenerator<SourceItem<number>> {
        froms.push(from)
        for (let number = (from ?? 0) + 1; number <= 4; number++) {
          if (froms.length < 3 && number === froms.length + 1) throw away(true)
          const line = read(blockAt(number))
          if (line.kind === 'block') yield { kind: 'record', record: line, position: () => number }
        }
      },
    }
    expect(await ingestOf(rig, source).run(new AbortController().signal)).toEqual({ kind: 'done' })
    expect([froms, await published(rig)]).toEqual([
      [undefined, 1, 2],
      ['1', '2', '3', '4'],
    ])
  })

  it('stops on request, and a later run publishes the rest', async () => {
    const rig = newRig(memoryLog())
    const path = writeRecording(jsonLines(...Array.from({ length: 5000 }, (_, number) => blockAt(number + 1))))
    const stop = new AbortController()
    const log = rig.log as ReturnType<typeof memoryLog>
    log.beforeAppend = () => stop.abort()
    const { status } = await playFile(rig, path, stop.signal)
    expect(status.state).toBe('stopped')
    expect((await published(rig)).length).toBe(2000)
    log.beforeAppend = () => {}
    await playFile(rig, path)
    expect(await published(rig)).toEqual(Array.from({ length: 5000 }, (_, number) => `${number + 1}`))
  })

  it('reports its work in the metrics', async () => {
    const ingest = await playFile(newRig(memoryLog()), writeRecording(jsonLines(blockAt(1), 'nonsense')))
    const metrics = createMetrics({ processMetrics: false })
    registerIngestMetrics(metrics, ingest.status)
    // Another component may write dead letters under the same name.
    metrics.counter({ name: 'dextape_dead_letters_total', help: '' }, () => [
      { labels: { chain: 'eth', reason: 'pool_unknown' }, value: 3 },
    ])
    const text = await metrics.text()
    expect(text).toContain('dextape_ingest_blocks_total{chain="eth"} 1')
    expect(text).toContain('dextape_dead_letters_total{chain="unknown",reason="malformed_json"} 1')
    expect(text).toContain('dextape_dead_letters_total{chain="eth",reason="pool_unknown"} 3')
    expect(await metrics.text()).toBe(text)
  })
})

describe('a crash between an append and its checkpoint', () => {
  it('leaves no duplicates in the log', async () => {
    const lines = [blockAt(1), 'nonsense', blockAt(2), blockAt(3), 'more nonsense', blockAt(4)]
    for (let lost = 1; lost <= 3; lost++) {
      const rig = newRig(memoryLog())
      const path = writeRecording(jsonLines(...lines))
      // The checkpoint that would acknowledge the appends is lost, as if killed right before writing it.
      let puts = 0
      const { put } = rig.checkpoints
      rig.checkpoints.put = async (id, checkpoint) => {
        if (++puts >= lost) throw new Error('killed')
        await put(id, checkpoint)
      }
      await playFile(rig, path)
      rig.checkpoints.put = put
      // Meanwhile the fold writes its dead letters to the same topic.
      const [theirs] = await rig.log.read('dex.dead.unknown', { from: 0 })
      if (theirs !== undefined) await rig.log.append('dex.dead.unknown', [{ ...theirs, value: Buffer.from('theirs') }])
      await playFile(rig, path)
      expect(await published(rig)).toEqual(['1', '2', '3', '4'])
      const ours = (await rig.log.read('dex.dead.unknown', { from: 0 })).filter(({ value }) => value[0] === 0)
      expect(ours.length).toBe(2)
    }
  })

  it('is told apart from a log that lost published records: those are replayed', async () => {
    const rig = newRig(memoryLog())
    const path = writeRecording(jsonLines(blockAt(1), blockAt(2)))
    await playFile(rig, path)
    const fresh = { ...rig, log: memoryLog() }
    await playFile(fresh, path)
    expect(await published(fresh)).toEqual(['1', '2'])
  })

  it('resumes from the last acknowledged position', async () => {
    const rig = newRig(memoryLog())
    const deps = { log: rig.log, checkpoints: rig.checkpoints, sourceId: 's', onLost: () => {} }
    const first = await createPublisher(deps)
    await first.publish([{ topic: 't', entry: { key: '', value: Buffer.from('a'), timestampMs: 0 } }], 7, {})
    expect((await createPublisher(deps)).checkpoint).toEqual({ position: 7, ends: { t: 1 }, chains: {} })
  })
})

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../../schemas/avro.js'
import { ConfigError } from '../../../services/core/domain/errors.js'
import { openEmbeddedLog } from '../../../services/core/log/embedded.js'
import type { EventLog, LogRecord } from '../../../services/core/log/port.js'
import { randomFrom, type WriterTask, type WrittenValue } from '../../rig/log-writer.js'
import { entry, eventLogContract } from './contract.js'

let path: string
let opened: EventLog[]
const open = (): EventLog => {
  const log = openEmbeddedLog({ path })
  opened.push(log)
  return log
}

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'dextape-log-'))
  opened = []
})
afterEach(async () => {
  for (const log of opened) await log.close()
  rmSync(path, { recursive: true, force: true })
})

eventLogContract('embedded', async () => ({
  log: open(),
  reopen: async () => open(),
  close: async () => undefined,
}))

type Ack = { batch: number; offset: number; size: number }
type Writer = { child: ChildProcess; acks(): Ack[]; line(text: string): Promise<void> }

function startWriter(task: Omit<WriterTask, 'path'>): Writer {
  const script = join(repositoryRoot(), 'dist/test/rig/log-writer.js')
  const stdio: StdioOptions = ['ignore', 'pipe', 'inherit']
  const child = spawn(process.execPath, [script, JSON.stringify({ path, ...task })], { stdio })
  let output = ''
  let heard = () => {}
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
    heard()
  })
  return {
    child,
    acks: () =>
      [...output.matchAll(/^ack (\d+) (\d+) (\d+)\n/gm)].map(([, batch, offset, size]) => ({
        batch: Number(batch),
        offset: Number(offset),
        size: Number(size),
      })),
    line: (text) =>
      new Promise((resolve, reject) => {
        heard = () => {
          if (output.includes(`${text}\n`)) resolve()
        }
        child.once('close', () => reject(new Error(`the writer ended without saying ${text}: ${output.slice(-200)}`)))
        heard()
      }),
  }
}

async function readAll(log: EventLog, topic: string): Promise<LogRecord[]> {
  const all: LogRecord[] = []
  for (;;) {
    const records = await log.read(topic, { from: all.length })
    if (records.length === 0) return all
    all.push(...records)
  }
}

/** Offsets without holes, and every batch whole, in one piece and at most once. Returns the batches' first offsets. */
function assertWholeBatches(records: LogRecord[]): Map<string, number> {
  const firsts = new Map<string, number>()
  let size = 0
  for (const [position, record] of records.entries()) {
    expect(record.offset).toBe(position)
    const written = JSON.parse(Buffer.from(record.value).toString()) as WrittenValue
    const batch = `${written.writer}:${written.batch}`
    if (written.index === 0) {
      expect(firsts.has(batch)).toBe(false)
      firsts.set(batch, position)
      size = written.size
    }
    expect([written.size, firsts.get(batch)]).toEqual([size, position - written.index])
  }
  const last = records.at(-1)
  if (last !== undefined) {
    const written = JSON.parse(Buffer.from(last.value).toString()) as WrittenValue
    expect(written.index).toBe(written.size - 1)
  }
  return firsts
}

const lastEntry = entry(JSON.stringify({ writer: 'last', batch: 0, index: 0, size: 1 }), 0, 'last')

describe('several processes', () => {
  it('append to one topic without losing, doubling or tearing a batch, and a third follows them', async () => {
    const log = open()
    const topic = 'dex.blocks.eth'
    const writers = ['a', 'b'].map((writer, seed) => startWriter({ topic, writer, batches: 60, seed, inFlight: 5 }))
    const abort = new AbortController()
    const followed: LogRecord[] = []
    const following = (async () => {
      for await (const records of log.follow(topic, { from: 0 }, abort.signal)) {
        followed.push(...records)
        if (records.at(-1)?.key === 'last') abort.abort()
      }
    })()
    await Promise.all(writers.map(({ line }) => line('done')))
    await log.append(topic, [lastEntry])
    await following
    const firsts = assertWholeBatches(followed)
    expect(firsts.size).toBe(121)
    for (const [index, { acks }] of writers.entries()) {
      const writer = ['a', 'b'][index]
      expect(acks().map(({ batch, offset }) => [batch, offset])).toEqual(
        acks().map(({ batch }) => [batch, firsts.get(`${writer}:${batch}`)]),
      )
    }
  }, 60_000)

  it('kill -9 in mid-append: what was acknowledged is there once, the rest is whole or absent', async () => {
    const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
    console.info(`kill -9 of a log writer: SEED=${seed}`)
    const random = randomFrom(seed)
    const topic = 'dex.blocks.eth'
    const log = open()
    const acknowledged: [string, number][] = []
    for (let round = 0; round < 6; round++) {
      const writer = `w${round}`
      const { child, acks, line } = startWriter({ topic, writer, batches: 1e9, seed: seed + round, inFlight: 4 })
      const closed = once(child, 'close')
      await line('ready')
      await new Promise((resolve) => setTimeout(resolve, 20 + random() * 250))
      child.kill('SIGKILL')
      await closed
      acknowledged.push(...acks().map(({ batch, offset }): [string, number] => [`${writer}:${batch}`, offset]))
    }
    await log.append(topic, [lastEntry])
    const firsts = assertWholeBatches(await readAll(log, topic))
    expect(acknowledged.length).toBeGreaterThan(0)
    expect(acknowledged.map(([batch]) => [batch, firsts.get(batch)])).toEqual(acknowledged)
  }, 60_000)
})

describe('the embedded log', () => {
  it('agrees with a list, whatever is appended, cut and asked', async () => {
    const step = fc.oneof(
      fc.record({ append: fc.array(fc.tuple(fc.nat(20), fc.nat(3)), { minLength: 1, maxLength: 6 }) }),
      fc.record({ truncate: fc.nat(40) }),
      fc.record({ retain: fc.nat(10) }),
    )
    const log = open()
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.nat(22), async (steps, askedMs) => {
        const topic = `run.${run++}`
        const model: { offset: number; timestampMs: number; size: number }[] = []
        let end = 0
        const cut = (before: number) => model.splice(0, model.filter(({ offset }) => offset < before).length)
        const firstAt = (timeMs: number) => model.find(({ timestampMs }) => timestampMs >= timeMs)?.offset ?? end
        const newestMs = () => Math.max(0, ...model.map(({ timestampMs }) => timestampMs))
        for (const action of steps) {
          if ('append' in action) {
            await log.append(
              topic,
              action.append.map(([timeMs, size]) => entry('v'.repeat(size), timeMs, '')),
            )
            for (const [timestampMs, size] of action.append) model.push({ offset: end++, timestampMs, size })
          } else if ('truncate' in action) {
            await log.truncate(topic, action.truncate)
            cut(action.truncate)
          } else {
            await log.retain(topic, action.retain)
            cut(firstAt(newestMs() - action.retain))
          }
        }
        const records = await log.read(topic, { from: 0 })
        expect(records.map(({ offset, timestampMs, value }) => ({ offset, timestampMs, size: value.length }))).toEqual(
          model,
        )
        expect(await log.offsetAt(topic, askedMs)).toBe(firstAt(askedMs))
        expect(await log.info(topic)).toEqual({
          topic,
          start: model[0]?.offset ?? end,
          end,
          bytes: model.reduce((sum, { size }) => sum + size, 0),
          newestMs: newestMs(),
        })
      }),
      { numRuns: 40 },
    )
  }, 60_000)

  it('reads what another process wrote, read-only', async () => {
    await open().append('t', [entry('a')])
    const reader = openEmbeddedLog({ path, readOnly: true })
    expect((await reader.read('t', { from: 0 })).length).toBe(1)
    await reader.close()
  })

  it('says what is wrong with a path it cannot use', () => {
    const file = join(path, 'file')
    writeFileSync(file, 'not a folder')
    expect(() => openEmbeddedLog({ path: file })).toThrow(ConfigError)
    expect(() => openEmbeddedLog({ path: join(file, 'below') })).toThrow(ConfigError)
    // Nobody may make a folder there, root neither.
    expect(() => openEmbeddedLog({ path: '/sys/dextape-log' })).toThrow(ConfigError)
    expect(() => openEmbeddedLog({ path: join(path, 'absent'), readOnly: true })).toThrow(/DEXTAPE_DATA_DIR/)
  })
})

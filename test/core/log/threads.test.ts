/** A log that several threads of a process have open; two logs in one thread exchange the same messages. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { openEmbeddedLog } from '../../../services/core/log/embedded-log.js'
import type { EventLog, LogRecord } from '../../../services/core/log/port.js'

const opened: EventLog[] = []
afterEach(async () => {
  for (const log of opened.splice(0)) await log.close()
})

function openTwo(hasThreads: boolean): [EventLog, EventLog] {
  const path = mkdtempSync(join(tmpdir(), 'dextape-threads-'))
  const [one, other] = [openEmbeddedLog({ path, hasThreads }), openEmbeddedLog({ path, hasThreads })]
  opened.push(one, other)
  return [one, other]
}

const entry = (text: string) => ({ key: 'k', value: Buffer.from(text), timestampMs: 1 })

async function collect(log: EventLog, count: number): Promise<LogRecord[]> {
  const ending = new AbortController()
  const records: LogRecord[] = []
  for await (const batch of log.follow('t', { from: 0 }, ending.signal)) {
    records.push(...batch)
    if (records.length >= count) ending.abort()
  }
  return records
}

const texts = (records: readonly LogRecord[]) => records.map(({ value }) => Buffer.from(value).toString())

it('delivers each append of another thread once, in order, from shared memory', async () => {
  const [writer, follower] = openTwo(true)
  await writer.append('t', [entry('0')])
  const wanted = Array.from({ length: 200 }, (_, at) => String(at))
  const collected = collect(follower, wanted.length)
  // The follower listens once it has read the first record.
  await new Promise((next) => setImmediate(next))
  for (const text of wanted.slice(1)) await writer.append('t', [entry(text)])
  const records = await collected
  expect(texts(records)).toEqual(wanted)
  expect(records.slice(1).some(({ value }) => value.buffer instanceof SharedArrayBuffer)).toBe(true)
})

it('misses nothing that was appended before it listened, or by a process of its own', async () => {
  const [writer, follower] = openTwo(true)
  for (const text of ['a', 'b']) await writer.append('t', [entry(text), entry(`${text}${text}`)])
  expect(texts(await collect(follower, 4))).toEqual(['a', 'aa', 'b', 'bb'])
  const [apart, other] = openTwo(false)
  const collected = collect(other, 2)
  await apart.append('t', [entry('c')])
  await apart.append('t', [entry('d')])
  expect(texts(await collected)).toEqual(['c', 'd'])
})

it('tells other threads when a block arrived, but does not store it: a backlog has no old times', async () => {
  const [writer, follower] = openTwo(true)
  const pairs = 100
  const collected = collect(follower, 1 + 2 * pairs)
  await writer.append('t', [entry('before')])
  for (let pair = 0; pair < pairs; pair += 1) await writer.append('t', [{ ...entry('a'), arrivedMs: 7 }, entry('b')])
  const records = await collected
  // A follower that reads the file before it is told knows no time.
  const told = records.filter(({ arrivedMs }) => arrivedMs !== undefined)
  expect(told.length).toBeGreaterThan(0)
  expect(told.every(({ arrivedMs, appendedMs = 0 }) => arrivedMs === 7 && appendedMs > 7)).toBe(true)
  expect(new Set(texts(told))).toEqual(new Set(['a']))
  const path = mkdtempSync(join(tmpdir(), 'dextape-threads-'))
  const first = openEmbeddedLog({ path, hasThreads: true })
  await first.append('t', [{ ...entry('a'), arrivedMs: 7 }])
  await first.close()
  const again = openEmbeddedLog({ path, hasThreads: true })
  opened.push(again)
  const [read] = await again.read('t', { from: 0 })
  expect([read?.arrivedMs, read?.appendedMs]).toEqual([undefined, undefined])
})

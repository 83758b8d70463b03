/** The contract of every log implementation. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DextapeError } from '../../../services/core/domain/errors.js'
import type { EventLog, LogEntry, LogRecord } from '../../../services/core/log/port.js'

export type OpenLog = {
  log: EventLog
  /** A second log on the same data, as another process would have it. */
  reopen(): Promise<EventLog>
  close(): Promise<void>
}

export const entry = (text: string, timestampMs = 0, key = 'k'): LogEntry => ({
  key,
  value: Buffer.from(text),
  timestampMs,
})

const plain = (records: LogRecord[]) =>
  records.map(({ offset, key, value, timestampMs }) => [offset, key, Buffer.from(value).toString(), timestampMs])

export function eventLogContract(name: string, open: () => Promise<OpenLog>): void {
  describe(`${name}: the log's contract`, () => {
    let opened: OpenLog
    let log: EventLog
    const topic = 'dex.blocks.eth'

    beforeEach(async () => {
      opened = await open()
      log = opened.log
    })
    afterEach(() => opened.close())

    const appendTimes = (...timesMs: number[]) =>
      log.append(
        topic,
        timesMs.map((timeMs, index) => entry(`${index}`, timeMs)),
      )

    it('keeps order, keys, timestamps and values', async () => {
      expect(await log.append(topic, [entry('a', 5, 'k1'), entry('', 6, ''), entry('c', 7, 'clé')])).toBe(0)
      expect(await log.append(topic, [entry('d', 7, 'k1')])).toBe(3)
      expect(plain(await log.read(topic, { from: 0 }))).toEqual([
        [0, 'k1', 'a', 5],
        [1, '', '', 6],
        [2, 'clé', 'c', 7],
        [3, 'k1', 'd', 7],
      ])
    })

    it('gives concurrent appends consecutive offsets in call order', async () => {
      const firsts = await Promise.all([
        log.append(topic, [entry('a'), entry('b')]),
        log.append(topic, [entry('c')]),
        log.append('other', [entry('z')]),
        log.append(topic, [entry('d')]),
      ])
      expect(firsts).toEqual([0, 2, 0, 3])
      expect(plain(await log.read(topic, { from: 0 })).map(([, , text]) => text)).toEqual(['a', 'b', 'c', 'd'])
    })

    it('copies values, so that the caller can reuse its buffer', async () => {
      const value = Buffer.from('before')
      const appended = log.append(topic, [{ key: 'k', value, timestampMs: 0 }])
      value.fill('x')
      await appended
      expect(plain(await log.read(topic, { from: 0 }))).toEqual([[0, 'k', 'before', 0]])
    })

    it('limits a read by records and bytes, from any offset, but returns at least one record', async () => {
      await log.append(
        topic,
        Array.from({ length: 100 }, (_, index) => entry(`value-${index}`.padEnd(20))),
      )
      const offsets = (records: LogRecord[]) => records.map(({ offset }) => offset)
      expect(offsets(await log.read(topic, { from: 42, maxRecords: 3 }))).toEqual([42, 43, 44])
      expect(offsets(await log.read(topic, { from: 42, maxBytes: 40 }))).toEqual([42, 43])
      expect(offsets(await log.read(topic, { from: 42, maxBytes: 1 }))).toEqual([42])
      expect(offsets(await log.read(topic, { from: 99 }))).toEqual([99])
      expect(await log.read(topic, { from: 100 })).toEqual([])
      expect(await log.read(topic, { from: 1_000 })).toEqual([])
      expect(await log.read('never.written', { from: 0 })).toEqual([])
    })

    it('keeps everything when reopened', async () => {
      await log.append(topic, [entry('a', 3)])
      await log.commit('fold', topic, 1)
      const again = await opened.reopen()
      expect(plain(await again.read(topic, { from: 0 }))).toEqual([[0, 'k', 'a', 3]])
      expect(await again.committed('fold', topic)).toBe(1)
      expect(await again.append(topic, [entry('b', 4)])).toBe(1)
      expect(plain(await log.read(topic, { from: 1 }))).toEqual([[1, 'k', 'b', 4]])
    })

    it('follows existing and new records, from any process, until aborted', async () => {
      const again = await opened.reopen()
      await log.append(topic, [entry('a')])
      const abort = new AbortController()
      const seen: string[] = []
      for await (const records of log.follow(topic, { from: 0 }, abort.signal)) {
        seen.push(...records.map(({ value }) => Buffer.from(value).toString()))
        if (seen.length === 1) setTimeout(() => log.append(topic, [entry('b')]), 30)
        if (seen.length === 2) setTimeout(() => again.append(topic, [entry('c')]), 60)
        if (seen.length === 3) setTimeout(() => abort.abort(), 30)
      }
      expect(seen).toEqual(['a', 'b', 'c'])
    })

    it('follows a topic that does not exist yet', async () => {
      const abort = new AbortController()
      const first = log.follow('late', { from: 0 }, abort.signal).next()
      await log.append('late', [entry('a')])
      expect(plain((await first).value)).toEqual([[0, 'k', 'a', 0]])
      abort.abort()
    })

    it('fails to follow from beyond the end, since waiting would hide lost records', async () => {
      await log.append(topic, [entry('a'), entry('b')])
      const following = log.follow(topic, { from: 3 }, new AbortController().signal).next()
      const message = expect.stringMatching(/at offset 3: the topic ends at offset 2.*recreated/)
      await expect(following).rejects.toMatchObject({ code: 'offset_lost', retry: false, where: { topic }, message })
    })

    it('finds the first offset at or after a timestamp, even if timestamps decrease', async () => {
      await appendTimes(10, 20, 15, 20, 30)
      await log.append(topic, [entry('x', 25), entry('y', 40)])
      const asked = [0, 10, 11, 20, 21, 30, 31, 40, 41]
      expect(await Promise.all(asked.map((timeMs) => log.offsetAt(topic, timeMs)))).toEqual([0, 0, 1, 1, 4, 4, 6, 6, 7])
      expect(await log.offsetAt('never.written', 5)).toBe(0)
    })

    it('finds timestamps after a truncate', async () => {
      await appendTimes(10, 50, 20, 30, 50, 60)
      await log.truncate(topic, 2)
      expect(await Promise.all([0, 20, 25, 31, 50, 60, 61].map((timeMs) => log.offsetAt(topic, timeMs)))).toEqual([
        2, 2, 3, 4, 4, 5, 6,
      ])
    })

    it('keeps an offset per group and topic, which may decrease', async () => {
      expect(await log.committed('fold', topic)).toBeUndefined()
      await log.commit('fold', topic, 7)
      await log.commit('serve', topic, 9)
      await log.commit('fold', 'other', 1)
      await log.commit('fold', topic, 5)
      expect(await log.committed('fold', topic)).toBe(5)
      expect(await log.committed('serve', topic)).toBe(9)
      expect(await log.committed('fold', 'other')).toBe(1)
    })

    it('truncates below an offset; a read below it starts at the oldest record', async () => {
      await appendTimes(1, 2, 3, 4, 5)
      await log.truncate(topic, 3)
      expect(plain(await log.read(topic, { from: 0 }))).toEqual([
        [3, 'k', '3', 4],
        [4, 'k', '4', 5],
      ])
      await log.truncate(topic, 1)
      const { start, end, newestMs } = await log.info(topic)
      expect({ start, end, newestMs }).toEqual({ start: 3, end: 5, newestMs: 5 })
    })

    it('continues its offsets after truncating everything', async () => {
      await appendTimes(1, 2, 3)
      await log.truncate(topic, 99)
      expect(await log.read(topic, { from: 0 })).toEqual([])
      expect(await log.info(topic)).toEqual({ topic, start: 3, end: 3, bytes: 0, newestMs: 0 })
      expect(await log.append(topic, [entry('d', 0)])).toBe(3)
      expect(await log.offsetAt(topic, 0)).toBe(3)
    })

    it('retains by chain time: the topic’s newest timestamp, not the clock', async () => {
      await appendTimes(1_000, 2_000, 3_000, 2_500, 4_000)
      await log.retain(topic, 10_000)
      expect((await log.info(topic)).start).toBe(0)
      await log.retain(topic, 1_000)
      expect((await log.read(topic, { from: 0 })).map(({ timestampMs }) => timestampMs)).toEqual([3_000, 2_500, 4_000])
      await log.retain(topic, 0)
      expect((await log.read(topic, { from: 0 })).map(({ timestampMs }) => timestampMs)).toEqual([4_000])
    })

    it('lists topics by their full names', async () => {
      await log.append('dex.updates.eth', [entry('abc', 5)])
      await log.append('dex.blocks.eth', [entry('a', 4)])
      await log.append('dex.blocks', [entry('a', 4)])
      const listed = await log.topics()
      expect(listed.map(({ topic: name, end }) => [name, end]).sort()).toEqual([
        ['dex.blocks', 1],
        ['dex.blocks.eth', 1],
        ['dex.updates.eth', 1],
      ])
      expect((await log.info('never.written')).end).toBe(0)
    })

    it('accepts values up to its limit, and rejects larger ones without writing', async () => {
      const largest = Buffer.alloc(log.maxValueBytes, 7)
      await log.append(topic, [{ key: 'k', value: largest, timestampMs: 0 }])
      expect(Buffer.compare((await log.read(topic, { from: 0 }))[0]?.value ?? Buffer.alloc(0), largest)).toBe(0)
      const tooLarge = { key: 'k', value: Buffer.alloc(log.maxValueBytes + 1), timestampMs: 0 }
      const refused = await log.append(topic, [entry('a'), tooLarge]).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(DextapeError)
      expect((refused as DextapeError).code).toBe('record_too_large')
      expect((refused as DextapeError).fix).toMatch(/split/i)
      expect((await log.info(topic)).end).toBe(1)
    })

    it.each(['', 'a b', 'a/b', '..', 'x'.repeat(250)])('rejects the topic name %j', async (bad) => {
      await expect(log.append(bad, [entry('a')])).rejects.toMatchObject({ code: 'bad_topic_name' })
      await expect(log.read(bad, { from: 0 })).rejects.toMatchObject({ code: 'bad_topic_name' })
    })

    it('fails with an error after close', async () => {
      const again = await opened.reopen()
      await again.close()
      await expect(again.read(topic, { from: 0 })).rejects.toMatchObject({ code: 'log_closed' })
      await expect(again.append(topic, [entry('a')])).rejects.toMatchObject({ code: 'log_closed' })
    })
  })
}

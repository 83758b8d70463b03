import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { open as openLmdb } from 'lmdb'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { repositoryRoot } from '../../../schemas/avro.js'
import { ConfigError } from '../../../services/core/domain/errors.js'
import { packChunks } from '../../../services/core/log/chunk.js'
import { openEmbeddedLog } from '../../../services/core/log/embedded-log.js'
import type { EventLog } from '../../../services/core/log/port.js'
import { crc32 } from '../../../services/core/runtime/crc32.js'
import { zstd } from '../../../services/core/runtime/zstd.js'
import { entry, eventLogContract } from './contract.js'
import { eventLogProcessContract } from './process-contract.js'

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

eventLogProcessContract('embedded', {
  open: async () => open(),
  writer: (task) => [join(repositoryRoot(), 'dist/test/rig/log-writer.js'), JSON.stringify({ at: { path }, ...task })],
})

/** As the second version of the format had it. */
function withChecksum(plain: Buffer): Buffer {
  const bytes = Buffer.concat([plain, Buffer.alloc(4)])
  bytes.writeUInt32LE(2, 0)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, plain.length)), plain.length)
  return bytes
}

describe('the embedded log', () => {
  it.each([
    { version: 'first, which were not compressed', compression: false, checksum: false },
    { version: 'second, compressed by LMDB, with a checksum', compression: true, checksum: true },
  ])('reads chunks of the $version, and takes less room for new ones', async ({ compression, checksum }) => {
    const entries = Array.from({ length: 200 }, (_, n) => ({ ...entry(`0x${'ab'.repeat(20)}`), timestampMs: n }))
    const root = openLmdb({ path, encoding: 'binary', maxDbs: 8, mapSize: 2 ** 34, noSubdir: false })
    const topics = root.openDB({ name: 'topics', encoding: 'json' })
    const chunks = root.openDB({ name: 'chunks', encoding: 'binary', ...(compression ? { compression } : {}) })
    const [old] = packChunks(entries, Buffer.alloc)
    if (old === undefined) throw new Error('no chunk')
    await chunks.put([1, 0], checksum ? withChecksum(old.bytes) : old.bytes)
    await topics.put('t', { id: 1, start: 0, end: 200, bytes: old.payloadBytes, newestMs: 199 })
    await root.close()
    const log = openEmbeddedLog({ path })
    await log.append('t', entries)
    const records = await log.read('t', { from: 0 })
    expect(records.map(({ offset }) => offset)).toEqual(Array.from({ length: 400 }, (_, n) => n))
    expect(new Set(records.map(({ value }) => Buffer.from(value).toString())).size).toBe(1)
    await log.close()
    const plain = openLmdb({ path, encoding: 'binary', maxDbs: 8, noSubdir: false }).openDB({
      name: 'chunks',
      encoding: 'binary',
    })
    const stored = [...plain.getRange({})].map(({ value }) => (value as Buffer).length)
    expect(stored[1]).toBeLessThan(old.bytes.length / 2)
  })

  it('behaves like a list under random appends, truncates and reads', async () => {
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

  it('reads records of another process, opened read-only', async () => {
    await open().append('t', [entry('a')])
    const reader = openEmbeddedLog({ path, readOnly: true })
    expect((await reader.read('t', { from: 0 })).length).toBe(1)
    await reader.close()
  })

  it('decompresses a chunk once, in however many reads its records are taken', async () => {
    const values = Array.from({ length: 12 }, (_, n) => `${n}`.repeat(1000))
    for (const from of [0, 6])
      await open().append(
        't',
        values.slice(from, from + 6).map((text) => entry(text)),
      )
    const decompress = vi.spyOn(zstd(), 'decompress')
    const reader = open()
    const read: string[] = []
    for (let from = 0; from < values.length; from = read.length)
      for (const { value } of await reader.read('t', { from, maxBytes: 4500 })) read.push(Buffer.from(value).toString())
    expect({ read, decompressed: decompress.mock.calls.length }).toEqual({ read: values, decompressed: 2 })
    decompress.mockRestore()
  })

  it('reports why it cannot use a path', () => {
    const file = join(path, 'file')
    writeFileSync(file, 'not a folder')
    expect(() => openEmbeddedLog({ path: file })).toThrow(ConfigError)
    expect(() => openEmbeddedLog({ path: join(file, 'below') })).toThrow(ConfigError)
    // Not even root can create a folder there.
    expect(() => openEmbeddedLog({ path: '/sys/dextape-log' })).toThrow(ConfigError)
    expect(() => openEmbeddedLog({ path: join(path, 'absent'), readOnly: true })).toThrow(/DEXTAPE_DATA_DIR/)
  })
})

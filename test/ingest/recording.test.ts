import { appendFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { SourceItem } from '../../services/ingest/source.js'
import {
  createPace,
  openRecording,
  parseSpeed,
  type RecordingPosition,
  streamRecording,
} from '../../services/ingest/sources/recording/recording.js'
import { splitLines } from '../../services/ingest/sources/recording/split-lines.js'
import { generatedDay } from '../rig/evm/day.js'
import { DAY_RECORDING, describeRecorded } from '../rig/recordings.js'
import { folder, jsonLines, options, writeRecording } from './rig.js'
import { blockAt, rawSwap } from './samples.js'

type Item = SourceItem<RecordingPosition>
const never = new AbortController().signal

function summaryOf(item: Item): string {
  if (item.kind === 'idle') return 'idle'
  if (item.kind === 'dead') return `${item.letter.reason}@${item.letter.source.split(':')[1]}`
  return item.record.kind === 'block' ? `${item.record.block.number}` : 'retract'
}

async function take(items: AsyncIterable<Item>, count = Number.POSITIVE_INFINITY) {
  const seen: string[] = []
  let position: RecordingPosition | undefined
  for await (const item of items) {
    seen.push(summaryOf(item))
    if (item.kind !== 'idle') position = item.position()
    if (seen.length === count) break
  }
  return { seen, position }
}

const open = (path: string) => openRecording(path, options())

describe.each([
  ['plain', false],
  ['gzip', true],
])('a %s recording', (_, gzip) => {
  const text = jsonLines(blockAt(1), blockAt(2), blockAt(3), blockAt(4))

  it('returns its records in order and resumes at the line after any of them', async () => {
    const source = await open(writeRecording(text, { gzip }))
    for (const played of [1, 2, 3, 4]) {
      const first = await take(source.items(undefined, never), played)
      const rest = await take(source.items(first.position, never))
      expect([...first.seen, ...rest.seen]).toEqual(['1', '2', '3', '4'])
    }
  })

  it('resumes with the new lines after it has grown', async () => {
    const path = writeRecording(text, { gzip })
    const { position } = await take((await open(path)).items(undefined, never))
    const more = jsonLines(blockAt(5))
    // A gzip file grows by whole members.
    appendFileSync(path, gzip ? gzipSync(more) : more)
    const grown = await open(path)
    expect((await take(grown.items(position, never))).seen).toEqual(['5'])
  })

  it('is replayed from its start if the part already played changed', async () => {
    const path = writeRecording(text, { gzip })
    const { position } = await take((await open(path)).items(undefined, never), 3)
    writeRecording(jsonLines(blockAt(1), blockAt(2), blockAt(3, { hash: '0xother' })), { gzip, path })
    expect((await take((await open(path)).items(position, never))).seen).toEqual(['1', '2', '3'])
  })

  it('is replayed from its start if it is now shorter than what was played', async () => {
    const path = writeRecording(text, { gzip })
    const { position } = await take((await open(path)).items(undefined, never))
    writeRecording(jsonLines(blockAt(1)), { gzip, path })
    expect((await take((await open(path)).items(position, never))).seen).toEqual(['1'])
  })

  it('is identified by its first line, not by its file name', async () => {
    const [a, b] = [await open(writeRecording(text, { gzip })), await open(writeRecording(text, { gzip: !gzip }))]
    const c = await open(writeRecording(jsonLines(blockAt(9)), { gzip }))
    expect(a.id).toBe(b.id)
    expect(a.id).not.toBe(c.id)
  })
})

describe('lines', () => {
  it('may end in CRLF, be blank, start with a byte order mark, or lack the last line ending', async () => {
    const path = writeRecording(`\ufeff${JSON.stringify(blockAt(1))}\r\n\r\n  \n${JSON.stringify(blockAt(2))}`)
    expect((await take((await open(path)).items(undefined, never))).seen).toEqual(['1', '2'])
  })

  it('that are invalid become dead letters with their line number, and the rest is published', async () => {
    const bad = blockAt(2, { events: [rawSwap({ amount_in: 'x' }), rawSwap({ log_index: 9, type: 'what' })] })
    const path = writeRecording(jsonLines(blockAt(1), '{broken', bad, '[]', blockAt(3)))
    expect((await take((await open(path)).items(undefined, never))).seen).toEqual([
      '1',
      'malformed_json@2',
      'not_an_integer@3',
      'unknown_event@3',
      '2',
      'not_a_record@4',
      '3',
    ])
  })

  it('are re-read after a stop between their dead letters and their block', async () => {
    const bad = blockAt(2, { events: [rawSwap({ amount_in: 'x' })] })
    const source = await open(writeRecording(jsonLines(blockAt(1), bad)))
    const first = await take(source.items(undefined, never), 2)
    expect(first.seen).toEqual(['1', 'not_an_integer@2'])
    expect((await take(source.items(first.position, never))).seen).toEqual(['not_an_integer@2', '2'])
  })

  it('that are still being written become one dead letter, and are read once complete', async () => {
    const [one, two] = [JSON.stringify(blockAt(1)), JSON.stringify(blockAt(2))]
    const path = writeRecording(`${one}\n${two.slice(0, 40)}`)
    const first = await take((await open(path)).items(undefined, never))
    expect(first.seen).toEqual(['1', 'malformed_json@2'])
    expect((await take((await open(path)).items(first.position, never))).seen).toEqual([])
    writeFileSync(path, `${one}\n${two}\n`)
    expect((await take((await open(path)).items(first.position, never))).seen).toEqual(['2'])
  })

  it('are read the same whatever the chunk boundaries', async () => {
    const bytes = Buffer.from('a\nbb\r\n\nccc')
    for (let size = 1; size <= bytes.length; size++) {
      async function* chunks() {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
      }
      const lines: [string, number, number, boolean][] = []
      for await (const batch of splitLines(chunks()))
        for (const { bytes: text, start, end, terminated } of batch)
          lines.push([text.toString(), start, end, terminated])
      expect(lines).toEqual([
        ['a', 0, 2, true],
        ['bb', 2, 6, true],
        ['', 6, 7, true],
        ['ccc', 7, 10, false],
      ])
    }
  })

  it('that are too long are reported and skipped', async () => {
    async function* chunks() {
      for (const text of ['aaaa', 'aaaa', 'aa\nbb', '\n']) yield Buffer.from(text)
    }
    const lines: [number, boolean][] = []
    for await (const batch of splitLines(chunks(), 0, 8)) for (const line of batch) lines.push([line.end, line.tooLong])
    expect(lines).toEqual([
      [11, true],
      [14, false],
    ])
  })

  it('of 40 MB are read', async () => {
    const big = blockAt(1, { events: [], padding: 'x'.repeat(40_000_000) })
    expect((await take((await open(writeRecording(jsonLines(big, blockAt(2))))).items(undefined, never))).seen).toEqual(
      ['1', '2'],
    )
  })
})

describe('a damaged gzip', () => {
  const blocks = Array.from({ length: 3000 }, (_, number) => blockAt(number, { hash: `0x${Math.sin(number)}` }))

  it('that was truncated yields its complete part, then a clear error', async () => {
    const whole = gzipSync(jsonLines(...blocks))
    const path = writeRecording(whole.subarray(0, Math.floor(whole.length * 0.7)))
    const seen: string[] = []
    const source = await open(path)
    const playing = (async () => {
      for await (const item of source.items(undefined, never)) seen.push(summaryOf(item))
    })()
    await expect(playing).rejects.toMatchObject({ code: 'gzip_truncated', retry: false })
    expect(seen.length).toBeGreaterThan(1500)
    expect(seen).toEqual(blocks.slice(0, seen.length).map(({ number }) => `${number}`))
  })
})

it('reports a missing recording as a configuration error', async () => {
  await expect(open(`${folder()}/none.jsonl`)).rejects.toMatchObject({
    name: 'ConfigError',
    code: 'recording_unreadable',
  })
})

it('reads a stream once, plain or gzip, whatever its chunks', async () => {
  const text = jsonLines(blockAt(1), blockAt(2))
  for (const bytes of [Buffer.from(text), gzipSync(text)]) {
    async function* single() {
      for (const byte of bytes) yield Buffer.from([byte])
    }
    const source = await streamRecording(single(), 'stdin', options())
    expect([source.id, (await take(source.items(undefined, never))).seen]).toEqual([null, ['1', '2']])
  }
})

describe('speed', () => {
  it('accepts max or a factor', () => {
    expect(['max', '1', '10', '0.5'].map(parseSpeed)).toEqual(['max', 1, 10, 0.5])
    for (const bad of ['', '0', '-1', 'fast', '1e3', 'Infinity']) expect(() => parseSpeed(bad)).toThrow('speed')
  })

  it('paces by chain time, starting at the first record', () => {
    let now = 5000
    const waitMs = createPace(10, () => now)
    expect(waitMs(100)).toBe(0)
    expect(waitMs(120)).toBe(2000)
    now += 1500
    expect(waitMs(120)).toBe(500)
    expect(waitMs(90)).toBe(0)
  })

  it('waits between records, and flushes earlier ones first', async () => {
    const at = (number: number, time: number) => blockAt(number, { time })
    const path = writeRecording(jsonLines(at(1, 1000), at(2, 1000), at(3, 1004), at(4, 1006)))
    let now = 0
    const waits: number[] = []
    const sleep = async (ms: number) => {
      waits.push(ms)
      now += ms
    }
    const source = await openRecording(path, options({ speed: 2, nowMs: () => now, sleep }))
    expect((await take(source.items(undefined, never))).seen).toEqual(['1', '2', 'idle', '3', 'idle', '4'])
    expect(waits).toEqual([2000, 1000])
  })

  it('stops in the middle of a wait', async () => {
    const path = writeRecording(jsonLines(blockAt(1, { time: 1 }), blockAt(2, { time: 1_000_000 })))
    const stop = new AbortController()
    const source = await openRecording(path, options({ speed: 1 }))
    const seen: string[] = []
    for await (const item of source.items(undefined, stop.signal)) {
      seen.push(summaryOf(item))
      if (item.kind === 'idle') setTimeout(() => stop.abort(), 5)
    }
    expect(seen).toEqual(['1', 'idle'])
  })
})

async function isUsedWhole(path: string, lines: number): Promise<void> {
  const { seen } = await take((await open(path)).items(undefined, never))
  expect(seen.length).toBe(lines)
  expect(seen.every((item) => /^\d+$/.test(item))).toBe(true)
}

it('publishes a generated day without dead letters', async () => {
  const lines = generatedDay().lines()
  await isUsedWhole(writeRecording(jsonLines(...lines)), lines.length)
})

describeRecorded('the sample day of real data', 1, () => {
  it('is published without dead letters', () => isUsedWhole(DAY_RECORDING, 3991))
})

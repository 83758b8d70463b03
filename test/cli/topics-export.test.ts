/** Exports by block and as Avro files, and their way back. */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import avro from 'avsc'
import { describe, expect, it } from 'vitest'
import { offsetsOfBlocks } from '../../services/cli/topics/block-range.js'
import { findDataDir } from '../../services/core/data-dir/data-dir.js'
import { createCodec } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { blocksTopic } from '../../services/core/log/port.js'
import { jsonLines } from '../ingest/rig.js'
import { blockAt } from '../ingest/samples.js'
import { runHere } from '../rig/http/command-here.js'
import { generateRecording } from '../rig/market/generate.js'

const folder = () => mkdtempSync(join(tmpdir(), 'dextape-topics-'))
const run = (dir: string, args: string[], stdin: string | Buffer = '') => runHere(args, { cwd: dir, stdin })

const market = generateRecording({
  ...{ seed: 3, chain: 'eth', blocks: 40 },
  options: { swapsPerBlock: 1, retracts: { probability: 0.2, maxDepth: 6 } },
})

async function imported(text: string): Promise<string> {
  const dir = folder()
  expect(await run(dir, ['topics', 'import', '-'], text)).toMatchObject({ code: 0 })
  return dir
}

/** As any reader of Avro files would: by the schema in the file. */
async function readFile(path: string): Promise<unknown[]> {
  const values: unknown[] = []
  for await (const value of avro.createFileDecoder(path)) values.push(value)
  return values
}

describe('topics export --format avro', () => {
  it('writes the same records as JSON lines, and the file can be imported', async () => {
    const dir = await imported(jsonLines(...market))
    const lines = (await run(dir, ['topics', 'export', 'eth'])).out
    expect(await run(dir, ['topics', 'export', 'eth', '--format', 'avro', '-o', 'eth.avro'])).toMatchObject({ code: 0 })
    const values = (await readFile(join(dir, 'eth.avro'))) as Record<string, { hash?: string; from_hash?: string }>[]
    const expected = lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(values.map((value) => Object.values(value)[0]?.hash ?? Object.values(value)[0]?.from_hash)).toEqual(
      expected.map(({ hash, from_hash }) => hash ?? from_hash),
    )

    for (const back of [
      await importFile(join(dir, 'eth.avro')),
      await imported(readFileSync(join(dir, 'eth.avro')) as never),
    ])
      expect((await run(back, ['topics', 'export', 'eth'])).out).toBe(lines)
  }, 60_000)

  async function importFile(file: string): Promise<string> {
    const dir = folder()
    expect(await run(dir, ['topics', 'import', file])).toMatchObject({ code: 0 })
    return dir
  }

  it('keeps the seed of a simulated market', async () => {
    const dir = await imported(jsonLines({ simulated_seed: 7, ...blockAt(1) }))
    await run(dir, ['topics', 'export', 'eth', '--format', 'avro', '-o', 'eth.avro'])
    const back = await importFile(join(dir, 'eth.avro'))
    expect(readFileSync(join(back, '.dextape/ORIGIN'), 'utf8')).toBe('simulated 7 recorded\n')
  }, 60_000)

  it('writes dead letters, which cannot be imported: the file is refused before anything is written', async () => {
    const dir = folder()
    await run(dir, ['topics', 'import', '-'], `{broken\n${jsonLines(blockAt(1))}`)
    const args = ['topics', 'export', 'dex.dead.unknown', '--format', 'avro', '-o', 'dead.avro']
    expect(await run(dir, args)).toMatchObject({ code: 0 })
    expect(await readFile(join(dir, 'dead.avro'))).toMatchObject([{ reason: 'malformed_json', chain: 'unknown' }])
    const other = folder()
    const refused = await run(other, ['topics', 'import', join(dir, 'dead.avro')])
    expect(refused).toMatchObject({ code: 78, out: '' })
    expect(refused.err).toContain('dead.avro is not a recording of blocks: its records are dextape.DeadLetter')
    expect(existsSync(join(other, '.dextape'))).toBe(false)
  }, 60_000)

  it('is refused with gzip and for internal topics, which are exported as lines and cannot be imported either', async () => {
    const dir = await imported(jsonLines(blockAt(1)))
    for (const wrong of [
      ['eth', '--gzip'],
      ['eth', '-o', 'x.gz'],
    ])
      expect(await run(dir, ['topics', 'export', ...wrong, '--format', 'avro'])).toMatchObject({ code: 78, out: '' })
    expect(await run(dir, ['topics', 'export', 'eth', '--format', 'csv'])).toMatchObject({ code: 78, out: '' })
    const refused = await run(folder(), ['topics', 'import', '-'], '{"key":"eth","value":{"generation":2}}\n')
    expect(refused).toMatchObject({ code: 78, err: expect.stringContaining('internal topic') })
  }, 60_000)

  it('publishes the intact part of a file that was cut or damaged, and says so', async () => {
    const dir = await imported(jsonLines(...market))
    await run(dir, ['topics', 'export', 'eth', '--format', 'avro', '-o', 'eth.avro'])
    const whole = readFileSync(join(dir, 'eth.avro'))
    const flipped = Buffer.from(whole)
    flipped[whole.length - 3] = (flipped[whole.length - 3] ?? 0) ^ 1
    for (const bytes of [whole.subarray(0, -100), flipped, whole.subarray(0, 50)]) {
      writeFileSync(join(dir, 'bad.avro'), bytes)
      const { code, err } = await run(folder(), ['topics', 'import', join(dir, 'bad.avro')])
      expect(code).not.toBe(0)
      expect(err).toContain('The Avro file is damaged or incomplete')
    }
  }, 60_000)
})

describe('topics import of an Avro file', () => {
  it('resumes where a cut file ended, with no block lost or repeated', async () => {
    const dir = await imported(jsonLines(...market))
    const part = async (...range: string[]) => {
      const args = ['topics', 'export', 'eth', ...range, '--format', 'avro', '--out', 'part.avro']
      expect(await run(dir, args)).toMatchObject({ code: 0 })
      return readFileSync(join(dir, 'part.avro'))
    }
    // The same schema has the same header: the blocks of one file continue the other.
    const header = await part('--from', '0', '--to', '0')
    const first = await part('--to-block', '1020')
    const whole = Buffer.concat([first, (await part('--from-block', '1020')).subarray(header.length)])
    const target = folder()
    writeFileSync(join(dir, 'r.avro'), whole.subarray(0, first.length + 100))
    const cut = await run(target, ['topics', 'import', join(dir, 'r.avro')])
    expect(cut.code).toBe(1)
    expect(cut.out).toMatch(/^failed: \d\d blocks/)
    writeFileSync(join(dir, 'r.avro'), whole)
    expect(await run(target, ['topics', 'import', join(dir, 'r.avro')])).toMatchObject({ code: 0 })
    expect((await run(target, ['topics', 'export', 'eth'])).out).toBe((await run(dir, ['topics', 'export', 'eth'])).out)
  }, 60_000)
})

describe('topics export --from-block --to-block', () => {
  it('gives the canonical blocks of the range, whatever reorgs are in it', async () => {
    const dir = await imported(jsonLines(...market))
    const numbers = market.flatMap((line) => ('number' in line ? [line.number] : []))
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)]
    const whole = canonical((await run(dir, ['topics', 'export', 'eth'])).out)
    for (let from = low - 1; from <= high + 1; from += 7)
      for (const to of [from, from + 11, high + 2]) {
        const args = ['topics', 'export', 'eth', '--from-block', String(Math.max(0, from)), '--to-block', String(to)]
        const found = canonical((await run(dir, args)).out)
        expect(found, `${from} to ${to}`).toEqual(whole.filter(({ number }) => number >= from && number < to))
      }
  }, 60_000)

  it('finds the same offsets without reading the whole topic', async () => {
    const dir = await imported(jsonLines(...market))
    const { log, registry } = openEmbedded({ path: findDataDir(join(dir, '.dextape')).logPath })
    const open = { log, codec: createCodec(registry) }
    const topic = blocksTopic('eth')
    const { start: first, end: stop } = await log.info(topic)
    for (let fromBlock = 995; fromBlock < 1045; fromBlock += 3) {
      const range = { fromBlock, toBlock: fromBlock + 10 }
      const found = await offsetsOfBlocks(open, topic, range, { first, stop }, 6)
      expect(found, `${fromBlock}`).toEqual(await offsetsOfBlocks(open, topic, range, { first, stop }, 1e6))
    }
    await log.close()
  }, 60_000)

  it('refuses what is not a number', async () => {
    const dir = await imported(jsonLines(blockAt(1)))
    expect(await run(dir, ['topics', 'export', 'eth', '--from-block', 'x'])).toMatchObject({ code: 78, out: '' })
  }, 60_000)
})

/** The blocks that stay after the retracts. */
function canonical(text: string): { number: number; hash: string }[] {
  const kept: { number: number; hash: string }[] = []
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const { kind, number, hash, to_hash } = JSON.parse(line)
    if (kind === 'block') kept.push({ number, hash })
    else kept.length = kept.findIndex((block) => block.hash === to_hash) + 1
  }
  return kept
}

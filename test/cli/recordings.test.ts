/** Recordings as a user makes and plays them: their origin is never lost, and only blocks are played. */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { jsonLines } from '../ingest/rig.js'
import { blockAt } from '../ingest/samples.js'
import { type Ended, runCommand, type Started, startCommand } from '../rig/http/command.js'
import { runHere } from '../rig/http/command-here.js'

const root = repositoryRoot()
const folder = () => mkdtempSync(join(tmpdir(), 'dextape-recordings-'))

const run = (args: string[], dir: string, stdin = ''): Promise<Ended> => runHere(args, { cwd: dir, stdin })

const originIn = (dir: string) => readFileSync(join(dir, '.dextape/ORIGIN'), 'utf8')
const marked = (number: number, seed = 7) => ({ simulated_seed: seed, kind: 'block', ...blockAt(number) })
const SIMULATED = jsonLines(marked(1), marked(2))
const REAL = jsonLines(blockAt(1), blockAt(2))

beforeAll(() => {
  if (!existsSync(join(root, 'dist/bundle/main.js'))) throw new Error('run `npm run build` first')
})

describe('simulate', () => {
  const args = ['simulate', '--seed', '7', '--hours', '0.1', '--swaps', '2000', '--end', '@1704412800']

  it('writes the same recording for the same seed and end, with the seed on every line, and gzips by file name', async () => {
    const dir = folder()
    const written = await run([...args, '--out', 'day.jsonl.gz'], dir)
    const [, blocks, retracts, events] =
      /^day\.jsonl\.gz: (\d+) blocks, (\d+) retracts, (\d+) events, \d+ bytes\n$/.exec(written.out) ?? []
    expect(Number(events)).toBeGreaterThan(1000)
    const text = gunzipSync(readFileSync(join(dir, 'day.jsonl.gz'))).toString()
    const lines = text.trimEnd().split('\n')
    expect(lines).toHaveLength(Number(blocks) + Number(retracts))
    expect(lines.every((line) => line.startsWith('{"simulated_seed":7,'))).toBe(true)
    expect((await run(args, dir)).out).toBe(text)
    expect(await run(['topics', 'import', 'day.jsonl.gz'], dir)).toMatchObject({
      code: 0,
      out: `done: ${blocks} blocks, ${retracts} retracts, ${events} events, 0 dead letters\n`,
    })
    expect(originIn(dir)).toBe('simulated 7 recorded\n')
  }, 120_000)

  it('rejects values out of range', async () => {
    const refused = [
      ['--hours', '0'],
      ['--seed', '-1'],
      ['--swaps', '10'],
      ['--end', '7'],
      ['--out', 'none/day.jsonl'],
    ]
    for (const wrong of refused)
      expect(await run(['simulate', ...wrong], folder())).toMatchObject({ code: 78, out: '' })
  }, 60_000)
})

describe('the origin of a recording', () => {
  it('stays with simulated blocks through import and export', async () => {
    const [a, b] = [folder(), folder()]
    expect(await run(['topics', 'import', '-'], a, SIMULATED)).toMatchObject({ code: 0 })
    expect(originIn(a)).toBe('simulated 7 recorded\n')
    const exported = await run(['topics', 'export', 'eth', '--out', join(b, 'r.jsonl.gz')], a)
    expect(exported).toMatchObject({ code: 0 })
    const lines = gunzipSync(readFileSync(join(b, 'r.jsonl.gz')))
      .toString()
      .trim()
      .split('\n')
    expect(lines.map((line) => JSON.parse(line).simulated_seed)).toEqual([7, 7])
    await run(['topics', 'import', 'r.jsonl.gz'], b)
    expect(originIn(b)).toBe('simulated 7 recorded\n')
  }, 60_000)

  it('is real unless a line says otherwise', async () => {
    const dir = folder()
    await run(['topics', 'import', '-'], dir, REAL)
    expect(originIn(dir)).toBe('real\n')
    expect((await run(['topics', 'export', 'eth'], dir)).out).not.toContain('simulated_seed')
  }, 60_000)

  it.each([
    ['real', REAL, SIMULATED, 'holds real data; it cannot be mixed with recorded simulated (seed 7) data'],
    ['simulated', SIMULATED, REAL, 'holds recorded simulated (seed 7) data; it cannot be mixed with real data'],
    ['another seed’s', SIMULATED, jsonLines(marked(3, 8)), 'it cannot be mixed with recorded simulated (seed 8) data'],
  ])(
    'is rejected in a directory of %s data',
    async (_, first, second, message) => {
      const dir = folder()
      await run(['topics', 'import', '-'], dir, first)
      const refused = await run(['topics', 'import', '-'], dir, second)
      expect(refused).toMatchObject({ code: 78, out: '', err: expect.stringContaining(message) })
    },
    60_000,
  )

  it('must not change within a file', async () => {
    for (const text of [
      jsonLines(blockAt(1), marked(2)),
      jsonLines(marked(1), blockAt(2)),
      jsonLines(marked(1), marked(2, 8)),
    ]) {
      const refused = await run(['topics', 'import', '-'], folder(), text)
      expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('1 blocks') })
      expect(refused.err).toMatch(/line 2.*Keep simulated and real recordings/)
    }
  }, 60_000)

  it('is reported by up --events, and the simulated market does not continue it', async () => {
    const dir = folder()
    writeFileSync(join(dir, 'r.jsonl'), SIMULATED)
    const env = { DEXTAPE_HTTP_PORT: '0', DEXTAPE_WS_PORT: '0', DEXTAPE_DATA_DIR: '.dextape' }
    const played = startCommand(['up', '--events', 'r.jsonl'], { cwd: dir, env })
    expect(await (await fetch(`${await addressOf(played)}/status`)).json()).toMatchObject({ simulated: true })
    played.child.kill('SIGTERM')
    expect((await played.ended).out).toContain('SIMULATED')
    expect(await runCommand(['up', '--seed', '7'], { cwd: dir, env })).toMatchObject({
      code: 78,
      err: expect.stringContaining('holds recorded simulated (seed 7) data'),
    })
    const again = startCommand(['up'], { cwd: dir, env })
    expect(await (await fetch(`${await addressOf(again)}/status`)).json()).toMatchObject({ simulated: true })
    again.child.kill('SIGTERM')
    expect((await again.ended).out).toContain('No source: serving existing data only')
  }, 120_000)
})

/** Resolves once it prints its address. */
function addressOf({ onOutput, ended }: Started): Promise<string> {
  return new Promise((resolve, reject) => {
    onOutput((out) => {
      const rest = /status {5}curl (http:\S+)\/status/.exec(out)?.[1]
      if (rest !== undefined) resolve(rest)
    })
    void ended.then(({ err }) => reject(new Error(`up exited before it was ready: ${err}`)))
  })
}

describe('rejects an export of a topic other than blocks, naming the topic', () => {
  const update = {
    chain: 'eth',
    epoch: 1,
    seq: 1,
    kind: 'block',
    number: 1,
    hash: '0xb1',
    time: 5,
    pairs: [],
    tokens: [],
  }
  const trade = { op: 'insert', chain: 'eth', epoch: 1, seq: 1, n: 0, pair: '0x1', id: '1' }
  it.each([
    ['updates', jsonLines(update, { ...update, seq: 2 }), 'an update (topic dex.updates.*)'],
    ['trades', jsonLines(trade), 'a trade (topic dex.trades.*)'],
  ])(
    '%s',
    async (_, text, message) => {
      const dir = folder()
      const refused = await run(['topics', 'import', '-'], dir, text)
      expect(refused).toMatchObject({ code: 78, out: '', err: expect.stringContaining(message) })
      expect(refused.err).toContain('dextape topics export CHAIN')
      expect(existsSync(join(dir, '.dextape'))).toBe(false)
    },
    60_000,
  )

  it('exported dead letters; a file without blocks exits with 1', async () => {
    const dir = folder()
    const nothing = await run(['topics', 'import', '-'], dir, '{broken\n{"chain":"eth"}\n')
    expect(nothing).toMatchObject({
      code: 1,
      err: expect.stringContaining('no line is a block, 2 became dead'),
    })
    const letters = await run(['topics', 'export', 'dex.dead.unknown'], dir)
    const refused = await run(['topics', 'import', '-'], folder(), letters.out)
    expect(refused).toMatchObject({ code: 78, err: expect.stringContaining('a dead letter (topic dex.dead.*)') })
  }, 60_000)

  it('in the middle of a file, with its line', async () => {
    const refused = await run(['topics', 'import', '-'], folder(), jsonLines(blockAt(1), update))
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('line 2 is an update') })
  }, 60_000)
})

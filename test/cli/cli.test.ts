import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { openEmbeddedLog } from '../../services/core/log/embedded-log.js'
import { jsonLines } from '../ingest/rig.js'
import { blockAt, rawSwap } from '../ingest/samples.js'
import { type Ended, startCommand } from '../rig/http/command.js'
import { runHere } from '../rig/http/command-here.js'

const root = repositoryRoot()
const folder = () => mkdtempSync(join(tmpdir(), 'dextape-cli-'))

const start = (args: string[], { dir = folder(), env = {} }: Given = {}) =>
  startCommand(args, { cwd: dir, env: { DEXTAPE_DATA_DIR: join(dir, 'data'), ...env } })

type Given = { dir?: string; env?: Record<string, string>; stdin?: string }

function runAsProcess(args: string[], options: Given = {}): Promise<Ended> {
  const { child, ended } = start(args, options)
  child.stdin.end(options.stdin ?? '')
  return ended
}

function run(args: string[], { dir = folder(), env = {}, stdin = '' }: Given = {}): Promise<Ended> {
  return runHere(args, { cwd: dir, env: { DEXTAPE_DATA_DIR: join(dir, 'data'), ...env }, stdin })
}

beforeAll(() => {
  if (!existsSync(join(root, 'dist/bundle/main.js'))) throw new Error('run `npm run build` first')
})

describe('usage', () => {
  it('is printed by --help, with examples, environment and exit codes', async () => {
    const { code, out } = await runAsProcess(['--help'])
    expect(code).toBe(0)
    for (const part of [
      'up',
      'topics',
      'dead',
      'keys',
      'migrate',
      'doctor',
      'Examples:',
      'DEXTAPE_DATA_DIR',
      'Exit codes',
    ])
      expect(out).toContain(part)
  })

  it('suggests the nearest command or option, and exits with 64', async () => {
    expect(await runAsProcess(['tpics'])).toMatchObject({
      code: 64,
      err: expect.stringContaining('Did you mean topics?'),
    })
    expect(await run(['topics', 'ls', '--jsn'])).toMatchObject({ code: 64, err: expect.stringContaining('--json') })
  })
})

describe('reports a configuration error in one line and exits with 78', () => {
  it.each([
    ['an unknown variable', ['topics', 'ls'], { DEXTAPE_HTP_PORT: '1' }, 'did you mean DEXTAPE_HTTP_PORT?'],
    ['no data directory', ['topics', 'ls'], {}, 'No data directory'],
    [
      'a data directory that cannot be created',
      ['keys', 'create', '--name', 'x'],
      { DEXTAPE_DATA_DIR: '/proc/none' },
      'cannot be created',
    ],
    ['a missing configuration file', ['-c', 'none.yaml', 'keys', 'ls'], {}, 'Cannot read the configuration file'],
    ['a missing recording', ['topics', 'import', 'none.jsonl'], {}, 'The recording cannot be read'],
    ['an option', ['keys', 'create', '--name', 'x', '--plan', 'gold'], {}, 'free, basic, pro, unlimited'],
  ])('%s', async (_, args, env, message) => {
    const { code, out, err } = await run(args, { env: env as Record<string, string> })
    expect({ code, out, lines: err.trim().split('\n').length }).toEqual({ code: 78, out: '', lines: 1 })
    expect(err).toContain(message)
  })

  it('a data directory of a newer version', async () => {
    const dir = folder()
    await run(['keys', 'create', '--name', 'x'], { dir })
    writeFileSync(join(dir, 'data/VERSION'), '2')
    expect(await run(['keys', 'ls'], { dir })).toMatchObject({
      code: 78,
      err: expect.stringContaining('newer version'),
    })
  })
})

describe('topics', () => {
  const retract = { kind: 'retract', chain: 'eth', from_number: 3, from_hash: '0xb3', to_number: 2, to_hash: '0xb2' }
  const token = { type: 'token', tx_index: 0, log_index: 0, tx_hash: '0x1', token: '0x2', symbol: 'X', decimals: 6 }
  const recording = jsonLines(
    blockAt(1, { events: [token, rawSwap({ sub: 2, reserve0: '5' })] }),
    blockAt(2, { events: [] }),
    blockAt(3),
    retract,
    blockAt(3, { hash: '0xb3b' }),
  )

  it('export to the same bytes after an import, plain and gzip', async () => {
    const [a, b, c] = [folder(), folder(), folder()]
    writeFileSync(join(a, 'r.jsonl'), recording)
    expect(await runAsProcess(['topics', 'import', 'r.jsonl'], { dir: a })).toMatchObject({
      code: 0,
      out: 'done: 4 blocks, 1 retracts, 4 events, 0 dead letters\n',
    })
    const first = await runAsProcess(['topics', 'export', 'eth'], { dir: a })
    expect(first.out.split('\n').length).toBe(6)
    await runAsProcess(['topics', 'import', '-'], { dir: b, stdin: first.out })
    expect((await run(['topics', 'export', 'dex.blocks.eth'], { dir: b })).out).toBe(first.out)
    await run(['topics', 'export', 'eth', '--gzip', '--out', join(c, 'r')], { dir: b })
    expect(gunzipSync(readFileSync(join(c, 'r'))).toString()).toBe(first.out)
    await run(['topics', 'import', 'r'], { dir: c })
    expect((await run(['topics', 'export', 'eth'], { dir: c })).out).toBe(first.out)
  }, 60_000)

  it('are listed, tailed and exported by offset and time', async () => {
    const dir = folder()
    await run(['topics', 'import', '-'], { dir, stdin: recording })
    const [line] = (await run(['topics', 'ls', '--json'], { dir })).out.trim().split('\n')
    expect(JSON.parse(line ?? '')).toMatchObject({ topic: 'dex.blocks.eth', start: 0, end: 5, records: 5 })
    const numbers = async (...args: string[]) =>
      (await run(['topics', ...args], { dir })).out
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text).hash ?? 'retract')
    expect(await numbers('tail', 'eth', '-n', '2')).toEqual(['retract', '0xb3b'])
    expect(await numbers('export', 'eth', '--from', '1', '--to', '3')).toEqual(['0xb2', '0xb3'])
    expect(await numbers('export', 'eth', '--to', '@1704412002')).toEqual(['0xb1'])
    expect(await run(['topics', 'export', 'eht'], { dir })).toMatchObject({
      code: 1,
      err: expect.stringContaining('Did you mean dex.blocks.eth?'),
    })
  }, 60_000)

  it('are tailed as JSON, text or bytes if they are internal', async () => {
    const dir = folder()
    await run(['topics', 'import', '-'], { dir, stdin: recording })
    const log = openEmbeddedLog({ path: join(dir, 'data/log') })
    const values = [Buffer.from('{"away":[]}'), Buffer.from('plain'), Buffer.from([0xff, 1])]
    await log.append(
      'dex.status',
      values.map((value, at) => ({ key: `k${at}`, value, timestampMs: 1 })),
    )
    await log.close()
    const { out } = await run(['topics', 'tail', 'dex.status'], { dir })
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { offset: 0, key: 'k0', value: { away: [] } },
      { offset: 1, key: 'k1', value: 'plain' },
      { offset: 2, key: 'k2', value: 'base64:/wE=' },
    ])
  })
})

describe('dead letters', () => {
  it('are counted by reason and shown in full', async () => {
    const dir = folder()
    const bad = blockAt(1, { events: [rawSwap({ amount_in: 'x' }), rawSwap({ log_index: 8, amount_in: 'y' })] })
    await run(['topics', 'import', '-'], { dir, stdin: jsonLines(bad, '{broken') })
    const rows = (await run(['dead', 'ls', '--json'], { dir })).out.trim().split('\n')
    expect(rows.map((row) => JSON.parse(row))).toEqual([
      { chain: 'eth', reason: 'not_an_integer', letters: 2, first_offset: 0, last_offset: 1 },
      { chain: 'unknown', reason: 'malformed_json', letters: 1, first_offset: 0, last_offset: 0 },
    ])
    const shown = await run(['dead', 'show', 'eth', '1'], { dir })
    for (const part of ['stdin:1', '3:8:0', '"amount_in":"y"']) expect(shown.out).toContain(part)
    expect((await run(['dead', 'show', 'unknown', '0', '--raw'], { dir })).out).toBe('{broken')
    expect(await run(['dead', 'show', 'eth', '9'], { dir })).toMatchObject({ code: 1 })
  }, 60_000)
})

describe('keys', () => {
  it('are printed once, listed without the key itself, and revoked', async () => {
    const dir = folder()
    const { out } = await run(['keys', 'create', '--name', 'bot', '--plan', 'pro', '--expires', '30d'], { dir })
    expect(out).toMatch(/^dx_[\w-]{32}\n$/)
    const listed = await run(['keys', 'ls'], { dir })
    expect(listed.out).toMatch(/bot\s+pro\s+20\s.*valid/)
    expect(listed.out + listed.err).not.toContain(out.trim())
    const shown = await run(['keys', 'show', 'bot', '--json'], { dir })
    expect(JSON.parse(shown.out)).toMatchObject({
      ...{ name: 'bot', plan: 'pro', state: 'valid', spentCu: 0 },
      budgets: { requests_per_s: 20, cu_per_month: null, sockets: 100, ids: 200_000, memory_mb: 384 },
    })
    expect((await run(['keys', 'show', 'bot'], { dir })).out).toMatch(/^cu_per_month\s+no limit$/m)
    expect(await run(['keys', 'show', 'nobody'], { dir })).toMatchObject({ code: 1 })
    await run(['keys', 'create', '--name', 'charts', '--only', 'datafeed'], { dir })
    expect((await run(['keys', 'show', 'charts'], { dir })).out).toMatch(/^opens\s+datafeed$/m)
    const rotated = await run(['keys', 'rotate', 'bot', '--overlap', '2d', '--json'], { dir })
    expect(JSON.parse(rotated.out)).toMatchObject({ key: expect.stringMatching(/^dx_/), old_id: expect.any(String) })
    expect(await run(['keys', 'rotate', 'bot', '--overlap', 'soon'], { dir })).toMatchObject({ code: 78 })
    expect((await run(['keys', 'revoke', 'bot'], { dir })).code).toBe(0)
    const audit = (await run(['keys', 'audit', '--json'], { dir })).out.trim().split('\n')
    const events = audit.map((line) => JSON.parse(line) as { action: string; name: string; by: string })
    const ofBot = events.filter(({ name }) => name === 'bot')
    expect(ofBot.map(({ action }) => action)).toEqual(['created', 'created', 'rotated', 'revoked'])
    expect(ofBot.filter(({ by }) => !/^.+@.+$/.test(by))).toEqual([])
    expect((await run(['keys', 'audit'], { dir })).out).toMatch(/rotated\s+\S+\s+bot\s/)
    expect((await run(['keys', 'ls'], { dir })).out).toMatch(/revoked/)
    expect((await run(['keys', 'revoke', 'bot'], { dir })).code).toBe(1)
  }, 60_000)
})

describe('plans of the configuration', () => {
  it('set the rate of a new key and the budgets shown', async () => {
    const dir = folder()
    writeFileSync(join(dir, 'plans.yaml'), 'plans:\n  free:\n    requests_per_s: 3\n    sockets: 2\n')
    const config = ['-c', join(dir, 'plans.yaml')]
    await run([...config, 'keys', 'create', '--name', 'bot', '--plan', 'free'], { dir })
    expect((await run([...config, 'keys', 'ls'], { dir })).out).toMatch(/bot\s+free\s+3\s+2\s+10000\s/)
  }, 60_000)
})

describe('doctor', () => {
  it('reports what fails, prints the configuration without secrets, and exits with 1', async () => {
    const env = { CLICKHOUSE_URL: 'http://user:hunter2@127.0.0.1:1', DEXTAPE_API_KEY: 'hunter2' }
    const { code, out, err } = await run(['doctor'], { env })
    expect(code).toBe(1)
    expect(out).toMatch(/^ok {4}Node v/m)
    expect(out).toMatch(/^fail {2}ClickHouse at http:\/\/127.0.0.1:1\/ is not reachable/m)
    expect(out + err).not.toContain('hunter2')
  }, 60_000)
})

describe('an import that is killed', () => {
  it.each([
    ['plain', false],
    ['gzip', true],
  ])(
    'resumes at its line, with no block lost or repeated (%s)',
    async (_, gzip) => {
      const dir = folder()
      const count = 20_000
      const text = jsonLines(...Array.from({ length: count }, (_, index) => blockAt(index + 1)))
      const path = join(dir, 'r')
      writeFileSync(path, gzip ? gzipSync(text) : text)
      const { child, ended } = start(['topics', 'import', 'r'], { dir })
      const somePublished = async () => {
        if (!existsSync(join(dir, 'data/log/data.mdb'))) return false
        const log = openEmbeddedLog({ path: join(dir, 'data/log') })
        const { end } = await log.info('dex.blocks.eth')
        await log.close()
        return end > 0
      }
      while (child.exitCode === null && !(await somePublished())) await setImmediate()
      child.kill('SIGKILL')
      await ended
      expect(child.signalCode).toBe('SIGKILL')
      expect((await run(['topics', 'import', 'r'], { dir })).code).toBe(0)
      const { out } = await run(['topics', 'export', 'eth'], { dir })
      const numbers = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).number)
      expect(numbers).toEqual(Array.from({ length: count }, (_, index) => index + 1))
    },
    120_000,
  )
})

it('dead letters are printed without codes for the terminal; --raw has their bytes', async () => {
  const dir = folder()
  const file = join(dir, 'bad.jsonl')
  writeFileSync(file, '{"kind":"block\x1b[2J\u202e\n')
  await run(['topics', 'import', file], { dir })
  const codes = (text: string) => ['\x1b', '\u202e'].filter((code) => text.includes(code))
  const listed = await run(['dead', 'ls', '--letters', '5'], { dir })
  const shown = await run(['dead', 'show', 'unknown', '0'], { dir })
  expect([listed.out, shown.out].map(codes)).toEqual([[], []])
  expect(shown.out).toContain('{"kind":"block\ufffd[2J\ufffd')
})

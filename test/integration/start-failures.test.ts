/** A failed start: one message with what to do, an exit code, and nothing that breaks the next start. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Ended, removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { runHere } from '../rig/http/command-here.js'
import { textOf, writeRecording } from '../rig/http/recording-file.js'
import { dataDirOf, environmentOf, startUp } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'

const CONFIGURATION = 78
const FAILED = 1

let folder: string
beforeEach(() => {
  folder = scratchFolder()
})

afterAll(removeScratchFolders)

type Given = { env?: Record<string, string>; settings?: Record<string, unknown>; args?: string[]; uid?: number }

const placeOf = ({ env = {}, settings = {} }: Given) => ({
  cwd: folder,
  env: { ...environmentOf({ folder, settings }), ...env },
})
const runUp = ({ args = [], uid, ...given }: Given): Promise<Ended> =>
  runCommand(['up', ...args], { ...placeOf(given), ...(uid === undefined ? {} : { uid }) })
/** For starts that are rejected before they open anything. */
const runUpHere = ({ args = [], ...given }: Given): Promise<Ended> => runHere(['up', ...args], placeOf(given))

/** One readable line on stderr: no stack, no log lines, nothing on stdout. */
function expectRefused({ code, out, err }: Ended, message: string | RegExp, expectedCode = CONFIGURATION): void {
  expect({ code, out }).toEqual({ code: expectedCode, out: '' })
  expect(err).toMatch(/^dextape: .+\n$/)
  expect(err).toMatch(message)
}

/** Generated lines of a chain with built-in money. */
const someLines = () => generateRecording({ seed: 5, chain: 'eth', blocks: 40 })

describe('configuration', () => {
  test('suggests the nearest key for an unknown one', async () => {
    expectRefused(await runUp({ settings: { htp_port: 1 } }), 'unknown key "htp_port": did you mean "http_port"?')
    expect(existsSync(dataDirOf(folder))).toBe(false)
  })

  test('reports a bad value, an unknown variable and a bad variable at once', async () => {
    const env = { DEXTAPE_WS_PROT: '1', DEXTAPE_HTTP_PORT: 'eighty' }
    const ended = await runUpHere({ settings: { fold: { max_time_back_s: -5 } }, env })
    expectRefused(ended, /max_time_back_s/)
    expect(ended.err).toContain('unknown environment variable DEXTAPE_WS_PROT: did you mean DEXTAPE_WS_PORT?')
    expect(ended.err).toContain('DEXTAPE_HTTP_PORT')
    expect(existsSync(dataDirOf(folder))).toBe(false)
  })

  test('rejects a missing file, and one that is neither YAML nor JSON', async () => {
    expectRefused(
      await runUpHere({ env: { DEXTAPE_CONFIG: join(folder, 'none.yaml') } }),
      'Cannot read the configuration file',
    )
    const broken = join(folder, 'broken.yaml')
    writeFileSync(broken, 'chains: [}\n')
    expectRefused(await runUpHere({ env: { DEXTAPE_CONFIG: broken } }), 'neither YAML nor JSON')
  })

  test('rejects an invalid speed', async () => {
    expectRefused(await runUpHere({ args: ['--speed', 'fast'] }), /speed/)
  })
})

describe('the data directory', () => {
  const inDir = (path: string): Given => ({ env: { DEXTAPE_DATA_DIR: path } })

  test('is a file', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, 'mine')
    expectRefused(await runUpHere(inDir(file)), `The data directory ${file} is not a directory`)
    expectRefused(await runUpHere(inDir(join(file, 'below'))), `${join(file, 'below')} cannot be created: ENOTDIR`)
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })

  test('cannot be created', async () => {
    expectRefused(await runUpHere(inDir('/proc/dextape')), 'The data directory /proc/dextape cannot be created')
  })

  test('was written by a newer version', async () => {
    const dir = dataDirOf(folder)
    mkdirSync(dir)
    writeFileSync(join(dir, 'VERSION'), '999\n')
    expectRefused(
      await runUpHere({}),
      /written by a newer version of Dextape; expected version \d+ or older; got version 999/,
    )
    expect(readdirSync(dir)).toEqual(['VERSION'])
    writeFileSync(join(dir, 'VERSION'), 'of something else')
    expectRefused(await runUpHere({}), 'does not contain a version number')
  })
})

// In one folder, one after another, because each start costs seconds.
describe('the next start works after', () => {
  let shared: string
  beforeAll(() => {
    shared = scratchFolder()
  })
  beforeEach(() => {
    folder = shared
  })

  test('a port in use, which is reported with its setting before anything is created', async () => {
    const other: Server = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    for (const name of ['DEXTAPE_HTTP_PORT', 'DEXTAPE_WS_PORT']) {
      const ended = await runUp({ env: { [name]: String(port) } })
      expectRefused(
        ended,
        `Port ${port} on 127.0.0.1 is already in use. Stop the process that listens on it, or choose another port with ${name}.`,
      )
      expect(existsSync(dataDirOf(folder))).toBe(false)
    }
    other.close()
  })

  // Only root can start it as another user, and permission bits do not apply to root.
  test.runIf(process.getuid?.() === 0)('a data directory of another user', async () => {
    const dir = dataDirOf(folder)
    mkdirSync(dir, { mode: 0o700 })
    chmodSync(folder, 0o755)
    const ended = await runUp({ uid: 65_534 })
    expectRefused(
      ended,
      `The data directory ${dir} cannot be used: permission denied. Give this user read and write permission`,
    )
    expect(readdirSync(dir)).toEqual([])
  })

  test('a recording that is missing or a directory', async () => {
    expectRefused(
      await runUp({ args: ['--events', join(folder, 'none.jsonl')] }),
      'The recording cannot be read: ENOENT',
    )
    expectRefused(await runUp({ args: ['--events', folder] }), /The recording cannot be read: .*EISDIR/)
  })

  test('all of these, and keeps running when another up is refused its data directory', async () => {
    const lines = someLines()
    const events = writeRecording(folder, 'first.jsonl', lines)
    const first = await startUp({ folder, events, chains: [marketMoney('eth')] })
    await first.stored('eth', lines.length)
    const ended = await runUp({})
    expectRefused(ended, /Another dextape \(process \d+\) is running on the data directory .*\. Stop it first/)
    expect((await first.get('/health')).status).toBe(200)
    expect((await first.stop()).code).toBe(0)
  })

  test('that refusal', async () => {
    const up = await startUp({ folder, events: join(folder, 'first.jsonl'), chains: [marketMoney('eth')] })
    await up.applied('eth', someLines().length)
    expect((await up.stop()).code).toBe(0)
  })
})

describe('the recording', () => {
  test('is a truncated gzip file: keeps complete lines, and the complete file resumes from there', async () => {
    const lines = someLines()
    const file = join(folder, 'cut.jsonl.gz')
    const packed = gzipSync(textOf(lines))
    writeFileSync(file, packed.subarray(0, Math.floor(packed.length * 0.7)))
    const { code, err } = await runUp({ args: ['--events', file] })
    expect(code).toBe(FAILED)
    const failures = err
      .trim()
      .split('\n')
      .filter((line) => line.includes('"level":"error"'))
    expect(failures).toHaveLength(1)
    expect(failures[0]).toContain('cut')
    // The stack is only in the log line; the message for people is a sentence.
    expect(err).not.toMatch(/\n\s+at /)
    writeFileSync(file, packed)
    const up = await startUp({ folder, events: file })
    const status = await up.applied('eth', lines.length)
    expect(status).toMatchObject({ dead_letters: expect.any(Number), stopped: null, gaps: 0 })
    expect((await up.metrics()).get('dextape_ingest_blocks_total{chain="eth"}')).toBeLessThan(lines.length)
    await up.stop()
  })
})

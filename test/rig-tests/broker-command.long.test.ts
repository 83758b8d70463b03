import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { run } from '../rig/python/venv.js'
import { dockerAnswers } from '../rig/servers/container.js'
import { steadyPort } from '../rig/servers/steady-port.js'

const COMMAND = join(repositoryRoot(), 'infra/kafka/broker.mjs')
const directory = mkdtempSync(join(tmpdir(), 'dextape-kafka-'))
let started: ChildProcess | undefined

afterAll(() => {
  started?.kill('SIGTERM')
  rmSync(directory, { recursive: true, force: true })
})

const broker = (...args: string[]) => run(process.execPath, [COMMAND, ...args, '--dir', directory])

// With a Docker engine this command is not needed, and Java may be missing.
const isOfNoUse = spawnSync('java', ['-version']).status !== 0 && (await dockerAnswers())

test.skipIf(isOfNoUse)(
  'a broker started by hand is detected, rejects a second one on its data, and can be stopped',
  async () => {
    const port = await steadyPort(2)
    const nothing = { code: 1, out: `kafka: no broker is running on ${directory}\n` }
    expect(await broker('status')).toEqual(nothing)

    started = spawn(process.execPath, [COMMAND, 'start', '--port', String(port), '--dir', directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = (await once(started.stdout ?? started, 'data')) as [Buffer]
    const pid = Number(/serves 127\.0\.0\.1:\d+ \(pid (\d+)\)/.exec(said.toString())?.[1])
    expect(await broker('status')).toEqual({ code: 0, out: `kafka: pid ${pid} serves 127.0.0.1:${port}\n` })
    expect(await broker('start')).toEqual({
      code: 1,
      out: `kafka: A broker (pid ${pid}, port ${port}) is already running on ${directory}\n`,
    })

    const ended = once(started, 'close')
    expect(await broker('stop')).toEqual({ code: 0, out: `kafka: stopped (pid ${pid})\n` })
    expect(await ended).toEqual([0, null])
    expect(await broker('status')).toEqual(nothing)
  },
)

test('rejects an invalid command line', async () => {
  expect(await broker('begin')).toEqual({
    code: 1,
    out: 'kafka: Unknown command "begin". Use fetch, start, stop, status or --help\n',
  })
  expect(await broker('start', '--port', '65535')).toEqual({
    code: 1,
    out: 'kafka: --port must be an integer from 1 to 65534, got "65535"\n',
  })
})

test('names what is missing, with the command that installs it', async () => {
  // A PATH with only node.
  const env = { PATH: join(directory, 'nothing-here'), XDG_CACHE_HOME: directory }
  const child = spawn(process.execPath, [COMMAND, 'fetch'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  expect(await once(child, 'close')).toEqual([1, null])
  expect(err).toMatch(/^kafka: Java is missing: .* Install it: apt install openjdk-17-jre-headless/)
})

/** A thread of `up` that ends unexpectedly is started again and named in /status, while the others go on and nothing is lost. */
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { isLongRun } from '../rig/counts.js'
import { storeEnvironmentOf } from '../rig/engine.js'
import { removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { startUp, type UpProcess } from '../rig/up/process.js'
import { connect } from '../serve/push-client.js'

const KEY = 'dx_threads'
const CONFIG = { simulator: { history_h: 0.05 }, intervals: { checkpoint_ms: 500 } }

let up: UpProcess | undefined
let dataDir: string
beforeEach(() => {
  dataDir = join(scratchFolder(), 'data')
})
afterEach(async () => void (await up?.kill()))
afterAll(removeScratchFolders)

/** Runs in every thread: on SIGUSR2 the named one fails as if by a fault of its own. */
const failing = (thread: string, how: string) => {
  const program = `
    import { BroadcastChannel, isMainThread, workerData } from 'node:worker_threads'
    const name = isMainThread ? 'main' : workerData.source ? 'ingest' : workerData.pushed ? 'rest' : workerData.config ? 'fold' : 'engine'
    const channel = new BroadcastChannel('fail')
    channel.unref()
    if (isMainThread) process.on('SIGUSR2', () => channel.postMessage('now'))
    else if (name === '${thread}') channel.onmessage = () => { ${how} }`
  return `--import=data:text/javascript,${encodeURIComponent(program)}`
}

type Thread = { thread: string; restarts: number; running: boolean; last_end: string | null }

const THROWS = 'setImmediate(() => { throw new Error("unforeseen") })'
const OUT_OF_MEMORY = 'const held = []; for (;;) held.push(Array(1e6).fill(0.5))'

const FAILURES: [thread: string, how: string, reason: string][] = [
  ['rest', THROWS, 'unforeseen'],
  ['fold', THROWS, 'unforeseen'],
]
if (isLongRun()) FAILURES.push(['ingest', OUT_OF_MEMORY, 'memory'])

test.each(FAILURES)('%s is started again after a failure', async (thread, how, reason) => {
  const options = `--max-old-space-size=400 ${failing(thread, how)}`
  const started = startUp({ dataDir, config: CONFIG, env: { DEXTAPE_API_KEY: KEY, NODE_OPTIONS: options } })
  up = started
  const { rest, ws } = await started.serving
  const report = async () => (await (await fetch(`${rest}/status`)).json()) as { threads: Thread[] }
  expect((await report()).threads).toEqual(
    ['ingest', 'fold', 'rest'].map((name) => ({ thread: name, restarts: 0, running: true, last_end: null })),
  )
  const client = await connect(ws, { 'x-api-key': KEY })
  process.kill(started.pid, 'SIGUSR2')
  await started.until('the thread to be back', async () => {
    const { threads } = await report().catch(() => ({ threads: [] }))
    const found = threads.find((one) => one.thread === thread)
    return found?.restarts === 1 && found.running && found.last_end?.includes(reason) === true
  })
  // Every chain goes on, and the socket that was open before still gets pushes.
  const before = await started.status()
  await started.until('each chain to advance', async () =>
    [...(await started.status())].every(([chain, { seq }]) => seq > (before.get(chain)?.seq ?? 0)),
  )
  expect(
    await client.call('subscribe', ['price', ['0x38ab63817596a03eb2c8f84cca610205af454970-eth']], 1),
  ).toMatchObject({
    result: { status: 'ok' },
  })
  client.close()
  for (const { gaps, stopped } of (await started.status()).values())
    expect({ gaps, stopped }).toEqual({ gaps: 0, stopped: null })
  expect((await started.stop()).code).toBe(0)
  if (thread === 'fold') {
    const { code, err } = await runCommand(['verify', '--data-dir', dataDir], {
      ...{ cwd: dirname(dataDir), env: storeEnvironmentOf(dataDir) },
    })
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  }
})

if (isLongRun())
  test('the watchdog ends a process whose engine stands still', async () => {
    const env = { DEXTAPE_API_KEY: KEY, NODE_OPTIONS: failing('engine', 'for (;;);'), DEXTAPE_WATCHDOG_S: '5' }
    const started = startUp({ dataDir, config: CONFIG, env })
    up = started
    await started.serving
    process.kill(started.pid, 'SIGUSR2')
    const err = expect.stringContaining('thread "engine" has not run for 5 s')
    expect(await started.ended).toMatchObject({ signal: 'SIGKILL', err })
  })

/**
 * A thread of `up` that ends unexpectedly is started again and named in /status, while the others go on and nothing is lost.
 * @shared-process Only a program that `up` loads listens to signals.
 */
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isLongRun } from '../rig/counts.js'
import { storeEnvironmentOf } from '../rig/engine.js'
import { removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { startUp, type UpProcess } from '../rig/up/process.js'
import { type Client, connect } from '../serve/push-client.js'

const KEY = 'dx_threads'
/** Few swaps: what counts is that each chain advances. */
const CONFIG = { simulator: { history_h: 0.05, swaps_per_s: 2 }, intervals: { checkpoint_ms: 500 } }

let up: UpProcess
let client: Client
let dataDir: string
const started: UpProcess[] = []
afterAll(async () => {
  for (const one of started) await one.kill()
  removeScratchFolders()
})

function start(env: Record<string, string>): UpProcess {
  dataDir = join(scratchFolder(), 'data')
  const one = startUp({ dataDir, config: CONFIG, env: { DEXTAPE_API_KEY: KEY, ...env } })
  started.push(one)
  return one
}

/** Runs in every thread: at each SIGUSR2 the next of those named fails as if by a fault of its own. */
const failing = (failures: readonly (readonly [thread: string, how: string, ...unknown[]])[]) => {
  const program = `
    import { BroadcastChannel, isMainThread, workerData } from 'node:worker_threads'
    const name = isMainThread ? 'main' : workerData.source ? 'ingest' : workerData.pushed ? 'rest' : workerData.config ? 'fold' : 'engine'
    const channel = new BroadcastChannel('fail')
    channel.unref()
    const next = ${JSON.stringify(failures.map(([thread]) => thread))}
    if (isMainThread) process.on('SIGUSR2', () => channel.postMessage(next.shift()))
    ${failures.map(([thread, how]) => `else if (name === '${thread}') channel.onmessage = ({ data }) => { if (data === name) { ${how} } }`).join('\n')}`
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

async function threadsOf({ serving }: UpProcess): Promise<Thread[]> {
  const { rest } = await serving
  return ((await (await fetch(`${rest}/status`)).json()) as { threads: Thread[] }).threads
}

beforeAll(async () => {
  up = start({ NODE_OPTIONS: `--max-old-space-size=400 ${failing(FAILURES)}` })
  const { ws } = await up.serving
  expect(await threadsOf(up)).toEqual(
    ['ingest', 'fold', 'rest'].map((name) => ({ thread: name, restarts: 0, running: true, last_end: null })),
  )
  client = await connect(ws, { 'x-api-key': KEY })
})

// One process: a thread that fails meets others that were started again.
test.each(FAILURES)('%s is started again after a failure', async (thread, _how, reason) => {
  process.kill(up.pid, 'SIGUSR2')
  await up.until('the thread to be back', async () => {
    const threads = await threadsOf(up).catch(() => [])
    const found = threads.find((one) => one.thread === thread)
    return found?.restarts === 1 && found.running && found.last_end?.includes(reason) === true
  })
  // Every chain goes on, and the socket that was open before still gets pushes.
  const before = await up.status()
  await up.until('each chain to advance', async () =>
    [...(await up.status())].every(([chain, { seq }]) => seq > (before.get(chain)?.seq ?? 0)),
  )
  expect(
    await client.call('subscribe', ['price', ['0x38ab63817596a03eb2c8f84cca610205af454970-eth']], 1),
  ).toMatchObject({
    result: { status: 'ok' },
  })
  for (const { gaps, stopped } of (await up.status()).values())
    expect({ gaps, stopped }).toEqual({ gaps: 0, stopped: null })
})

test('after all of it, what is stored is what the log gives', async () => {
  client.close()
  expect((await up.stop()).code).toBe(0)
  const { code, err } = await runCommand(['verify', '--data-dir', dataDir], {
    ...{ cwd: dirname(dataDir), env: storeEnvironmentOf(dataDir) },
  })
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
})

if (isLongRun())
  test('the watchdog ends a process whose engine stands still', async () => {
    const stuck = start({ NODE_OPTIONS: failing([['engine', 'for (;;);']]), DEXTAPE_WATCHDOG_S: '5' })
    await stuck.serving
    process.kill(stuck.pid, 'SIGUSR2')
    const err = expect.stringContaining('thread "engine" has not run for 5 s')
    expect(await stuck.ended).toMatchObject({ signal: 'SIGKILL', err })
  })

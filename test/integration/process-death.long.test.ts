/**
 * A process with a fatal error must exit: if it hangs, it keeps its ports and no supervisor restarts it.
 * @shared-process Only a program that `up` loads listens to signals.
 */
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { generateRecording } from '../rig/market/generate.js'
import { steadyPort } from '../rig/servers/steady-port.js'
import { startUp, type UpProcess } from '../rig/up/process.js'

let up: UpProcess | undefined
let folder: string
beforeEach(() => {
  folder = scratchFolder()
})
afterEach(async () => void (await up?.kill()))
afterAll(removeScratchFolders)

async function start(nodeOptions: string) {
  const events = writeRecording(folder, 'some.jsonl', generateRecording({ seed: 5, chain: 'eth', blocks: 20 }))
  // Fixed ports: those chosen by the system are bound without SO_REUSEADDR and stay in use after the exit.
  const config = { http_port: await steadyPort(), ws_port: await steadyPort() }
  up = startUp({
    dataDir: join(folder, 'data'),
    events,
    config,
    env: { NODE_OPTIONS: nodeOptions, DEXTAPE_WATCHDOG_S: '5' },
  })
  const served = await up.serving
  await up.until('a chain', async () => (await fetch(`${served.rest}/ready`)).status === 200)
  return { up, ...served }
}

/** Listens on the port of the process, which fails while the port is in use. */
async function expectFree(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject)
    probe.listen({ host: hostname, port: Number(port) }, resolve)
  })
  probe.close()
}

/** Without using the CPU, which the other tests need. */
const STANDS_STILL = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)),0,0)'
/** The same way through the process as an uncaught error: only a long run takes both. */
const REJECTED = ['an unhandled rejection', 'Promise.reject(new RangeError("unforeseen"))', 'SIGKILL', 'unforeseen']

const PRELOADED = (program: string) => `--import=data:text/javascript,${encodeURIComponent(program)}`

test.each([
  ['out of memory', 'const held=[];for(;;)held.push(Array(1e6).fill(0.5))', 'SIGABRT', 'heap out of memory'],
  ['an event loop that stands still', STANDS_STILL, 'SIGKILL', 'thread "main" has not run for 5 s'],
  ['an uncaught error', 'throw new Error("unforeseen")', 'SIGKILL', 'unforeseen'],
  REJECTED,
])(
  '%s: exits and frees its ports',
  async (_name, failure, signal, message) => {
    const preload = PRELOADED(`process.on("SIGUSR2",()=>{${failure}})`)
    const { up, rest, ws } = await start(`--max-old-space-size=200 ${preload}`)
    process.kill(up.pid, 'SIGUSR2')
    expect(await up.ended).toMatchObject({ signal, err: expect.stringContaining(message) })
    await expectFree(rest)
    await expectFree(ws)
  },
  120_000,
)

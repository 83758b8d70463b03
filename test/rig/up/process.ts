/** Runs the real `dextape up` as a separate process on free ports, observed through /status and /metrics. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { enginePathOf } from '../../../services/core/store/local-store.js'
import type { ChainStatus, StatusReport } from '../../../services/serve/status-report.js'
import { storeEnvironmentOf } from '../engine.js'
import { DEXTAPE, NODE_FLAGS, USER_ENVIRONMENT, USER_FLAGS } from '../http/command.js'
import { copyMigratedStore } from '../migrated-store.js'

/** Each question costs the process some 5 ms of CPU. */
const POLL_MS = 150
/** Generous, so that a busy machine does not fail a test. */
const GIVE_UP_MS = 300_000

export type UpOptions = {
  dataDir: string
  events?: string
  speed?: string
  /** Keys of the configuration file; host and ports have defaults here. */
  config?: Record<string, unknown>
  env?: Record<string, string>
  args?: readonly string[]
  /** With V8's and glibc's settings as a user has them, for measurements. */
  asUser?: boolean
  /** Runs instead of the checkout's command, in the folder of the data directory. */
  command?: readonly [string, ...string[]]
}

export type Ended = { code: number | null; signal: NodeJS.Signals | null; out: string; err: string }

export type Addresses = { rest: string; ws: string; key: string | undefined }

export type UpProcess = {
  readonly pid: number
  /** Resolves once it serves; rejects with its output if it exits before. */
  readonly serving: Promise<Addresses>
  readonly ended: Promise<Ended>
  status(): Promise<Map<string, ChainStatus>>
  /** By name with labels, as `dextape_fold_seq{chain="eth"}`. */
  metrics(): Promise<Map<string, number>>
  /** Polls until the check passes; rejects when the process exits, or on timeout with the last status. */
  until(what: string, check: () => Promise<boolean>): Promise<void>
  /** Sends SIGTERM; resolves with the time the process took to exit. */
  stop(): Promise<Ended & { tookMs: number }>
  /** Sends SIGKILL; resolves once the process has exited. */
  kill(): Promise<Ended>
}

export function startUp(options: UpOptions): UpProcess {
  // Without a recording or in another program, the start itself is what is tested.
  if (options.events !== undefined && options.command === undefined) copyMigratedStore(enginePathOf(options.dataDir))
  const flags = options.asUser === true ? USER_FLAGS : ['--max-semi-space-size=32', ...NODE_FLAGS]
  const [program, ...before] = options.command ?? [process.execPath, ...flags, DEXTAPE]
  const child = spawn(program, [...before, 'up', ...argumentsOf(options)], {
    cwd: dirname(options.dataDir),
    env: {
      PATH: process.env.PATH,
      // The push suites run a second time with ws (vitest.config.ts).
      DEXTAPE_PUSH_SERVER: process.env.DEXTAPE_PUSH_SERVER,
      ...(options.asUser === true ? USER_ENVIRONMENT : {}),
      ...storeEnvironmentOf(options.dataDir),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // npx does not forward signals, so they are sent to its process group.
    detached: options.command !== undefined,
  })
  const ended = endOf(child)
  const serving = addressesOf(child, ended)
  // Callers that await it still see the rejection; a process killed during startup must not fail the test.
  serving.catch(() => {})

  async function get(path: string): Promise<Response> {
    const { rest } = await serving
    return fetch(`${rest}${path}`)
  }

  async function until(what: string, check: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + GIVE_UP_MS
    await serving
    while (!(await check())) {
      if (hasEnded(child)) throw new Error(`up ended before ${what}\n${(await ended).err}`)
      if (Date.now() > deadline) throw new Error(`up did not reach ${what}: ${await (await get('/status')).text()}`)
      await sleep(POLL_MS)
    }
  }

  async function signal(name: NodeJS.Signals): Promise<Ended> {
    if (!hasEnded(child) && options.command !== undefined) process.kill(-(child.pid ?? 0), name)
    else if (!hasEnded(child)) child.kill(name)
    return ended
  }

  return {
    pid: child.pid ?? 0,
    serving,
    ended,
    async status() {
      const { chains } = (await (await get('/status')).json()) as StatusReport
      return new Map(chains.map((status) => [status.chain, status]))
    },
    async metrics() {
      return parseMetrics(await (await get('/metrics')).text())
    },
    until,
    async stop() {
      const asked = performance.now()
      const end = await signal('SIGTERM')
      return { ...end, tookMs: performance.now() - asked }
    },
    kill: () => signal('SIGKILL'),
  }
}

function argumentsOf({ dataDir, events, speed, config, args = [] }: UpOptions): string[] {
  mkdirSync(dirname(dataDir), { recursive: true })
  const file = `${dataDir}.config.json`
  writeFileSync(file, JSON.stringify({ host: '127.0.0.1', http_port: 0, ws_port: 0, ...config }))
  return [
    ...['--config', file, '--data-dir', dataDir],
    ...(events === undefined ? [] : ['--events', events]),
    ...(speed === undefined ? [] : ['--speed', speed]),
    ...args,
  ]
}

function endOf(child: ChildProcess): Promise<Ended> {
  let [out, err] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, out, err }))
  })
}

/** The greeting is printed once everything is up and names the chosen ports. */
function addressesOf(child: ChildProcess, ended: Promise<Ended>): Promise<Addresses> {
  return new Promise((resolve, reject) => {
    let out = ''
    child.stdout?.on('data', (text: string) => {
      out += text
      const [, rest] = /REST\s+(\S+)/.exec(out) ?? []
      const [, ws] = /WebSocket\s+(\S+)/.exec(out) ?? []
      if (rest === undefined || ws === undefined || !/status\s+curl/.test(out)) return
      resolve({ rest, ws, key: /key\s+(dx_\S+)/.exec(out)?.[1] })
    })
    ended.then(
      ({ code, signal, err }) => reject(new Error(`up ended (${code ?? signal}) before it served\n${err}`)),
      reject,
    )
  })
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function parseMetrics(text: string): Map<string, number> {
  const values = new Map<string, number>()
  for (const line of text.split('\n')) {
    const at = line.lastIndexOf(' ')
    if (at > 0 && !line.startsWith('#')) values.set(line.slice(0, at), Number(line.slice(at + 1)))
  }
  return values
}

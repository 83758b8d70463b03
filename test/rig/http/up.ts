/** A running `dextape up` with helpers to query it. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainFacts } from '../../../services/core/domain/chains.js'
import { flushServed } from '../../../services/core/store/engine-socket.js'
import { enginePathOf, socketPathOf } from '../../../services/core/store/local-store.js'
import type { StatusReport } from '../../../services/serve/status-report.js'
import { storeEnvironmentOf } from '../engine.js'
import { moneySections } from '../market/money.js'
import { samplesOf } from '../metrics-samples.js'
import { copyMigratedStore } from '../migrated-store.js'
import { type Ended, startCommand } from './command.js'

export const KEY = 'dx_integration'
/** Generous, so that a busy machine does not fail a test. */
const GIVE_UP_MS = 300_000
/** Each question costs the process some 5 ms of CPU. */
const POLL_MS = 150

export type UpPlan = {
  /** Holds the data directory and the configuration. */
  folder: string
  events?: string
  speed?: string
  /** Money of the recording's chains, written to the configuration file. */
  chains?: readonly ChainFacts[]
  /** Extra top-level keys of the configuration file. */
  settings?: Record<string, unknown>
  /** Extra keys of the chains' sections. */
  sections?: Record<string, object>
  /** A program to run instead of the command, with its arguments for `up`. */
  program?: { file: string; args: readonly string[] }
  /** See `CommandOptions`. */
  asUser?: boolean
}

export type ChainStatus = StatusReport['chains'][number]

export type Answer = { status: number; headers: Headers; body: unknown }

export type Up = {
  pid: number
  dataDir: string
  /** Output once it was up. */
  greeting: string
  restUrl: string
  wsUrl: string
  get(path: string): Promise<Answer>
  post(path: string, body: unknown): Promise<Answer>
  metrics(): Promise<Map<string, number>>
  status(): Promise<ChainStatus[]>
  /** Waits until the chain's status matches. */
  until(chain: string, what: string, fits: (status: ChainStatus) => boolean): Promise<ChainStatus>
  /** Waits until this many lines of the chain are served: each block and each retract has one seq. */
  applied(chain: string, lines: number): Promise<ChainStatus>
  /** Like `applied`, and waits until the rows are in the store. */
  stored(chain: string, lines: number): Promise<void>
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

export const dataDirOf = (folder: string): string => join(folder, 'data')

/** Writes the files for a start and returns its environment, which other commands share. */
export function environmentOf({
  folder,
  chains = [],
  settings = {},
  sections: more = {},
}: UpPlan): Record<string, string> {
  const config = join(folder, 'dextape.json')
  const money = Object.entries(moneySections(chains))
  const sections = money.map(([chain, facts]) => [chain, { ...facts, ...more[chain] }])
  const content = { host: '127.0.0.1', ...settings, chains: Object.fromEntries(sections) }
  writeFileSync(config, JSON.stringify(content))
  return {
    ...storeEnvironmentOf(dataDirOf(folder)),
    DEXTAPE_CONFIG: config,
    DEXTAPE_DATA_DIR: dataDirOf(folder),
    DEXTAPE_HTTP_PORT: '0',
    DEXTAPE_WS_PORT: '0',
    DEXTAPE_API_KEY: KEY,
  }
}

export async function startUp(plan: UpPlan): Promise<Up> {
  const { folder, events, speed, program, asUser = false } = plan
  // Without a recording, the start itself is what is tested.
  if (events !== undefined) copyMigratedStore(enginePathOf(dataDirOf(folder)))
  const args = [...(program?.args ?? ['up']), ...(events === undefined ? [] : ['--events', events])]
  const started = startCommand([...args, ...(speed === undefined ? [] : ['--speed', speed])], {
    cwd: folder,
    env: environmentOf(plan),
    asUser,
    ...(program === undefined ? {} : { program: program.file }),
  })
  const { child, ended, onOutput } = started
  const greeted = new Promise<string>((resolve) => onOutput((out) => out.includes('/status') && resolve(out)))
  const greeting = await Promise.race([greeted, ended])
  if (typeof greeting !== 'string') throw new Error(`dextape up ended: ${JSON.stringify(greeting)}`)
  const rest = /REST +(\S+)/.exec(greeting)?.[1] ?? ''
  const wsUrl = /WebSocket +(\S+)/.exec(greeting)?.[1] ?? ''
  let end: Ended | undefined
  void ended.then((value) => {
    end = value
  })

  async function ask(path: string, init: RequestInit): Promise<Answer> {
    const response = await fetch(`${rest}${path}`, init)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  }
  const get = (path: string): Promise<Answer> => ask(path, { headers: { 'x-api-key': KEY } })
  const status = async (): Promise<ChainStatus[]> => ((await get('/status')).body as StatusReport).chains

  async function until(chain: string, what: string, fits: (status: ChainStatus) => boolean): Promise<ChainStatus> {
    const deadline = Date.now() + GIVE_UP_MS
    for (;;) {
      const chains = end === undefined ? await status() : []
      const found = chains.find((one) => one.chain === chain)
      if (found !== undefined && fits(found)) return found
      if (end !== undefined) throw new Error(`up ended before ${chain} ${what}: ${JSON.stringify(end)}`)
      if (Date.now() > deadline) throw new Error(`${chain} never ${what}: ${JSON.stringify(chains)}`)
      await sleep(POLL_MS)
    }
  }

  const metrics = async (): Promise<Map<string, number>> => samplesOf(String((await get('/metrics')).body))

  async function stored(chain: string, lines: number): Promise<void> {
    await until(chain, `applied ${lines} lines`, ({ seq }) => seq === lines)
    const deadline = Date.now() + GIVE_UP_MS
    // A batch would wait for half a minute.
    await flushServed(socketPathOf(dataDirOf(folder)))
    while ((await metrics()).get(`dextape_store_seq{chain="${chain}"}`) !== lines) {
      if (Date.now() > deadline) throw new Error(`the store never had ${lines} lines of ${chain}`)
      await sleep(POLL_MS)
    }
  }

  return {
    pid: child.pid ?? 0,
    dataDir: dataDirOf(folder),
    greeting,
    restUrl: rest,
    wsUrl,
    get,
    post: (path, body) =>
      ask(path, {
        method: 'POST',
        headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    metrics,
    status,
    until,
    applied: (chain, lines) => until(chain, `applied ${lines} lines`, ({ seq }) => seq === lines),
    stored,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
}

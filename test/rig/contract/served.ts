/** A real process that serves the contract market, with helpers to query it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { runHere } from '../http/command-here.js'
import { scratchFolder, untilSeqs } from '../up/play.js'
import { type Ended, startUp, type UpProcess } from '../up/process.js'
import { seqsOf, writeTape } from '../up/recording.js'
import type { ContractMarket } from './market.js'

export const KEY = 'dx_contract_secret_key'

export type Asked = {
  method?: string
  path: string
  query?: Record<string, string | number | undefined>
  body?: unknown
  headers?: Record<string, string>
}

export type Reply = { status: number; headers: Headers; body: unknown; text: string }

export type Served = {
  up: UpProcess
  rest: string
  ws: string
  expiredKey: string
  /** Sends the valid key unless the headers have another. */
  ask(asked: Asked): Promise<Reply>
  /** Waits until every line of the recording is folded and served. */
  played(): Promise<void>
  stop(): Promise<Ended>
}

export type ServedPlan = { market: ContractMarket; speed?: string; config?: Record<string, unknown> }

/** Retention is long enough that nothing expires during a test. */
const CONFIG = {
  intervals: { flush_ms: 1000, checkpoint_ms: 2000 },
  retention: { updates_h: 1_000_000, s1_candles_d: 100_000 },
}

export async function serveMarket({ market, speed = 'max', config = {} }: ServedPlan): Promise<Served> {
  const folder = scratchFolder()
  const dataDir = join(folder, 'data')
  const events = writeTape(join(folder, 'tape.jsonl'), market.lines)
  const up = startUp({ dataDir, events, speed, config: { ...CONFIG, ...config }, env: { DEXTAPE_API_KEY: KEY } })
  const { rest, ws } = await up.serving
  return {
    ...{ up, rest, ws, expiredKey: await expiredKey(dataDir) },
    ask: (asked) => ask(rest, asked),
    played: () => untilSeqs(up, seqsOf(market.lines)),
    async stop() {
      const ended = await up.stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
      return ended
    },
  }
}

async function expiredKey(dataDir: string): Promise<string> {
  const args = ['keys', 'create', '--name', 'old', '--expires', '2020-01-01', '--data-dir', dataDir]
  const { code, out, err } = await runHere(args, { cwd: dataDir })
  if (code !== 0) throw new Error(`no expired key could be made: ${err}`)
  return out.trim()
}

async function ask(rest: string, { method = 'GET', path, query = {}, body, headers = {} }: Asked): Promise<Reply> {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  const response = await fetch(`${rest}${path}${search}`, {
    method,
    headers: { 'x-api-key': KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text }
}

/** How a serving node answers while the log or the store is unavailable, and after it recovers. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../../services/core/domain/errors.js'
import type { EventLog } from '../../services/core/log/port.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import { createHealth } from '../../services/core/runtime/part-health.js'
import { openStore } from '../../services/core/store/clickhouse-store.js'
import type { Serve } from '../../services/serve/main.js'
import { type ClickHouse, startClickHouse } from '../rig/clickhouse/server.js'
import { steadyPort } from '../rig/servers/steady-port.js'
import { KEY, type Rig, startRig } from './rig.js'
import { firstUpdate, PAIR, update } from './updates.js'

let clickhouse: ClickHouse
let rig: Rig
const started: Serve[] = []
const health = createHealth({ parts: ['log', 'store'], logger: silentLogger })

beforeAll(async () => {
  clickhouse = await startClickHouse()
  const store = await openStore({ kind: 'server', url: clickhouse.url }, health.reachabilityOf('store'))
  rig = await startRig({ store, health, processName: 'serve one', prepare: async () => void (await store.migrate()) })
})
afterEach(async () => {
  for (const serve of started.splice(0)) await serve.stop()
})
afterAll(async () => {
  await rig.stop()
  await clickhouse.stop()
})

/** A node on a port that is known before it starts. */
async function node(more: Parameters<Rig['open']>[0] = {}) {
  const httpPort = await steadyPort()
  const serve = rig.open({ ...more, config: { ...rig.config, httpPort } })
  started.push(serve)
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${httpPort}${path}`, { headers, signal: AbortSignal.timeout(5000) })
  const answers = async (path: string) => (await get(path).catch(() => undefined))?.status
  return { serve, get, answers, ask: (path: string) => get(path, { 'x-api-key': KEY }) }
}

const soon = <T>(look: () => T | Promise<T>) => expect.poll(look, { timeout: 30_000 })

type Status = { away: Record<string, unknown>[]; chains: { chain: string; seq: number }[] }
const statusOf = async (get: (path: string) => Promise<Response>) => (await (await get('/status')).json()) as Status

const KLINES = `/v2/klines/pair/${PAIR}-eth?interval=1`
const STORE_AWAY = {
  ...{ part: 'store', where: 'serve one', since: expect.any(Number) },
  reason: 'The store is unreachable (ECONNREFUSED)',
}

describe('store unavailable at startup', () => {
  it('stays alive but not ready, reports the outage, and serves once the store is up', async () => {
    await clickhouse.kill()
    await rig.append(firstUpdate())
    const { serve, get, answers, ask } = await node()
    const starting = serve.start()
    await soon(() => answers('/health')).toBe(200)
    await soon(async () => (await statusOf(get)).away).toEqual([STORE_AWAY])
    expect(await answers('/ready')).toBe(503)
    expect(await (await get('/metrics')).text()).toMatch(/dextape_part_away\{part="log"\} 0\n.*\{part="store"\} 1\n/)
    const answer = await ask(`/v2/pairs/${PAIR}-eth`)
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
      503,
      '2',
      {
        ...{ type: 'urn:dextape:problem:starting', title: 'Service unavailable', status: 503, code: 'starting' },
        detail: 'The server is starting and still loading its data. Retry in 2 s.',
        msg: 'The server is starting and still loading its data. Retry in 2 s.',
        message: 'The server is starting and still loading its data. Retry in 2 s.',
      },
    ])
    await clickhouse.restart()
    await starting
    await soon(() => answers('/ready')).toBe(200)
    expect((await statusOf(get)).away).toEqual([])
    expect((await ask(`/v2/pairs/${PAIR}-eth`)).status).toBe(200)
    expect((await ask(KLINES)).status).toBe(200)
  })

  it('stops without waiting for the store', async () => {
    await clickhouse.kill()
    const { serve, answers } = await node()
    const starting = serve.start()
    await soon(() => answers('/health')).toBe(200)
    await serve.stop()
    await starting
    await clickhouse.restart()
  })

  it('fails to start with the reason when the store rejects the configuration', async () => {
    const refused = new ConfigError({ code: 'store_refused', what: 'The store denied access' })
    const { serve, answers } = await node({ prepare: () => Promise.reject(refused) })
    await expect(serve.start()).rejects.toBe(refused)
    expect(await answers('/health')).toBeUndefined()
  })
})

describe('store lost while serving', () => {
  it('answers 503 to history requests only, until the store recovers', async () => {
    const { serve, get, answers, ask } = await node()
    await serve.start()
    await soon(() => answers('/ready')).toBe(200)
    await clickhouse.kill()
    await soon(async () => (await statusOf(get)).away).toEqual([STORE_AWAY])

    const history = await ask(KLINES)
    expect([history.status, history.headers.get('retry-after'), await history.json()]).toEqual([
      503,
      '2',
      {
        ...{ type: 'urn:dextape:problem:store_away', title: 'Service unavailable', status: 503, code: 'store_away' },
        detail: 'The store is unavailable. Retry in 2 s.',
        msg: 'The store is unavailable. Retry in 2 s.',
        message: 'The store is unavailable. Retry in 2 s.',
      },
    ])
    await rig.append(update({ seq: 2, number: 102 }), { ...firstUpdate(), chain: 'bsc' })
    await soon(async () => (await statusOf(get)).chains.find(({ chain }) => chain === 'eth')?.seq).toBe(2)
    expect((await ask(`/v2/pairs/${PAIR}-eth`)).status).toBe(200)
    expect([await answers('/health'), await answers('/ready'), await answers('/metrics')]).toEqual([200, 200, 200])

    await clickhouse.restart()
    await soon(async () => (await statusOf(get)).away).toEqual([])
    expect((await ask(KLINES)).status).toBe(200)
    // A chain first seen during the outage is loaded once the store is back.
    await expect
      .poll(async () => (await statusOf(get)).chains.map(({ chain, seq }) => [chain, seq]))
      .toEqual([
        ['bsc', 1],
        ['eth', 2],
      ])
  })
})

describe('store hangs', () => {
  it('reports the store as unavailable when a query times out', async () => {
    const store = await openStore({ kind: 'server', url: clickhouse.url }, { limits: { maxSeconds: 0.1 } })
    await clickhouse.pause()
    await expect(store.query('SELECT 1')).rejects.toMatchObject({ code: 'store_away', retry: true })
    await clickhouse.resume()
    await store.close()
  })
})

describe('log does not respond', () => {
  const never = () => new Promise<never>(() => {})

  it('keeps serving the last known /status', async () => {
    let isAway = false
    const log: EventLog = { ...rig.log, topics: () => (isAway ? never() : rig.log.topics()) }
    const { serve, get, answers } = await node({ log })
    await rig.log.append('dex.dead.eth', [{ key: '', value: Buffer.from('x'), timestampMs: 0 }])
    await serve.start()
    await soon(() => answers('/ready')).toBe(200)
    isAway = true
    const { chains } = await statusOf(get)
    expect(chains.find(({ chain }) => chain === 'eth')).toMatchObject({ seq: 2, dead_letters: 1 })
    expect(await answers('/metrics')).toBe(200)
  })

  it('waits for the log at startup, and stops without it', async () => {
    const { serve, answers } = await node({ log: { ...rig.log, topics: never } })
    const stop = new AbortController()
    const starting = serve.start(stop.signal)
    await soon(() => answers('/health')).toBe(200)
    expect(await answers('/ready')).toBe(503)
    stop.abort()
    await starting
  })
})

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../services/core/runtime/logger.js'
import { createMetrics } from '../../../services/core/runtime/metrics.js'
import { createOpsServer, type OpsServer } from '../../../services/core/runtime/ops-server.js'

let server: OpsServer
let port: number
let ready: boolean
let status: () => unknown

const open = () => {
  const metrics = createMetrics({ processMetrics: false })
  metrics.gauge({ name: 'dextape_test', help: 'x' }, () => [{ value: 7 }])
  return createOpsServer({ isReady: () => ready, status: () => status(), metrics, logger: silentLogger })
}

beforeEach(async () => {
  ready = false
  status = () => ({ chains: [], away: [] })
  server = open()
  port = await server.listen('127.0.0.1', 0)
})
afterEach(() => server.close())

const ask = async (path: string, method = 'GET', body?: string) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...(body === undefined ? {} : { body }) })
  return { status: answer.status, type: answer.headers.get('content-type'), headers: answer.headers, answer }
}

describe('the ops endpoint of a process without an API', () => {
  it('reports whether the process is alive and ready', async () => {
    const health = await ask('/health?probe=1')
    expect([health.status, health.type, await health.answer.json()]).toEqual([
      200,
      'application/json; charset=utf-8',
      { status: 'ok' },
    ])
    const waiting = await ask('/ready')
    expect([waiting.status, waiting.headers.get('retry-after'), await waiting.answer.json()]).toEqual([
      503,
      '1',
      { status: 'not_ready' },
    ])
    ready = true
    expect((await ask('/ready', 'HEAD')).status).toBe(200)
  })

  it('serves status and metrics', async () => {
    expect(await (await ask('/status')).answer.json()).toEqual({ chains: [], away: [] })
    const metrics = await ask('/metrics')
    expect([metrics.type, await metrics.answer.text()]).toEqual([
      'text/plain; version=0.0.4; charset=utf-8',
      '# HELP dextape_test x\n# TYPE dextape_test gauge\ndextape_test 7\n',
    ])
  })

  it('rejects everything else in the API’s error format, without reading the body', async () => {
    const unknown = await ask('/v2/tokens')
    expect([unknown.status, unknown.type, await unknown.answer.json()]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
      {
        ...{ type: 'urn:dextape:problem:route_unknown', title: 'Not found', status: 404, code: 'route_unknown' },
        detail: 'Unknown path /v2/tokens. This server has /health, /ready, /status, /metrics.',
        msg: 'Unknown path /v2/tokens. This server has /health, /ready, /status, /metrics.',
        message: 'Unknown path /v2/tokens. This server has /health, /ready, /status, /metrics.',
      },
    ])
    const posted = await ask('/status', 'POST', 'x'.repeat(3_000_000))
    expect([posted.status, posted.headers.get('allow'), await posted.answer.json()]).toMatchObject([
      405,
      'GET, HEAD',
      { code: 'method_not_allowed' },
    ])
  })

  it('does not expose internal errors', async () => {
    status = () => {
      throw new Error('secret')
    }
    const failed = await ask('/status')
    const text = await failed.answer.text()
    expect([failed.status, text.includes('secret')]).toEqual([500, false])
    expect((await ask('/health')).status).toBe(200)
  })

  it('reports which port is in use and how to choose another', async () => {
    await expect(open().listen('127.0.0.1', port)).rejects.toMatchObject({
      ...{ name: 'ConfigError', code: 'port_in_use' },
      message: expect.stringContaining('choose another port with DEXTAPE_HTTP_PORT'),
    })
  })
})

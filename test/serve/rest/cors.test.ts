/** Calls from pages of other origins. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServeConfig } from '../../../services/serve/serve-deps.js'
import { KEY, type Rig, startRig } from '../rig.js'
import { firstUpdate, PAIR, update } from '../updates.js'

const APP = 'https://app.example'
const PATH = `/v2/klines/pair/${PAIR}-eth?interval=1`
const PREFLIGHT = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-api-key' }

let rig: Rig
beforeAll(async () => {
  rig = await startRig()
  await rig.append(firstUpdate())
  await rig.start()
  await rig.feed(update({ seq: 2 }))
}, 60_000)
afterAll(() => rig.stop())

/** Sends a request to a node with these origins. */
async function ask(
  corsOrigins: ServeConfig['corsOrigins'],
  method: string,
  headers: Record<string, string>,
  path = PATH,
) {
  const serve = rig.open({ config: { ...rig.config, ...(corsOrigins && { corsOrigins }) } })
  try {
    const { httpPort } = await serve.start()
    const answer = await fetch(`http://127.0.0.1:${httpPort}${path}`, { method, headers })
    const cors = [...answer.headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary')
    return { status: answer.status, headers: Object.fromEntries(cors), body: await answer.text() }
  } finally {
    await serve.stop()
  }
}

const EXPOSED =
  'ETag, Retry-After, RateLimit, RateLimit-Policy, X-As-Of, X-CU-Cost, X-CU-Remaining, X-Reason, X-Next-Cursor'
const ALLOWED = {
  'access-control-allow-methods': 'GET, HEAD, POST',
  'access-control-allow-headers': 'X-API-KEY, X-Envelope, Content-Type, If-None-Match',
  'access-control-max-age': '7200',
}

describe('by default', () => {
  it('a preflight needs no key', async () => {
    const { status, headers } = await ask(undefined, 'OPTIONS', { origin: APP, ...PREFLIGHT })
    expect({ status, headers }).toEqual({
      status: 204,
      headers: { 'access-control-allow-origin': '*', ...ALLOWED },
    })
  })

  it('a page of any origin can read answers and errors, with their headers', async () => {
    const readable = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED }
    const answer = await ask(undefined, 'GET', { origin: APP, 'x-api-key': KEY })
    expect([answer.status, answer.headers]).toEqual([200, readable])
    const refused = await ask(undefined, 'GET', { origin: APP })
    expect([refused.status, refused.headers]).toEqual([401, readable])
    const missing = await ask(undefined, 'GET', { origin: APP }, '/v2/nothing')
    expect([missing.status, missing.headers]).toEqual([404, readable])
    const token = await ask(undefined, 'POST', { origin: APP, 'x-api-key': KEY }, '/v2/ws/token')
    expect([token.status, token.headers]).toEqual([200, readable])
  })

  it('other paths and clients without an origin see no difference', async () => {
    expect(await ask(undefined, 'GET', { 'x-api-key': KEY })).toMatchObject({ status: 200, headers: {} })
    expect(await ask(undefined, 'GET', { origin: APP }, '/status')).toMatchObject({ status: 200, headers: {} })
    expect(await ask(undefined, 'OPTIONS', { origin: APP })).toMatchObject({ status: 405 })
  })
})

describe('with a list of origins', () => {
  const list = { kind: 'list', origins: [APP, 'http://localhost:5173'] } as const

  it('only their pages are allowed', async () => {
    const preflight = await ask(list, 'OPTIONS', { origin: APP, ...PREFLIGHT })
    expect([preflight.status, preflight.headers]).toEqual([
      204,
      { vary: 'origin', 'access-control-allow-origin': APP, ...ALLOWED },
    ])
    const answer = await ask(list, 'GET', { origin: APP, 'x-api-key': KEY })
    expect(answer.headers).toMatchObject({ vary: 'origin', 'access-control-allow-origin': APP })
    const long = await ask(list, 'GET', { origin: APP, 'x-api-key': KEY }, `/v2/pairs/${PAIR}-eth`)
    expect(long.headers).toMatchObject({ vary: 'origin, accept-encoding', 'access-control-allow-origin': APP })
  })

  it('another page is refused with the reason', async () => {
    const { status, headers, body } = await ask(list, 'OPTIONS', { origin: 'https://evil.example', ...PREFLIGHT })
    expect([status, headers, JSON.parse(body)]).toMatchObject([
      403,
      { vary: 'origin' },
      {
        code: 'origin_not_allowed',
        detail:
          'Pages of "https://evil.example" may not call this server. Its operator can add the origin to cors_origins.',
      },
    ])
    const answer = await ask(list, 'GET', { origin: 'https://evil.example', 'x-api-key': KEY })
    expect([answer.status, answer.headers]).toEqual([200, { vary: 'origin' }])
  })
})

it('with none, no page of another origin is allowed', async () => {
  const none = { kind: 'none' } as const
  expect(await ask(none, 'OPTIONS', { origin: APP, ...PREFLIGHT })).toMatchObject({ status: 405, headers: {} })
  expect(await ask(none, 'GET', { origin: APP, 'x-api-key': KEY })).toMatchObject({ status: 200, headers: {} })
})

/** Malformed requests: each gets a 4xx with a reason or a regular answer, and the process survives. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OPERATIONS } from '../../services/serve/rest/operations/index.js'
import { contractMarket } from '../rig/contract/market.js'
import { type RawReply, rawRequest, sendRaw } from '../rig/contract/raw-http.js'
import { KEY, type Served, serveMarket } from '../rig/contract/served.js'
import { countOf, seedOf } from '../rig/counts.js'
import { createRandom } from '../rig/market/random.js'

const SEED = seedOf('httpRequests')
const RANDOM_REQUESTS = countOf('httpRequests')

let served: Served
const market = contractMarket({ seed: 811, chains: ['eth'], blocksPerChain: 60, options: { maxTimeBackS: 0 } })
const TOKEN = `${market.token('eth', 'MEME')}-eth`
const PAIR = `${market.pairs('eth')[0]?.pair}-eth`
const JSON_HEADERS = { 'X-API-KEY': KEY, 'Content-Type': 'application/json' }

beforeAll(async () => {
  served = await serveMarket({ market })
  await served.played()
})
afterAll(() => served?.stop())

const send = (line: string, headers: Record<string, string> = { 'X-API-KEY': KEY }, body = '') =>
  sendRaw(served.rest, rawRequest(line, headers, body))

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  send(
    `POST ${path} HTTP/1.1`,
    { ...JSON_HEADERS, 'Content-Length': String(Buffer.byteLength(body)), ...headers },
    body,
  )

/** Every error is problem+json with status, code and reason. */
function expectProblem(reply: RawReply | undefined, statuses: readonly number[]): void {
  expect(statuses, JSON.stringify(reply)).toContain(reply?.status)
  expect(reply?.type).toMatch(/^application\/problem\+json/)
  const problem = JSON.parse(reply?.body ?? '') as Record<string, unknown>
  expect(problem).toMatchObject({ status: reply?.status, code: expect.any(String), msg: problem.detail })
  expect(Object.keys(problem)).toEqual(expect.arrayContaining(['type', 'title', 'detail']))
  expect(reply?.body).not.toContain(KEY)
}

describe('bodies', () => {
  const good = JSON.stringify({ token_ids: [TOKEN] })

  test.each([
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'json',
    '',
  ])('rejects content type %j', async (type) => {
    expectProblem(await post('/v2/tokens/price', good, { 'Content-Type': type }), [400])
  })

  test.each([
    ['cut short', good.slice(0, -2)],
    ['empty', ''],
    ['of spaces', '   '],
    ['given twice', `${good}${good}`],
    ['with a byte order mark', `\ufeff{"token_ids":1}`],
    ['with __proto__', `{"__proto__":{"token_ids":["${TOKEN}"]}}`],
    ['with an extra __proto__', `{"token_ids":["x"],"__proto__":{"x":1}}`],
    ['with constructor.prototype', `{"constructor":{"prototype":{"token_ids":["${TOKEN}"]}}}`],
    ['nested deeply', `{"token_ids":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ['with a huge number', `{"token_ids":["${TOKEN}"],"tvl_min":1e400}`],
    ['of binary data', '\u0000\u0001\u0002'],
    ['over the size limit', JSON.stringify({ token_ids: ['x'.repeat(1_100_000)] })],
  ])('rejects a body %s', async (_, body) => {
    expectProblem(await post('/v2/tokens/price', body), [400, 413])
  })

  test('drops only the connection for a body shorter than its Content-Length', async () => {
    const bytes = rawRequest('POST /v2/tokens/price HTTP/1.1', { ...JSON_HEADERS, 'Content-Length': '5000' }, good)
    const reply = await sendRaw(served.rest, bytes, { halfClose: true })
    if (reply !== undefined) expectProblem(reply, [400])
  })

  test.each([
    ['a negative length', { 'Content-Length': '-1' }],
    ['a length that is not a number', { 'Content-Length': 'many' }],
    ['length and chunks at once', { 'Content-Length': '5', 'Transfer-Encoding': 'chunked' }],
    ['malformed chunks', { 'Transfer-Encoding': 'chunked' }],
  ])('rejects %s', async (_, headers) => {
    expectProblem(await send('POST /v2/tokens/price HTTP/1.1', { ...JSON_HEADERS, ...headers }, 'zz\r\n\r\n'), [400])
  })
})

describe('paths', () => {
  test.each([
    '/v2/pairs/%ZZ-eth',
    '/v2/pairs/%',
    '/v2/pairs/%E0%A4%A-eth',
    '/v2/pairs/%00-eth',
    '/v2/pairs/%2e%2e%2f%2e%2e-eth',
    `/v2/pairs/${'a'.repeat(200)}-eth`,
    `/v2/pairs/${'a'.repeat(5_000)}-eth`,
    '/v2/pairs/-eth',
    '/v2/pairs/',
    '/v2//pairs',
    '/v2/../../etc/passwd',
    '/v2/tokens/%F0%9F%A6%84-eth',
  ])('rejects %s', async (path) => {
    expectProblem(await send(`GET ${path} HTTP/1.1`), [400, 404])
  })

  test.each([
    `/v2/klines/pair/${PAIR}?interval=60&limit=1&limit=2`,
    `/v2/klines/pair/${PAIR}?interval=60&interval=1`,
    `/v2/candles/audit?pair_id=${PAIR}&time=0&interval[]=60`,
    `/v2/klines/pair/${PAIR}?interval=60&limit=%ZZ`,
    `/v2/candles/audit?pair_id=${PAIR}&time=0&__proto__[interval]=60`,
    `/v2/klines/pair/${PAIR}?interval=60&limit=99999999999999999999`,
    `/v2/klines/pair/${PAIR}?interval=60&from_time=-1`,
    `/v2/klines/pair/${PAIR}?interval=60&from_time=9&to_time=1`,
  ])('rejects %s', async (path) => {
    expectProblem(await send(`GET ${path} HTTP/1.1`), [400])
  })

  test('rejects a path that is too long', async () => {
    expectProblem(await send(`GET /v2/pairs/${'a'.repeat(100_000)}-eth HTTP/1.1`), [400, 414, 431])
  })
})

describe('requests', () => {
  test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'POST', 'TRACE', 'PROPFIND'])(
    'rejects %s where only GET is allowed',
    async (method) => {
      expectProblem(
        await send(`${method} /v2/pairs/${PAIR} HTTP/1.1`, { 'X-API-KEY': KEY, 'Content-Length': '0' }),
        [400, 404, 405],
      )
    },
  )

  test('answers HEAD like GET, without the body', async () => {
    const reply = await send(`HEAD /v2/pairs/${PAIR} HTTP/1.1`)
    expect([reply?.status, reply?.body]).toEqual([200, ''])
  })

  test.each([
    ['an unknown method', 'FOO /v2/tokens HTTP/1.1'],
    ['an unknown version', 'GET /v2/tokens HTTP/9.9'],
    ['a space in the path', 'GET /v2/to kens HTTP/1.1'],
    ['a line that is not a request', 'hello'],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000'],
  ])('rejects %s', async (_, line) => {
    expectProblem(await send(line), [400])
  })

  test.each([
    ['a header over the limit', { 'X-API-KEY': KEY, 'X-Long': 'x'.repeat(20_000) }],
    ['a key over the limit', { 'X-API-KEY': 'x'.repeat(20_000) }],
    ['a thousand headers', Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`X-H-${at}`, 'a'.repeat(20)]))],
  ])('rejects %s', async (_, headers) => {
    expectProblem(await send(`GET /v2/pairs/${PAIR} HTTP/1.1`, headers), [400, 431])
  })

  test.each([
    ['given twice', `X-API-KEY: ${KEY}\r\nX-API-KEY: ${KEY}`],
    ['with a control character', 'X-API-KEY: a\u0000b'],
    ['that is not ASCII', 'X-API-KEY: sch\u00e4'],
  ])('rejects a key %s', async (_, header) => {
    const bytes = `GET /v2/pairs/${PAIR} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${header}\r\n\r\n`
    expectProblem(await sendRaw(served.rest, Buffer.from(bytes, 'latin1')), [400, 401])
  })

  test('rejects a request without Host', async () => {
    const reply = await sendRaw(served.rest, 'GET /v2/tokens HTTP/1.1\r\nConnection: close\r\n\r\n')
    expect(reply?.status).toBe(400)
  })
})

test(`answers ${RANDOM_REQUESTS} random requests without a 5xx, every error as a problem, seed ${SEED}`, async () => {
  const random = createRandom(SEED)
  const names = [...new Set(OPERATIONS.flatMap(({ query }) => Object.keys(query.properties)))]
  const values = [
    '',
    '1',
    '0',
    '-1',
    '1e3',
    'eth',
    'u',
    'asc',
    '%00',
    '%ff',
    'é',
    '🦄',
    '[]',
    '{}',
    'null',
    "'",
    ';',
    '<x>',
    '9'.repeat(30),
  ]
  const ids = [TOKEN, PAIR, 'x', '-', '0x-eth', `0x${'0'.repeat(40)}-eth`, 'eth-eth-eth', '%2F-eth', '%', '..', 'meme-']
  for (let at = 0; at < RANDOM_REQUESTS; at++) {
    const { method, path } = random.pick(OPERATIONS)
    const filled = path.replace(/\{[^}]+\}/g, () => random.pick(ids))
    const query = Array.from(
      { length: random.int(0, 4) },
      () => `${random.pick([...names, 'x', '__proto__'])}=${random.pick(values)}`,
    )
    const line = `${random.chance(0.95) ? method : random.pick(['PUT', 'HEAD', 'OPTIONS'])} ${filled}?${query.join('&')} HTTP/1.1`
    const bytes = Buffer.from(rawRequest(line, { 'X-API-KEY': KEY, 'Content-Length': '0' }))
    const reply = await sendRaw(served.rest, bytes)
    expect(reply?.status ?? 599, line).toBeLessThan(500)
    if ((reply?.status ?? 0) >= 400 && !line.startsWith('HEAD')) expectProblem(reply, [400, 404, 405])
  }
})

test('survives and stops cleanly, with no key and no error in its log', async () => {
  expect((await served.ask({ path: `/v2/pairs/${PAIR}` })).status).toBe(200)
  const { code, out, err } = await served.stop()
  expect(code).toBe(0)
  expect(`${out}${err}`).not.toContain(KEY)
  expect(err.split('\n').filter((line) => /error/i.test(line))).toEqual([])
})

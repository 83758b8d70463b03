/** Access to sockets: one-time tokens, keys and plans. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { hashKey } from '../../../services/core/keys/key-store.js'
import { connect } from '../push-client.js'
import { KEY, keyRecord } from '../rig.js'
import { PAIR } from '../updates.js'
import { usePushRig } from './rig.js'

let nowMs = 1_800_000_000_000
const node = usePushRig({ keyCheckMs: 20 }, { nowMs: () => nowMs })
const { client } = node

type Token = { token: string; expires_at: number; url: string }
const askToken = async (headers: Record<string, string> = { 'x-api-key': KEY }) => {
  const answer = await fetch((await node.rig.get('/health')).url.replace('/health', '/v2/ws/token'), {
    method: 'POST',
    headers,
  })
  return { answer, body: (await answer.json()) as { data: Token; code?: string } }
}

/** fetch does not send a chosen Host header. */
async function tokenFrom(port: number, host: string): Promise<Token> {
  const sent = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/v2/ws/token',
    headers: { 'x-api-key': KEY, host },
  })
  sent.end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return ((await json(answer)) as { data: Token }).data
}

describe('a one-time token', () => {
  it('opens one socket without a header, from any origin', async () => {
    const { answer, body } = await askToken()
    expect([answer.status, answer.headers.get('x-cu-cost'), answer.headers.get('cache-control')]).toEqual([
      ...[200, '0', 'no-store'],
    ])
    const { token, expires_at, url } = body.data
    const { port } = new URL(node.rig.wsUrl)
    expect(body).toEqual({ status: 1, msg: 'SUCCESS', data_type: 1, data: { token, expires_at, url } })
    expect([url, expires_at]).toEqual([`ws://127.0.0.1:${port}/?token=${token}`, nowMs / 1000 + 60])
    const first = await client({ origin: 'https://example.org' }, `?token=${token}`)
    expect(await first.call('ping')).toMatchObject({ result: 'pong' })
    const second = await client({}, `?token=${token}`)
    expect(await second.closed).toMatchObject({ code: 1008 })
    expect(second.frames).toEqual([{ error: { code: -1, message: 'Unauthorized' } }])
  })

  it('expires after a minute; the socket it opened stays open', async () => {
    const [used, late] = [(await askToken()).body.data.token, (await askToken()).body.data.token]
    const open = await client({}, `?token=${used}`)
    nowMs += 60_000
    const refused = await client({}, `?token=${late}`)
    expect(await refused.closed).toMatchObject({ code: 1008 })
    expect(await open.call('ping')).toMatchObject({ result: 'pong' })
  })

  it('is rejected once its key is revoked', async () => {
    node.rig.keys.set(hashKey('brief'), keyRecord({ id: 'brief' }))
    const { token } = (await askToken({ 'x-api-key': 'brief' })).body.data
    node.rig.keys.set(hashKey('brief'), keyRecord({ id: 'brief', revokedAtMs: 1 }))
    const refused = await client({}, `?token=${token}`)
    expect(await refused.closed).toMatchObject({ code: 1008 })
    expect(refused.frames).toEqual([{ error: { code: -1, message: 'Unauthorized' } }])
  })

  it('works on another node with the same secret, and not with another secret', async () => {
    const nodes = ['one secret', 'one secret', 'another secret'].map((wsTokenSecret) =>
      node.rig.open({ wsTokenSecret }),
    )
    try {
      const ports: { httpPort: number; wsPort: number }[] = []
      for (const one of nodes) ports.push(await one.start())
      const answer = await fetch(`http://127.0.0.1:${ports[0]?.httpPort}/v2/ws/token`, {
        method: 'POST',
        headers: { 'x-api-key': KEY },
      })
      const { token } = ((await answer.json()) as { data: Token }).data
      const open = (at: number) => connect(`ws://127.0.0.1:${ports[at]?.wsPort}/?token=${token}`, {})
      const [same, other] = [await open(1), await open(2)]
      expect(await same.call('ping')).toMatchObject({ result: 'pong' })
      expect(await other.closed).toMatchObject({ code: 1008 })
    } finally {
      for (const one of nodes) await one.stop()
    }
  })

  it('requires a key, and its URL follows the proxy’s scheme', async () => {
    const { answer, body } = await askToken({})
    expect([answer.status, body.code]).toEqual([401, 'key_missing'])
    const secure = await askToken({ 'x-api-key': KEY, 'x-forwarded-proto': 'https' })
    expect(secure.body.data.url).toMatch(/^wss:\/\/127\.0\.0\.1:\d+\/\?token=/)
  })

  it('has a URL that opens as it is', async () => {
    const { url } = (await askToken()).body.data
    expect(await (await connect(url, {})).call('ping')).toMatchObject({ result: 'pong' })
  })

  it.each([
    ['the host of the request', {}, 'api.example:8080', 'ws://api.example:PORT'],
    ['an IPv6 host', {}, '[::1]:8080', 'ws://[::1]:PORT'],
    ['no usable host', {}, 'a b', 'ws://localhost:PORT'],
    ['a public https address', { publicUrls: ['https://api.example'] }, 'api.example', 'wss://api.example:PORT'],
    ['another host than the public one', { publicUrls: ['https://api.example'] }, 'inside', 'ws://inside:PORT'],
    [
      'a public WebSocket address',
      { publicWsUrl: { kind: 'url', url: 'wss://stream.example/tape' } as const },
      'inside',
      'wss://stream.example/tape',
    ],
  ])('has a complete URL with %s', async (_name, settings, host, expected) => {
    const other = node.rig.open({ config: { ...node.rig.config, ...settings } })
    const { httpPort, wsPort } = await other.start()
    try {
      const { token, url } = await tokenFrom(httpPort, host)
      expect(url).toBe(`${expected.replace('PORT', String(wsPort))}/?token=${token}`)
    } finally {
      await other.stop()
    }
  })
})

describe('a key', () => {
  it.each([
    ['revoked', { revokedAtMs: 1 }],
    ['expired', { expiresAtMs: 1 }],
  ])('that is %s closes its own sockets with a reason', async (_name, ended) => {
    node.rig.keys.set(hashKey('short'), keyRecord({ id: 'short' }))
    const [one, other] = [await client({ 'x-api-key': 'short' }), await client()]
    await one.call('subscribe', ['tx', PAIR, 'eth'])
    node.rig.keys.set(hashKey('short'), keyRecord({ id: 'short', ...ended }))
    expect(await one.closed).toMatchObject({ code: 1008 })
    expect(one.frames).toMatchObject([{ result: { topic: 'bye', reason: expect.any(String) } }])
    expect(await other.call('ping')).toMatchObject({ result: 'pong' })
  })

  it('cannot subscribe to a whole chain unless its plan is unlimited', async () => {
    node.rig.keys.set(hashKey('small'), keyRecord({ id: 'small', plan: 'pro' }))
    const one = await client({ 'x-api-key': 'small' })
    for (const params of [
      ['tx', '*', 'eth'],
      ['liq', '*', 'eth'],
      ['kline', '*', 'k1', 'eth'],
      ['price', ['*-eth']],
    ]) {
      const { error } = await one.call('subscribe', params)
      expect(error).toMatchObject({ code: -32005, message: expect.stringContaining('pro') })
    }
    expect(await one.call('subscribe', ['tx', PAIR, 'eth'])).toMatchObject({ result: { status: 'ok' } })
  })
})

describe('frames that are not valid requests', () => {
  it.each([
    ['a binary frame', Buffer.from('{"jsonrpc":"2.0","method":"ping","id":1}'), -32600],
    ['deep arrays', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, -32600],
    ['deep objects', `{"jsonrpc":"2.0","method":"ping","id":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`, -32600],
    ['unclosed arrays', '['.repeat(200_000), -32700],
    ['an id that JSON cannot represent exactly', '{"jsonrpc":"2.0","method":"ping","id":12345678901234567890}', -32600],
    ['an infinite id', '{"jsonrpc":"2.0","method":"ping","id":1e999}', -32600],
    ['an id that is too long', `{"jsonrpc":"2.0","method":"ping","id":"${'x'.repeat(257)}"}`, -32600],
  ])('answers %s with an error', async (_name, frame, code) => {
    const one = await client()
    one.socket.send(frame)
    const [reply] = [await one.take(() => true)].flat()
    expect(reply).toMatchObject({ id: null, error: { code } })
  })

  it.each([[7], [-1.5], ['word'], [null]])('returns the id %j unchanged', async (id) => {
    const one = await client()
    one.send(JSON.stringify({ jsonrpc: '2.0', method: 'ping', id }))
    expect(await one.take(() => true)).toEqual({ jsonrpc: '2.0', id, result: 'pong' })
  })
})

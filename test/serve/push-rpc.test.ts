import { describe, expect, it } from 'vitest'
import { hashKey } from '../../services/core/keys/key-store.js'
import { VERSION } from '../../services/core/runtime/version.js'
import { chooseTransport } from '../../services/serve/push/transport/choose-transport.js'
import { usePushRig } from './push/rig.js'
import { keyRecord } from './rig.js'
import { candle, firstUpdate, PAIR, pairUpdate, TOKEN, trade, update } from './updates.js'

const node = usePushRig({ maxSubscriptionsPerSocket: 20, maxItemsPerSubscription: 5, maxBatch: 10 })
const { client, feed } = node

it('reports the WebSocket server in use and the version in /status', async () => {
  const { server, fallbackReason } = chooseTransport(process.env.DEXTAPE_PUSH_SERVER === 'ws' ? 'ws' : 'auto')
  const { push, version } = await node.rig.serve.status()
  expect({ push, version }).toEqual({ push: { server, fallback_reason: fallbackReason }, version: VERSION })
})

describe('the key', () => {
  it.each([
    ['missing', {}, 'Missing API Key'],
    ['wrong', { 'x-api-key': 'nonsense' }, 'Unauthorized'],
    ['expired', { 'x-api-key': 'old' }, 'Unauthorized'],
  ])(
    '%s: sends the error after the upgrade, then closes the socket',
    async (_name, headers: Record<string, string>, message) => {
      node.rig.keys.set(hashKey('old'), keyRecord({ expiresAtMs: 1 }))
      const one = await client(headers)
      expect(await one.closed).toMatchObject({ code: 1008 })
      expect(one.frames).toEqual([{ error: { code: -1, message } }])
    },
  )
})

describe('JSON-RPC', () => {
  it('answers a ping, with or without params', async () => {
    const one = await client()
    one.send('{"jsonrpc":"2.0","method":"ping","id":1}')
    expect(await one.take(() => true)).toEqual({ jsonrpc: '2.0', result: 'pong', id: 1 })
    expect(await one.call('ping', [])).toMatchObject({ result: 'pong' })
  })

  it.each([
    ['{"jsonrpc"', null, -32700],
    ['', null, -32700],
    ['5', null, -32600],
    ['null', null, -32600],
    ['[]', null, -32600],
    ['{"method":"ping","id":3}', 3, -32600],
    ['{"jsonrpc":"1.0","method":"ping","id":3}', 3, -32600],
    ['{"jsonrpc":"2.0","method":5,"id":3}', 3, -32600],
    ['{"jsonrpc":"2.0","method":"ping","id":{}}', null, -32600],
    ['{"jsonrpc":"2.0","method":"fly","id":3}', 3, -32601],
    ['{"jsonrpc":"2.0","method":"subscribe","id":3}', 3, -32602],
    ['{"jsonrpc":"2.0","method":"subscribe","params":[],"id":3}', 3, -32602],
    [`[${Array.from({ length: 11 }, () => '{}').join()}]`, null, -32005],
  ])('answers %s with its error code', async (text, id, code) => {
    const one = await client()
    one.send(text)
    const reply = await one.take(() => true)
    expect(reply).toMatchObject({ jsonrpc: '2.0', id, error: { code, message: expect.any(String) } })
  })

  it.each([
    [['nothing', PAIR, 'eth']],
    [[5]],
    [['tx', PAIR]],
    [['tx', PAIR, 'moon']],
    [['tx', 5, 'eth']],
    [['tx', 'not an address', 'eth']],
    [['tx', PAIR, 'eth', 'more']],
    [['kline', PAIR, 'k2', 'eth']],
    [['kline', PAIR, 15, 'eth']],
    [['kline', PAIR, 'eth']],
    [['price', `${TOKEN}-eth`]],
    [['price', []]],
    [['price', [5]]],
    [['price', [TOKEN]]],
    [['tx', PAIR, 'eth', { since: '1:eth:1' }]],
    [['tx', PAIR, 'eth', { since: 5 }]],
    [['tx', PAIR, 'eth', { since: '1:moon:1:1' }]],
    [['tx', PAIR, 'eth', { since: ['1:eth:1:1', '1:eth:2:1'] }]],
    [['tx', PAIR, 'eth', { snapshot: 'yes' }]],
    [['tx', PAIR, 'eth', { replay: true }]],
    [['multi_tx', PAIR]],
    [['multi_tx', '*', 'eth']],
    [['liq', PAIR]],
    [['multi_kline']],
    [['multi_kline', PAIR, 'k1', 'eth']],
    [['multi_kline', [PAIR, 'k1']]],
    [['multi_kline', [PAIR, 'k1', 'eth'], [PAIR, 'k2', 'eth']]],
    [['tx', '*', 'moon']],
    [['price', ['*-moon']]],
    [['tx', PAIR, 'eth', { on_slow: 'never' }]],
  ])('rejects subscribe %j as bad params', async (params) => {
    const one = await client()
    expect(await one.call('subscribe', params)).toMatchObject({ error: { code: -32602 } })
  })

  it('rejects a subscribe over the limit', async () => {
    const one = await client()
    const unseen = (n: number) => `0x${String(n).padStart(40, '0')}`
    const ids = Array.from({ length: 6 }, (_, n) => `${unseen(n)}-eth`)
    expect(await one.call('subscribe', ['price', ids])).toMatchObject({ error: { code: -32005 } })
    for (let n = 0; n < 20; n++) await one.call('subscribe', ['tx', unseen(n), 'eth'])
    expect(await one.call('subscribe', ['tx', unseen(20), 'eth'])).toMatchObject({ error: { code: -32005 } })
    expect(await one.call('subscribe', ['tx', unseen(19), 'eth'])).toMatchObject({ result: { status: 'ok' } })
  })

  it('names the ids it does not know yet, for the kind its topic needs', async () => {
    const one = await client()
    const unseen = Array.from({ length: 3 }, (_, n) => `0x${String(n + 3).repeat(40)}`)
    const ack = async (...params: unknown[]) => {
      const { cursor, ...rest } = (await one.call('subscribe', params)).result ?? {}
      return rest
    }
    expect(await ack('price', [`${PAIR}-eth`, `${TOKEN}-eth`])).toEqual({ status: 'ok' })
    expect(await ack('price', [`${PAIR}-eth`, ...unseen.map((address) => `${address}-eth`)])).toEqual({
      ...{ status: 'ok', unknown: unseen.map((address) => `${address}-eth`), unknown_count: 3 },
    })
    expect(await ack('tx', TOKEN, 'eth')).toEqual({ status: 'ok', unknown: [`${TOKEN}-eth`], unknown_count: 1 })
    expect(await ack('multi_tx', PAIR, 'eth')).toEqual({ status: 'ok', unknown: [`${PAIR}-eth`], unknown_count: 1 })
    const series = [PAIR, ...unseen].flatMap((pair) => [[pair, 'k1', 'eth']])
    expect(await ack('multi_kline', ...series.slice(0, 2))).toMatchObject({ unknown: [`${unseen[0]}-eth`] })
    expect(await ack('tx', '*', 'eth')).toEqual({ status: 'ok' })
  })

  it('subscribes to the other ids next to one of a chain that is not indexed, and names it', async () => {
    const one = await client()
    const requests = [
      ['price', [`${PAIR}-moon`, `${PAIR}-eth`]],
      ['multi_kline', [PAIR, 'k1', 'moon'], [PAIR, 'k1', 'eth']],
    ]
    for (const [at, params] of requests.entries()) {
      expect(await one.call('subscribe', params, at)).toMatchObject({
        result: { status: 'ok', cursor: [expect.any(String)], unknown: [`${PAIR}-moon`], unknown_count: 1 },
      })
      await feed({ pairs: [pairUpdate({ trades: [trade()], candles: [candle()] })] })
      expect(await one.take(({ id, result }) => id === at && result?.topic !== undefined)).toBeDefined()
      expect(await one.call('unsubscribe', params)).toMatchObject({ result: { removed: 1 } })
    }
    for (const params of [
      ['price', [`${PAIR}-moon`, `${PAIR}-mars`]],
      ['multi_kline', [PAIR, 'k1', 'moon']],
    ]) {
      expect(await one.call('subscribe', params)).toMatchObject({ error: { code: -32602 } })
    }
  })

  it('pushes avalanche to subscriptions that call it avax', async () => {
    const one = await client()
    await node.rig.feed({ ...firstUpdate(), chain: 'avalanche' })
    const topics = [
      ['tx', PAIR, 'avax'],
      ['tx', '*', 'avax'],
      ['price', [`${PAIR}-avax`, `${TOKEN}-avalanche`]],
    ]
    for (const [at, params] of topics.entries()) {
      const { result } = await one.call('subscribe', params, at)
      expect(result).toEqual({ status: 'ok', cursor: [expect.stringMatching(/^1:avalanche:/)] })
    }
    const swap = { pairs: [pairUpdate({ trades: [trade()] })], chain: 'avalanche', seq: 2, number: 101 }
    await node.rig.feed(update(swap))
    await one.settle()
    expect(one.frames.map(({ id }) => id).sort()).toEqual([0, 1, 2])
    expect(await one.call('unsubscribe', ['tx', PAIR, 'avalanche'])).toMatchObject({ result: { removed: 1 } })
  })

  it('answers a batch in one frame, without its notifications', async () => {
    const one = await client()
    const batch = [
      { jsonrpc: '2.0', method: 'ping', id: 1 },
      { jsonrpc: '2.0', method: 'ping' },
      7,
      { jsonrpc: '2.0', method: 'subscribe', params: ['tx', PAIR, 'eth'], id: 'two' },
    ]
    one.send(JSON.stringify(batch))
    const replies = (await one.take((frame) => Array.isArray(frame))) as unknown as unknown[]
    expect(replies).toMatchObject([
      { id: 1, result: 'pong' },
      { id: null, error: { code: -32600 } },
      { id: 'two', result: { status: 'ok' } },
    ])
    one.send(JSON.stringify([{ jsonrpc: '2.0', method: 'ping' }]))
    await one.settle()
    expect(one.frames).toEqual([])
  })

  it('acknowledges with the current cursor of each chain', async () => {
    const one = await client()
    const reply = await one.call('subscribe', ['price', [`${TOKEN}-eth`, `${PAIR}-eth`]])
    expect(reply.result).toEqual({ status: 'ok', cursor: [expect.stringMatching(/^1:eth:\d+:\d+$/)] })
  })
})

describe('misbehaving clients', () => {
  it('survives 2,000 malformed frames without closing the socket', async () => {
    const one = await client()
    let state = 12345
    const random = (below: number) => {
      state = (state * 1103515245 + 12345) % 2 ** 31
      return state % below
    }
    const valid = JSON.stringify({ jsonrpc: '2.0', method: 'subscribe', params: ['price', [`${PAIR}-eth`]], id: 1 })
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '0',
      '\u0000',
      '\\u',
      '__proto__',
      '💥',
      '1e999',
      'null',
      'params',
    ]
    for (let n = 0; n < 2000; n++) {
      const at = random(valid.length)
      const text = valid.slice(0, at) + pieces[random(pieces.length)] + valid.slice(at + random(5))
      one.socket.send(n % 3 === 0 ? Buffer.from(text).map((byte) => byte ^ random(256)) : text)
    }
    await one.settle()
    await one.call('unsubscribe', [])
    await one.call('subscribe', ['tx', PAIR, 'eth'], 4)
    await feed({ pairs: [pairUpdate({ trades: [trade()] })] })
    expect(await one.topic('tx')).toMatchObject({ id: 4 })
  })

  it('closes only the socket that sent a message over the limit', async () => {
    const [one, two] = [await client(), await client()]
    one.socket.on('error', () => {})
    one.send(`"${'x'.repeat(300_000)}"`)
    await one.closed
    expect(await two.call('ping')).toMatchObject({ result: 'pong' })
  })
})

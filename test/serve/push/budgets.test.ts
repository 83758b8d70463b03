/** Budgets of one key across all its sockets, and of all keys together. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CAPACITY, PLANS, type Plan } from '../../../services/core/domain/plans.js'
import { hashKey } from '../../../services/core/keys/key-store.js'
import { createBudgets, type SocketBudget } from '../../../services/serve/push/budgets.js'
import { connect } from '../push-client.js'
import { keyRecord } from '../rig.js'
import { PAIR, pairUpdate, trade } from '../updates.js'
import { usePushRig } from './rig.js'

const { sockets: maxSockets, ids: maxIds, framesPerS } = PLANS.free
const LIMIT_EXCEEDED = -32005

const node = usePushRig()
const { client } = node

function newKey(id: string, plan: Plan): Record<string, string> {
  node.rig.keys.set(hashKey(id), keyRecord({ id, plan }))
  return { 'x-api-key': id }
}

let made = 0
const madeUpIds = (count: number) =>
  Array.from({ length: count }, () => `0x${(++made).toString(16).padStart(40, '0')}-eth`)

describe('a key on the free plan', () => {
  it('cannot open more sockets than its plan allows until one closes; other keys do not count', async () => {
    const headers = newKey('sockets', 'free')
    const open = []
    for (let count = 0; count < maxSockets; count++) open.push(await client(headers))
    const refused = await client(headers)
    expect(await refused.closed).toMatchObject({ code: 1008 })
    const message = `Too many open sockets: plan free allows ${maxSockets} per key, ${maxSockets} in use, 1 more requested. Close one first, or use a key with a larger plan.`
    const data = { budget: 'sockets', limit: maxSockets, plan: 'free' }
    expect(refused.frames).toEqual([{ error: { code: LIMIT_EXCEEDED, message, data } }])
    expect(await (await client(newKey('other', 'free'))).call('ping')).toMatchObject({ result: 'pong' })
    open[0]?.close()
    await open[0]?.closed
    await expect
      .poll(async () => {
        const again = await client(headers)
        return Promise.race([again.call('ping').then(({ result }) => result), again.closed.then(({ code }) => code)])
      })
      .toBe('pong')
  })

  it('cannot fill memory with made-up ids over several sockets, or affect other keys', async () => {
    const headers = newKey('greedy', 'free')
    const other = await client(newKey('patient', 'free'))
    await other.call('subscribe', ['tx', PAIR, 'eth'])
    const before = { heap: heapAfterCollection(), usage: await inUse() }
    const sockets = await Promise.all(Array.from({ length: 8 }, () => client(headers)))
    const replies = await Promise.all(
      sockets.map(async (socket) => {
        const texts = Array.from({ length: 30 }, (_, id) =>
          JSON.stringify({ jsonrpc: '2.0', method: 'subscribe', params: ['price', madeUpIds(1000)], id }),
        )
        for (const text of texts) socket.send(text)
        await Promise.race([socket.settle(), socket.closed])
        return socket.frames
      }),
    )
    const accepted = replies.flat().filter(({ result }) => result?.status === 'ok')
    expect(accepted).toHaveLength(maxIds / 1000)
    const { heap, usage } = { heap: heapAfterCollection(), usage: await inUse() }
    expect([usage.ids - before.usage.ids, usage.sockets - before.usage.sockets]).toEqual([maxIds, maxSockets])
    // 240,000 ids would take about 120 MB.
    expect(heap - before.heap).toBeLessThan(30_000_000)
    await node.feed({ pairs: [pairUpdate({ trades: [trade()] })] })
    expect(await other.topic('tx')).toMatchObject({ result: { id: PAIR } })
  }, 60_000)

  it('is told when it sends too many frames, and is disconnected if it ignores that', async () => {
    const one = await client(newKey('hasty', 'free'))
    const other = await client(newKey('calm', 'free'))
    const burst = framesPerS * 10
    for (let id = 0; id < burst * 3; id++) one.send(JSON.stringify({ jsonrpc: '2.0', method: 'ping', id }))
    expect(await one.closed).toMatchObject({ code: 1008, reason: 'too many frames' })
    const message = `Too many frames: plan free allows ${framesPerS} per second and key. Send fewer, or use a key with a larger plan.`
    const data = { budget: 'frames_per_s', limit: framesPerS, plan: 'free' }
    const refused = one.frames.filter(({ error }) => error !== undefined)
    expect(refused[0]?.error).toEqual({ code: LIMIT_EXCEEDED, message, data })
    expect(refused.length).toBeLessThanOrEqual(burst + framesPerS)
    expect(one.frames.at(-1)).toMatchObject({ result: { topic: 'bye', reason: message } })
    const again = await client({ 'x-api-key': 'hasty' })
    again.send(JSON.stringify({ jsonrpc: '2.0', method: 'ping', id: 1 }))
    // Another connection brings no other burst: refused, or disconnected again.
    const { result, error } = await again.take(() => true)
    expect(result?.topic === 'bye' || error?.code === LIMIT_EXCEEDED).toBe(true)
    expect(await other.call('ping')).toMatchObject({ result: 'pong' })
  })

  it('regains exactly the quota of its unsubscribes and closed sockets', async () => {
    const headers = newKey('exact', 'free')
    const [one, two] = [await client(headers), await client(headers)]
    const batches = Array.from({ length: maxIds / 1000 }, () => madeUpIds(1000))
    for (const ids of batches) expect((await one.call('subscribe', ['price', ids])).error).toBeUndefined()
    // The same subscription again replaces the first and uses no more quota.
    expect((await one.call('subscribe', ['price', batches[0]])).error).toBeUndefined()
    const single = ['tx', PAIR, 'eth']
    expect((await two.call('subscribe', single)).error).toEqual({
      code: LIMIT_EXCEEDED,
      message: `Too many subscribed ids: plan free allows ${maxIds} per key, ${maxIds} in use, 1 more requested. Unsubscribe from some first, or use a key with a larger plan.`,
      data: { budget: 'ids', limit: maxIds, plan: 'free' },
    })
    await one.call('unsubscribe', ['price', batches[0]])
    for (const ids of [madeUpIds(999), madeUpIds(1)])
      expect((await two.call('subscribe', ['price', ids])).error).toBeUndefined()
    expect((await two.call('subscribe', single)).error?.code).toBe(LIMIT_EXCEEDED)
    one.close()
    await one.closed
    await expect.poll(async () => (await two.call('subscribe', single)).error).toBeUndefined()
    for (const ids of batches.slice(2)) expect((await two.call('subscribe', ['price', ids])).error).toBeUndefined()
  })
})

it('does not limit a key on the unlimited plan', async () => {
  const one = await client()
  for (let count = 0; count <= maxIds / 1000; count++)
    expect((await one.call('subscribe', ['price', madeUpIds(1000)])).error).toBeUndefined()
})

it('limits what all keys hold together, whatever their plans', async () => {
  const capacity = { ...CAPACITY, sockets: 2, ids: 3 }
  const tight = node.rig.open({ config: { ...node.rig.config, capacity } })
  const { wsPort } = await tight.start()
  try {
    const [one, two, refused] = [await open(), await open(), await open()]
    expect(await refused.closed).toMatchObject({ code: 1008 })
    expect(refused.frames).toMatchObject([{ error: { code: LIMIT_EXCEEDED, data: { budget: 'sockets', plan: null } } }])
    expect((await one.call('subscribe', ['price', madeUpIds(2)])).error).toBeUndefined()
    expect((await two.call('subscribe', ['price', madeUpIds(2)])).error).toEqual({
      code: LIMIT_EXCEEDED,
      message:
        'Too many subscribed ids: this server allows 3 for all keys, 2 in use, 2 more requested. Retry later, or use another server.',
      data: { budget: 'ids', limit: 3, plan: null },
    })
    expect((await tight.status()).budgets).toMatchObject({
      capacity: { sockets: 2, ids: 3, unread_mb: 256, memory_mb: 1024 },
      in_use: { keys: 1, sockets: 2, subscriptions: 1, ids: 2 },
    })
  } finally {
    await tight.stop()
  }

  async function open() {
    return connect(`ws://127.0.0.1:${wsPort}`)
  }
})

it('always counts exactly what open sockets hold', () => {
  const channels = Array.from({ length: 8000 }, (_, at) => `price|${at}|eth`)
  let refused = 0
  const act = fc.record({
    at: fc.nat(6),
    what: fc.constantFrom('add', 'add', 'remove', 'close'),
    count: fc.nat(8000),
  })
  fc.assert(
    fc.property(fc.array(act, { maxLength: 200 }), (acts) => {
      const access = keyRecord({ plan: 'free' })
      const budgets = createBudgets(PLANS, CAPACITY, () => 0)
      const open = new Map<number, { socket: SocketBudget; held: number[] }>()
      const ids = () => [...open.values()].flatMap(({ held }) => held).reduce((sum, count) => sum + count, 0)
      for (const { at, what, count } of acts) {
        const known = open.get(at)
        if (known === undefined) {
          if (open.size < maxSockets) open.set(at, { socket: budgets.openSocket(access), held: [] })
          else expect(() => budgets.openSocket(access)).toThrow('Too many open sockets')
        } else if (what === 'close') {
          known.socket.close()
          open.delete(at)
        } else if (what === 'remove') {
          for (const one of known.held.splice(0)) known.socket.removeSubscription(channels.slice(0, one))
        } else if (ids() + count > maxIds) {
          expect(() => known.socket.addSubscription(channels.slice(0, count))).toThrow(`, ${ids()} in use`)
          refused += 1
        } else {
          known.socket.addSubscription(channels.slice(0, count))
          known.held.push(count)
        }
        const subscriptions = [...open.values()].flatMap(({ held }) => held).length
        expect(budgets.usage()).toMatchObject({ sockets: open.size, subscriptions, ids: ids() })
      }
      for (const { socket } of open.values()) socket.close()
      expect(budgets.usage()).toEqual({ keys: 0, sockets: 0, subscriptions: 0, ids: 0, memoryBytes: 0 })
    }),
  )
  expect(refused).toBeGreaterThan(0)
})

async function inUse() {
  const { ids = 0, sockets = 0 } = (await node.rig.serve.status()).budgets.in_use
  return { ids, sockets }
}

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

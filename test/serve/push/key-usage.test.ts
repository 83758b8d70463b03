/** Limits of one key across all its sockets. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashKey, PLANS, type Plan } from '../../../services/core/keys/key-store.js'
import { createKeyUsage, type SocketUsage } from '../../../services/serve/push/socket-access.js'
import { keyRecord } from '../rig.js'
import { PAIR, pairUpdate, trade } from '../updates.js'
import { usePushRig } from './rig.js'

const { maxSockets, maxIds } = PLANS.free
const LIMIT_EXCEEDED = -32005

const node = usePushRig()
const { client } = node

function newKey(id: string, plan: Plan): Record<string, string> {
  node.rig.keys.set(hashKey(id), keyRecord({ id, plan }))
  return { 'x-api-key': id }
}

let made = 0
const madeUpIds = (count: number) => Array.from({ length: count }, () => `0x${(++made).toString(16)}-eth`)

describe('a key on the free plan', () => {
  it('cannot open more sockets than its plan allows until one closes; other keys do not count', async () => {
    const headers = newKey('sockets', 'free')
    const open = []
    for (let count = 0; count < maxSockets; count++) open.push(await client(headers))
    const refused = await client(headers)
    expect(await refused.closed).toMatchObject({ code: 1008 })
    const message = `Too many open sockets: plan free allows ${maxSockets} per key. Close one first.`
    expect(refused.frames).toEqual([{ error: { code: LIMIT_EXCEEDED, message } }])
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

  it('cannot fill memory with invented ids over several sockets, or affect other keys', async () => {
    const headers = newKey('greedy', 'free')
    const other = await client(newKey('patient', 'free'))
    await other.call('subscribe', ['tx', PAIR, 'eth'])
    const sockets = []
    for (let count = 0; count < maxSockets; count++) sockets.push(await client(headers))
    const before = heapAfterCollection()
    let [taken, refused] = [0, 0]
    for (const socket of sockets) {
      for (let count = 0; count < 40; count++) {
        const { error } = await socket.call('subscribe', ['price', madeUpIds(1000)])
        if (error === undefined) taken += 1000
        else refused += 1
        if (error !== undefined) expect(error).toMatchObject({ code: LIMIT_EXCEEDED })
      }
    }
    expect({ taken, refused }).toEqual({ taken: maxIds, refused: maxSockets * 40 - maxIds / 1000 })
    // 200,000 ids would take about 90 MB.
    expect(heapAfterCollection() - before).toBeLessThan(40_000_000)
    await node.feed({ pairs: [pairUpdate({ trades: [trade()] })] })
    expect(await other.topic('tx')).toMatchObject({ result: { id: PAIR } })
  }, 60_000)

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
      message: `Too many subscribed ids: plan free allows ${maxIds} per key, ${maxIds} in use, 1 more requested. Unsubscribe from some first.`,
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

it('always counts exactly what open sockets hold', () => {
  let refused = 0
  const act = fc.record({
    at: fc.nat(6),
    what: fc.constantFrom('take', 'take', 'release', 'close'),
    count: fc.nat(8000),
  })
  fc.assert(
    fc.property(fc.array(act, { maxLength: 200 }), (acts) => {
      const access = keyRecord({ plan: 'free' })
      const usage = createKeyUsage()
      const open = new Map<number, { socket: SocketUsage; ids: number }>()
      const held = () => [...open.values()].reduce((sum, { ids }) => sum + ids, 0)
      for (const { at, what, count } of acts) {
        const known = open.get(at)
        if (known === undefined) {
          const socket = usage.openSocket(access)
          expect(socket !== undefined).toBe(open.size < maxSockets)
          if (socket !== undefined) open.set(at, { socket, ids: 0 })
        } else if (what === 'close') {
          known.socket.close()
          open.delete(at)
        } else if (what === 'release') {
          known.socket.releaseIds(known.ids)
          known.ids = 0
        } else if (held() + count > maxIds) {
          expect(() => known.socket.takeIds(count)).toThrow(`, ${held()} in use`)
          refused += 1
        } else {
          known.socket.takeIds(count)
          known.ids += count
        }
      }
    }),
  )
  expect(refused).toBeGreaterThan(0)
})

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

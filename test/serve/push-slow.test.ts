import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, connect } from './push-client.js'
import { type Rig, startRig } from './rig.js'
import { candle, firstUpdate, PAIR, pairUpdate, T0, trade, update } from './updates.js'

let rig: Rig
let seq = 1

beforeAll(async () => {
  rig = await startRig({ push: { slowBytes: 100_000, slowCheckMs: 5 } })
  await rig.append(firstUpdate())
  await rig.start()
  await rig.feed(update({ seq: ++seq }))
}, 60_000)
afterAll(() => rig.stop())

const metrics = async () => await (await rig.get('/metrics')).text()

/** Stops reading, so that pushes back up in the server once the kernel buffers are full. */
function stall(client: Client): void {
  client.socket.pause()
}

const manyTrades = () => Array.from({ length: 1500 }, (_, n) => trade({ id: `1-${n}`, tx_seq: n }))
const manyCandles = (close_u: number) =>
  Array.from({ length: 1500 }, (_, n) => candle({ interval: 's1', time: T0 + 1000 + n, close_u }))

it('notifies and closes a socket too slow for tx; others get every push in order', async () => {
  const [slow, quick] = [await connect(rig.wsUrl), await connect(rig.wsUrl)]
  await slow.call('subscribe', ['tx', PAIR, 'eth'], 1)
  await quick.call('subscribe', ['tx', PAIR, 'eth'], 1)
  stall(slow)
  let updates = 0
  while (!(await metrics()).includes('dextape_serve_sockets_closed_total{reason="too_slow"} 1')) {
    if (++updates > 60) throw new Error('the slow socket was never noticed')
    await rig.feed(update({ seq: ++seq, pairs: [pairUpdate({ trades: manyTrades() })] }))
  }
  slow.socket.resume()
  expect(await slow.closed).toMatchObject({ code: 1013 })
  expect(slow.frames.at(-1)?.result).toMatchObject({ topic: 'bye', reason: expect.any(String) })
  await quick.settle()
  await expect.poll(() => quick.frames.length).toBe(updates * 1500)
  const cursors = quick.frames.map(({ result }) => String(result?.cursor).split(':').slice(2).map(Number))
  expect(cursors).toEqual(cursors.toSorted(([s1 = 0, n1 = 0], [s2 = 0, n2 = 0]) => s1 - s2 || n1 - n2))
  quick.close()
}, 60_000)

it('sends a socket too slow for kline the last state of every candle and the count of merged pushes', async () => {
  const slow = await connect(rig.wsUrl)
  await slow.call('subscribe', ['kline', PAIR, 's1', 'eth'], 1)
  stall(slow)
  let updates = 0
  while (!(await metrics()).includes('dextape_serve_pushes_conflated_total{topic="kline"}')) {
    if (++updates > 60) throw new Error('the slow socket was never noticed')
    await rig.feed(update({ seq: ++seq, pairs: [pairUpdate({ candles: manyCandles(updates) })] }))
  }
  slow.socket.resume()
  const notice = await slow.topic('conflated')
  const merged = Number(notice.result?.count)
  expect([notice.id, merged > 0]).toEqual([1, true])
  const klines = () => slow.frames.filter(({ result }) => result?.topic === 'kline')
  // Every push either arrived or is in the merged count.
  await expect.poll(() => klines().length + merged).toBe(updates * 1500)
  const last = new Map(
    klines()
      .map(({ result }) => result?.kline as { usd: { time: number; close: string } })
      .map(({ usd }) => [usd.time, usd.close]),
  )
  expect(last.size).toBe(1500)
  expect(new Set(last.values())).toEqual(new Set([String(updates)]))
  slow.frames.length = 0
  await rig.feed(
    update({ seq: ++seq, pairs: [pairUpdate({ candles: [candle({ interval: 's1', time: T0 + 9999 })] })] }),
  )
  expect(await slow.topic('kline')).toMatchObject({ id: 1, result: { interval: 's1' } })
  slow.close()
}, 60_000)

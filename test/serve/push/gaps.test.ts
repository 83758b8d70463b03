/** Resuming from a cursor: a gap notice where replay is impossible, a full replay where it is not. */
import { describe, expect, it } from 'vitest'
import { OTHER_PAIR, PAIR, pairUpdate, T0, TOKEN, trade, update, WETH } from '../updates.js'
import { undeclared } from './declared.js'
import { usePushRig } from './rig.js'

const node = usePushRig({ ringSeconds: 100, slowBytes: 200_000, behindMs: 300 })
const { client, feed } = node
let nowS = T0 + 1

const feedTrades = (count: number, secondsLater = 1) => {
  nowS += secondsLater
  const trades = Array.from({ length: count }, (_, n) => trade({ id: `${node.seq}-${n}` }))
  return feed({ time: nowS, now: nowS, pairs: [pairUpdate({ trades })] })
}
const cursorsOf = (frames: readonly { result?: { cursor?: unknown } }[]) =>
  frames.flatMap(({ result }) => (typeof result?.cursor === 'string' ? [result.cursor] : []))

const headsOf = (result: { cursor?: unknown } | undefined) => (result?.cursor ?? []) as string[]

describe('since', () => {
  it('older than the ring: sends one gap notice per requested item, then replays the ring', async () => {
    await feedTrades(1)
    const old = `1:eth:${node.seq}:0`
    await feedTrades(2, 200)
    const first = node.seq
    const one = await client()
    await one.call('subscribe', ['tx', PAIR, 'eth', { since: old }], 1)
    await one.call('subscribe', ['liq', PAIR, 'eth', { since: [old] }], 2)
    await one.call('subscribe', ['multi_tx', TOKEN, 'eth', { since: old }], 3)
    await one.call('subscribe', ['multi_kline', [PAIR, 'k15', 'eth'], [OTHER_PAIR, 's1', 'eth'], { since: old }], 4)
    await one.call('subscribe', ['price', [`${PAIR}-eth`, `${TOKEN}-eth`], { since: old }], 5)
    await one.call('subscribe', ['tx', '*', 'eth', { since: old }], 6)
    await one.call('subscribe', ['multi_tx', WETH, 'eth', { since: old }], 7)
    await one.settle()
    const gaps = one.frames.filter(({ result }) => result?.topic === 'gap')
    const range = `from_time=${T0 + 1}&to_time=${nowS}`
    expect(gaps.map(({ id, result }) => [id, result?.refill])).toEqual([
      [1, `/v2/txs/swap/${PAIR}-eth?${range}`],
      [2, `/v2/txs/liq/${PAIR}-eth?${range}`],
      [3, `/v2/txs/swap/${PAIR}-eth?${range}`],
      [3, `/v2/txs/swap/${OTHER_PAIR}-eth?${range}`],
      [4, `/v2/klines/pair/${PAIR}-eth?interval=15&${range}`],
      [4, `/v2/klines/pair/${OTHER_PAIR}-eth?interval=s1&${range}`],
      [5, `/v2/pairs/${PAIR}-eth`],
      [5, `/v2/tokens/${TOKEN}-eth`],
      [6, null],
      [7, `/v2/txs/swap/${PAIR}-eth?${range}`],
      [7, `/v2/txs/swap/${OTHER_PAIR}-eth?${range}`],
    ])
    const to = gaps[0]?.result?.to
    expect(to).toMatch(new RegExp(`^1:eth:${first - 1}:\\d+$`))
    expect(gaps[0]).toEqual({
      ...{ id: 1, jsonrpc: '2.0' },
      result: { topic: 'gap', subscription: 1, chain: 'eth', from: old, to, refill: gaps[0]?.result?.refill },
    })
    expect(gaps.flatMap((frame) => undeclared('tx', frame))).toEqual([])
    expect(cursorsOf(one.frames.filter(({ id }) => id === 1))).toEqual([`1:eth:${first}:1`, `1:eth:${first}:2`])
  })

  it.each([
    ['not reached yet', () => `1:eth:${node.seq + 5}:1`],
    ['of a later epoch', () => '9:eth:1:1'],
  ])('a cursor %s: sends a gap notice, then live pushes', async (_name, ahead) => {
    const from = ahead()
    const one = await client()
    const { result } = await one.call('subscribe', ['tx', PAIR, 'eth', { since: from }], 1)
    const [head] = headsOf(result)
    expect((await one.topic('gap')).result).toMatchObject({ from, to: head, refill: `/v2/txs/swap/${PAIR}-eth` })
    await feedTrades(1)
    await one.settle()
    expect(cursorsOf(one.frames)).toEqual([`1:eth:${node.seq}:1`])
  })

  it('of a push that only another node made yet: waits for it, and neither tells of a gap nor repeats it', async () => {
    const one = await client()
    await one.call('subscribe', ['tx', PAIR, 'eth', { since: `1:eth:${node.seq + 1}:2` }], 2)
    await feedTrades(3)
    await feedTrades(1)
    await one.settle()
    const pushed = one.frames.filter(({ id }) => id === 2).map(({ result }) => result?.cursor ?? result?.topic)
    expect(pushed).toEqual([`1:eth:${node.seq - 1}:3`, `1:eth:${node.seq}:1`])
  })

  it('at the head: misses nothing and repeats nothing', async () => {
    const one = await client()
    await one.call('subscribe', ['tx', PAIR, 'eth'], 1)
    await feedTrades(3)
    const cursors = [await one.topic('tx'), await one.topic('tx'), await one.topic('tx')].map((f) => f.result?.cursor)
    const two = await client()
    await two.call('subscribe', ['tx', PAIR, 'eth', { since: cursors[1] }], 1)
    await two.call('subscribe', ['multi_tx', TOKEN, 'eth', { since: cursors[2] }], 2)
    await two.settle()
    expect(two.frames.map(({ id, result }) => [id, result?.cursor])).toEqual([[1, cursors[2]]])
  })

  it('replays many pushes to a slow reader completely, without marking the socket as too slow', async () => {
    const one = await client()
    const [since] = headsOf((await one.call('subscribe', ['liq', PAIR, 'eth'])).result)
    for (let n = 0; n < 30; n++) await feedTrades(200)
    one.socket.pause()
    one.send(JSON.stringify({ jsonrpc: '2.0', method: 'subscribe', params: ['tx', PAIR, 'eth', { since }], id: 1 }))
    await feedTrades(1)
    one.socket.resume()
    await expect.poll(() => cursorsOf(one.frames).length, { timeout: 10_000 }).toBe(30 * 200 + 1)
    expect(new Set(cursorsOf(one.frames)).size).toBe(30 * 200 + 1)
    await feedTrades(1)
    await one.settle()
    expect(cursorsOf(one.frames).at(-1)).toBe(`1:eth:${node.seq}:1`)
    expect(await (await node.rig.get('/metrics')).text()).not.toContain('dextape_serve_sockets_closed_total{')
  })
})

it('sends a gap notice to subscribers when updates are missing from the log', async () => {
  const one = await client()
  await one.call('subscribe', ['tx', PAIR, 'eth'], 1)
  const from = node.seq
  await feed({ seq: from + 3, time: nowS, now: nowS })
  expect((await one.topic('gap')).result).toMatchObject({
    from: expect.stringMatching(new RegExp(`^1:eth:${from}:`)),
    to: `1:eth:${from + 2}:0`,
    refill: expect.stringContaining(`/v2/txs/swap/${PAIR}-eth?from_time=`),
  })
})

it('does not tell subscribers of one chain that updates of another are missing', async () => {
  const [ofEth, ofBsc] = [await client(), await client()]
  await node.rig.feed(update({ chain: 'bsc', seq: 1 }))
  await ofEth.call('subscribe', ['tx', PAIR, 'eth'], 1)
  await ofBsc.call('subscribe', ['tx', '*', 'bsc'], 1)
  await node.rig.feed(update({ chain: 'bsc', seq: 4 }))
  expect((await ofBsc.topic('gap')).result).toMatchObject({ chain: 'bsc', to: '1:bsc:3:0', refill: null })
  await ofEth.settle()
  expect(ofEth.frames.filter(({ result }) => result?.topic === 'gap')).toEqual([])
})

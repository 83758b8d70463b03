/** Which slot is the head if nodes disagree, and how soon it is known. */
import { afterEach, expect, test } from 'vitest'
import type { LiveSlots } from '../../../../../services/ingest/sources/solana/rpc/slot-reader.js'
import type { SlotHeader } from '../../../../../services/ingest/sources/solana/slot-block.js'
import { closeAll, nodeOf, readerOf } from './opened.js'
import { blockAt, blocksIn, chainOf, headerAt, type SlotChain, slotsBut } from './slot-chain.js'
import type { SlotNode } from './slot-node.js'

const { signal } = new AbortController()
afterEach(closeAll)

const chainTo = (to: number): SlotChain => chainOf(slotsBut(1000, to, 1010))

/** The next head, and those after it. */
function headsOf(reader: ReturnType<typeof readerOf>): { next(): Promise<unknown>; stop(): Promise<void> } {
  const ended = new AbortController()
  const heads = reader.heads(ended.signal)
  return {
    next: async () => (await heads.next()).value,
    async stop() {
      ended.abort()
      await heads.return(undefined)
    },
  }
}

const isSubscribed = async (node: SlotNode, method: string): Promise<void> => {
  while (node.countOf(method) === 0) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('polls for heads at the pace of slots', async () => {
  const node = await nodeOf(chainTo(1200))
  node.head = 1100
  const heads = headsOf(readerOf(node.url))
  expect(await heads.next()).toEqual({ number: 1100 })
  node.head = 1102
  expect(await heads.next()).toEqual({ number: 1102 })
  await heads.stop()
})

test('polls less often under a request limit', async () => {
  const node = await nodeOf(chainTo(1200))
  const waits: number[] = []
  const ended = new AbortController()
  const reader = readerOf(node.url, {
    maxRps: 4,
    sleep: async (ms) => {
      waits.push(ms)
      if (waits.length === 2) ended.abort()
    },
  })
  for await (const _ of reader.heads(ended.signal));
  expect(waits).toEqual([1000, 1000])
})

test('the highest head of all nodes wins; a node far behind is marked and asked last', async () => {
  const behind = await nodeOf(chainTo(1200))
  const ahead = await nodeOf(chainTo(1200))
  behind.head = 1100
  const reader = readerOf([behind.url, ahead.url])
  expect(await reader.head(signal)).toEqual({ number: 1200 })
  expect(reader.status().map(({ healthy, reason, head }) => ({ healthy, reason, head }))).toEqual([
    { healthy: false, reason: '100 blocks behind', head: 1100 },
    { healthy: true, reason: null, head: 1200 },
  ])
  behind.asked.length = 0
  expect(await reader.range(1190, 1200, signal)).toEqual(blocksIn(ahead.chain, 1190, 1200))
  expect(behind.countOf('getBlock')).toBe(0)
})

test('ignores a lower head, unless the old one is gone for longer than nodes usually differ', async () => {
  const node = await nodeOf(chainTo(1200))
  let now = 1_000_000
  const reader = readerOf(node.url, { nowMs: () => now })
  expect(await reader.head(signal)).toEqual({ number: 1200 })
  node.interfere = ({ method }) => (method === 'getSlot' ? { result: 1190 } : undefined)
  const headersBefore = node.countOf('getBlock')
  expect(await reader.head(signal)).toEqual({ number: 1200 })
  expect(node.countOf('getBlock')).toBe(headersBefore)
  // When requested, the block is there.
  now += 11_000
  expect(await reader.head(signal)).toEqual({ number: 1200 })
  node.interfere = () => undefined
  node.head = 1190
  now += 11_000
  expect(await reader.head(signal)).toEqual({ number: 1190 })
})

test('rejects a head far above all others from a node without a block there', async () => {
  const mad = await nodeOf(chainTo(1200), ({ method }) => (method === 'getSlot' ? { result: 9_000_000 } : undefined))
  const sane = await nodeOf(chainTo(1200))
  const reader = readerOf([mad.url, sane.url])
  expect(await reader.head(signal)).toEqual({ number: 1200 })
  expect(reader.status()[0]?.errors).toMatchObject({ lies: 1 })
  const alone = readerOf(mad.url, { patience: { attempts: 2, ms: 2_000 } })
  await expect(alone.head(signal)).rejects.toMatchObject({ code: 'node_lies', retry: true })
})

test('a slot notification triggers a poll at once', async () => {
  const node = await nodeOf(chainTo(1200))
  node.head = 1100
  // Only a notification ends a pause.
  const never = (_: number, until: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (until.aborted) resolve()
      else until.addEventListener('abort', () => resolve(), { once: true })
    })
  const heads = headsOf(readerOf(node.wsUrl, { sleep: never }))
  expect(await heads.next()).toEqual({ number: 1100 })
  await isSubscribed(node, 'slotSubscribe')
  node.head = 1101
  const next = heads.next()
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(node.notify('slotNotification', { slot: 1103, parent: 1102, root: 1070 })).toBe(1)
  expect(await next).toEqual({ number: 1101 })
  await heads.stop()
})

/** A stream whose blocks the test sends. */
function liveOf(chain: SlotChain): LiveSlots & { send(slot: number): void; sent: Set<number> } {
  const sent = new Set<number>()
  const listeners = new Set<(header: SlotHeader) => void>()
  return {
    sent,
    take: (slot) => (sent.has(slot) ? blockAt(chain, slot) : undefined),
    forget: (slot) => void sent.delete(slot),
    onSlot(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    send(slot) {
      sent.add(slot)
      for (const listener of listeners) listener(headerAt(chain, slot))
    },
  }
}

test('a pushed block becomes the head at once and is not requested', async () => {
  const node = await nodeOf(chainTo(1200))
  node.head = 1100
  const live = liveOf(node.chain)
  const reader = readerOf(node.url, { live })
  const heads = headsOf(reader)
  expect(await heads.next()).toEqual({ number: 1100 })
  const next = heads.next()
  live.send(1101)
  expect(await next).toEqual(headerAt(node.chain, 1101))
  node.asked.length = 0
  expect(await reader.range(1101, 1101, signal)).toEqual([blockAt(node.chain, 1101)])
  expect(node.asked).toEqual([])
  await heads.stop()
})

test('a pushed block of an abandoned fork is dropped, and the slot is requested', async () => {
  const chain = chainTo(1200)
  const dead = chainOf([1198, 1199], { slot: 1197, ...chain.get(1197) } as never, 'b')
  const node = await nodeOf(chain)
  const live = liveOf(dead)
  const reader = readerOf(node.url, { live })
  await reader.head(signal)
  live.send(1198)
  live.send(1199)
  expect(await reader.range(1196, 1200, signal)).toEqual(blocksIn(chain, 1196, 1200))
  expect([...live.sent]).toEqual([])
})

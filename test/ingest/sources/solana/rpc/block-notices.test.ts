/** Blocks that a node pushes, if it supports it. */
import { afterEach, expect, test } from 'vitest'
import { blockNoticesStream } from '../../../../../services/ingest/sources/solana/rpc/block-notices.js'
import type { SlotBlock } from '../../../../../services/ingest/sources/solana/slot-block.js'
import { closeAll, nodeOf } from './opened.js'
import { blockAt, chainOf, slotsBut } from './slot-chain.js'
import { refuse, type SlotNode } from './slot-node.js'

afterEach(closeAll)
const CHAIN = chainOf(slotsBut(1000, 1020))

const streamOf = (node: SlotNode, maxSilentMs = 30_000) =>
  blockNoticesStream({ chain: 'solana', url: node.wsUrl, commitment: 'confirmed', maxSilentMs })

const notice = (slot: number, value: object = {}) => ({
  context: { slot },
  value: { slot, block: CHAIN.get(slot), err: null, ...value },
})

/** Sends it once there is a subscriber. */
async function send(node: SlotNode, result: unknown): Promise<void> {
  while (node.notify('blockNotification', result) === 0) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('yields blocks as they are sent, and skips invalid ones', async () => {
  const node = await nodeOf(CHAIN)
  const ended = new AbortController()
  const blocks = streamOf(node).blocks(undefined, ended.signal)
  const first = blocks.next()
  await send(node, notice(1000))
  expect(await first).toEqual({ done: false, value: blockAt(CHAIN, 1000) })
  const second = blocks.next()
  const [transaction] = CHAIN.get(1001)?.transactions ?? []
  for (const bad of [
    notice(1001, { block: null, err: 'BlockStoreError' }),
    notice(1001, { block: { ...CHAIN.get(1001), transactions: [{ ...transaction, meta: null }] } }),
    notice(1001, { block: { ...CHAIN.get(1001), blockTime: null } }),
    notice(1001, { slot: 'x' }),
    null,
    notice(1002),
  ])
    await send(node, bad)
  expect(await second).toEqual({ done: false, value: blockAt(CHAIN, 1002) })
  expect(node.asked).toEqual([
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'blockSubscribe',
      params: [
        'all',
        {
          commitment: 'confirmed',
          encoding: 'json',
          transactionDetails: 'full',
          maxSupportedTransactionVersion: 0,
          showRewards: false,
        },
      ],
    },
  ])
  ended.abort()
  expect(await blocks.next()).toEqual({ done: true, value: undefined })
})

test('a lost connection is an error, and the next call reconnects', async () => {
  const node = await nodeOf(CHAIN)
  const stream = streamOf(node)
  const { signal } = new AbortController()
  const blocks = stream.blocks(undefined, signal)
  const first = blocks.next()
  await send(node, notice(1000))
  await first
  const next = blocks.next()
  node.dropSockets()
  await expect(next).rejects.toMatchObject({ name: 'NodeFault', kind: 'unavailable', retry: true })
  const again = stream.blocks(1001, signal)
  const third = again.next()
  await send(node, notice(1003))
  expect(await third).toEqual({ done: false, value: blockAt(CHAIN, 1003) })
  stream.close()
  expect(await again.next()).toEqual({ done: true, value: undefined })
})

test('a long silence counts as a lost connection', async () => {
  const node = await nodeOf(CHAIN)
  const blocks = streamOf(node, 60).blocks(undefined, new AbortController().signal)
  await expect(blocks.next()).rejects.toMatchObject({ kind: 'timeout' })
})

test('a node without support yields nothing, another refusal is an error', async () => {
  const node = await nodeOf(CHAIN, ({ method }) =>
    method === 'blockSubscribe' ? refuse(-32601, 'Method not found') : undefined,
  )
  const ended = new AbortController()
  const blocks = streamOf(node, 60).blocks(undefined, ended.signal)
  const next = blocks.next()
  const first = await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 200, 'nothing'))])
  expect(first).toBe('nothing')
  ended.abort()
  expect(await next).toEqual({ done: true, value: undefined } satisfies IteratorResult<SlotBlock>)

  node.interfere = () => refuse(-32603, 'Internal Error: Subscription refused. Node subscription limit reached')
  const refused = streamOf(node).blocks(undefined, new AbortController().signal)
  await expect(refused.next()).rejects.toMatchObject({ kind: 'node_error' })
})

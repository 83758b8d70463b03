import { expect, test } from 'vitest'
import { sleep } from '../../../../services/core/runtime/backoff.js'
import { createHeadTracker, followHeads } from '../../../../services/ingest/sources/evm/rpc/heads.js'
import { NodeFault } from '../../../../services/ingest/sources/nodes/node-fault.js'
import { watchHeads } from '../../../../services/ingest/sources/nodes/watch-heads.js'

const { signal } = new AbortController()

test('passes a failed poll to the caller, because a chain whose nodes are down must not look healthy', async () => {
  const gone = new NodeFault({ kind: 'unavailable', endpoint: 'node.example', detail: 'ECONNREFUSED' })
  let polls = 0
  const poll = async (): Promise<number> => {
    if (++polls > 1) throw gone
    return 1
  }
  const heads = watchHeads<number>(
    { poll, pollMs: () => 1, keyOf: (head) => head, listen: async () => {}, nowMs: () => 0, sleep },
    signal,
  )
  expect(await heads.next()).toEqual({ value: 1, done: false })
  await expect(heads.next()).rejects.toBe(gone)
})

test('yields the head of an idle chain again, so that rejected blocks are retried', async () => {
  const header = { number: 7, hash: '0x07', parentHash: '0x06', timeS: 0, bloom: null, txCount: null }
  const tracker = { ...createHeadTracker({ endpoints: [] } as never, {} as never, () => 0), head: async () => header }
  let nowMs = 0
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms
  }
  const heads = followHeads(
    {
      ...{ chain: 'eth', pool: { endpoints: [] } as never, tracker, timeoutMs: 1, maxRps: undefined, random: () => 0 },
      ...{ nowMs: () => nowMs, sleep: pass },
    },
    signal,
  )
  await heads.next()
  const { value } = await heads.next()
  expect({ value, nowMs }).toEqual({ value: { number: 7, hash: '0x07', parentHash: '0x06', timeS: 0 }, nowMs: 2000 })
})

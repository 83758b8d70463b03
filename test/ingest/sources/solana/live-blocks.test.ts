/** Streams that disconnect, lie and repeat themselves, and the blocks kept from them. */
import { status } from '@grpc/grpc-js'
import { describe, expect, it } from 'vitest'
import { followStreams, type LiveOptions } from '../../../../services/ingest/sources/solana/live-blocks.js'
import type { BlockStream, SlotHeader } from '../../../../services/ingest/sources/solana/slot-block.js'
import { layCable } from './geyser/cable.js'
import { blockUpdate, hashOf } from './geyser/geyser-blocks.js'
import { serve } from './geyser/geyser-rig.js'

/** Short waits, so that a stream reconnects at once. */
const QUICK = { random: () => 0 }

/** Resolves with the headers received, as soon as the one of that slot arrives. */
async function until(slot: number, options: LiveOptions, look: (live: ReturnType<typeof followStreams>) => void) {
  const live = followStreams({ ...QUICK, ...options })
  const headers: SlotHeader[] = []
  await new Promise<void>((resolve) => {
    live.onSlot((header) => {
      headers.push(header)
      if (header.number === slot) resolve()
    })
  })
  look(live)
  await live.close()
  return headers
}

describe('live blocks', () => {
  it('resume after the last slot when a stream disconnects', async () => {
    const rig = await serve(async (visitor) => {
      const from = Number(visitor.fromSlot ?? 10)
      for (let slot = from; slot < from + 3; slot += 1) await visitor.send(blockUpdate(slot))
      visitor.refuse(status.INTERNAL, 'lagged to receive geyser messages')
    })
    const lost: unknown[] = []
    const headers = await until(17, { streams: [rig.open()], onLost: (_name, error) => lost.push(error) }, (live) => {
      expect([10, 12, 13, 17].map((slot) => live.take(slot)?.hash)).toEqual(
        [10, 12, 13, 17].map((slot) => hashOf(slot)),
      )
    })
    expect(headers.map(({ number }) => number)).toEqual([10, 11, 12, 13, 14, 15, 16, 17])
    expect(headers[0]).toEqual({
      number: 10,
      hash: hashOf(10),
      parentNumber: 9,
      parentHash: hashOf(9),
      timeS: 1_760_000_010,
    })
    expect(rig.server.visitors.slice(0, 3).map(({ fromSlot }) => fromSlot)).toEqual([undefined, '13', '16'])
    expect(lost.slice(0, 2)).toMatchObject([{ kind: 'node_error' }, { kind: 'node_error' }])
  })

  it('resume after the last slot when the endpoint was down', async () => {
    const rig = await serve((visitor) => visitor.send(blockUpdate(Number(visitor.fromSlot ?? 20))))
    const cable = await layCable(rig.server.url)
    const lost: unknown[] = []
    const live = followStreams({
      ...QUICK,
      streams: [rig.open({ url: cable.url })],
      onLost: (_name, error) => {
        if (lost.push(error) === 3) cable.mend()
      },
    })
    await new Promise<void>((resolve) => {
      live.onSlot(({ number }) => (number === 20 ? cable.cut() : resolve()))
    })
    await live.close()
    cable.stop()
    const fault = { kind: 'unavailable', endpoint: new URL(cable.url).host }
    expect(lost).toMatchObject([fault, fault, fault])
    expect(rig.server.visitors.map(({ fromSlot }) => fromSlot)).toEqual([undefined, '21'])
  })

  it('are kept up to a limit, the later of two for a slot', async () => {
    const rig = await serve(async (visitor) => {
      for (let slot = 1; slot <= 40; slot += 1) await visitor.send(blockUpdate(slot))
      await visitor.send(blockUpdate(39, [], { blockhash: hashOf(39, 1) }))
      await visitor.send(blockUpdate(40))
      await visitor.send(blockUpdate(41))
    })
    const headers = await until(41, { streams: [rig.open({ maxWaiting: 50 })] }, (live) => {
      const held = Array.from({ length: 50 }, (_, slot) => slot).filter((slot) => live.take(slot) !== undefined)
      expect(held).toEqual(Array.from({ length: 32 }, (_, at) => 10 + at))
      expect(live.take(39)?.hash).toBe(hashOf(39, 1))
      live.forget(39)
      expect(live.take(39)).toBeUndefined()
    })
    expect(headers.slice(38).map(({ hash }) => hash)).toEqual([hashOf(39), hashOf(40), hashOf(39, 1), hashOf(41)])
  })

  it('come from any of several streams, each block once, with a status per stream', async () => {
    const good = await serve(async (visitor) => {
      await visitor.send(blockUpdate(7))
      await visitor.send(blockUpdate(8))
    })
    const bad = await serve(() => {})
    const streams = [good.open(), good.open(), bad.open({ token: 'another-secret' })]
    const live = followStreams({ ...QUICK, streams })
    const slots: number[] = []
    live.onSlot(({ number }) => slots.push(number))
    while (live.status().some(({ lastSlot, error }) => lastSlot !== 8 && error === null))
      await new Promise((resolve) => setImmediate(resolve))
    expect(slots).toEqual([7, 8])
    const [{ name } = { name: '' }] = streams
    expect(live.status()).toEqual([
      { name, connected: true, lastSlot: 8, error: null },
      { name, connected: true, lastSlot: 8, error: null },
      {
        name: bad.open().name,
        connected: false,
        lastSlot: null,
        error: expect.stringContaining('denied access') as string,
      },
    ])
    await live.close()
    expect(live.status().map(({ connected }) => connected)).toEqual([false, false, false])
  })

  it('do not ask a stream again for a slot it lied about', async () => {
    const rig = await serve(async (visitor) => {
      if (visitor.fromSlot === undefined) await visitor.send(blockUpdate(rig.server.visitors.length === 1 ? 4 : 9))
      await visitor.send(blockUpdate(5, [], { blockhash: '' }))
    })
    await until(9, { streams: [rig.open()] }, () => {})
    expect(rig.server.visitors.slice(0, 2).map(({ fromSlot }) => fromSlot)).toEqual([undefined, undefined])
  })

  it('wait longer after each attempt without a block, and start over after one', async () => {
    const waits: number[] = []
    let attempts = 0
    const stream: BlockStream = {
      name: 'a node',
      async *blocks() {
        attempts += 1
        if (attempts === 4) yield { number: 1, hash: 'b', parentNumber: 0, parentHash: 'a', timeS: 0, transactions: [] }
        throw new Error('no')
      },
      close: () => {},
    }
    let stop = () => {}
    const enough = new Promise<void>((resolve) => {
      stop = resolve
    })
    const live = followStreams({
      streams: [stream],
      random: () => 1,
      sleep: async (ms) => {
        waits.push(ms)
        if (waits.length === 6) stop()
      },
    })
    await enough
    await live.close()
    expect(waits.slice(0, 6)).toEqual([500, 1_000, 2_000, 500, 1_000, 2_000])
  })
})

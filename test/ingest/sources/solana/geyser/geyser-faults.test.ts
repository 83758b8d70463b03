/** Failures of a Geyser endpoint, and how they are reported. */
import { describe, expect, it } from 'vitest'
import { memoryBook } from '../../../../../services/ingest/decode/solana/block/book.js'
import { decodeSolanaBlock } from '../../../../../services/ingest/decode/solana/block/decode-block.js'
import { BadTransaction } from '../../../../../services/ingest/decode/solana/decode-errors.js'
import { NodeFault } from '../../../../../services/ingest/sources/nodes/node-fault.js'
import { readBlock } from '../../../../../services/ingest/sources/solana/geyser/geyser-block.js'
import {
  geyserService,
  type SubscribeUpdate,
} from '../../../../../services/ingest/sources/solana/geyser/geyser-service.js'
import { rulesOf } from '../../../decode/solana/block/decoded.js'
import { blockUpdate, generatedForGeyser, wireInfo, wireTransaction } from './geyser-blocks.js'
import { serve, TOKEN, testSignal } from './geyser-rig.js'

describe('an error names the endpoint', () => {
  it('that rejects the token, without showing the token', async () => {
    const rig = await serve(() => {})
    const error = await rig.fault(undefined, { token: 'another-secret' })
    const { host } = new URL(rig.server.url)
    expect(error).toMatchObject({
      kind: 'denied',
      code: 'node_denies',
      endpoint: host,
      detail: 'No valid auth token: (hidden)',
    })
    expect(await rig.fault(undefined, { token: undefined })).toMatchObject({ kind: 'denied' })
  })

  it('that disconnected, after the blocks it sent', async () => {
    const rig = await serve(async (visitor) => {
      await visitor.send(blockUpdate(3))
      await visitor.send(blockUpdate(4))
    })
    const got: number[] = []
    const all = async () => {
      for await (const { number } of rig.open().blocks(undefined, testSignal()))
        if (got.push(number) === 2) rig.server.stop()
    }
    await expect(all()).rejects.toMatchObject({
      kind: 'unavailable',
      retry: true,
      endpoint: new URL(rig.server.url).host,
    })
    expect(got).toEqual([3, 4])
  })

  it('that does not exist', async () => {
    const rig = await serve(() => {})
    rig.server.stop()
    expect(await rig.fault()).toMatchObject({ kind: 'unavailable' })
    expect(await rig.fault(undefined, { url: rig.server.url.replace('http:', 'https:') })).toMatchObject({
      kind: 'unavailable',
    })
  })

  it('that sends nothing', async () => {
    const rig = await serve(() => {})
    expect(await rig.fault(undefined, { maxSilentMs: 100 })).toMatchObject({
      kind: 'timeout',
      detail: 'no message within 0.1 s',
    })
  })

  it.each([
    ['no hash', { blockhash: '' }, 'blockhash must be a key, got ""'],
    ['no parent', { parentBlockhash: 'x' }, 'parent_blockhash must be a key, got "x"'],
    ['no time', { blockTime: undefined }, 'block_time must be an object, got null'],
    ['a time before 1970', { blockTime: { timestamp: -5 } }, 'block_time must be a whole number, got "-5"'],
    ['a parent after it', { parentSlot: 8 }, 'parent_slot must be below the slot 5, got 8'],
    [
      'a slot above any valid number',
      { slot: '18446744073709551615' },
      'slot must be a whole number, got "18446744073709551615"',
    ],
    [
      'missing transactions',
      { executedTransactionCount: 3 },
      'transactions must be all 3 executed transactions, got 0',
    ],
    ['a duplicate index', oneTwice(), 'transactions has index 4 twice'],
  ])('whose block has %s', async (_what, changed, detail) => {
    const rig = await serve((visitor) => visitor.send(blockUpdate(5, [], changed)))
    expect(await rig.fault()).toMatchObject({ kind: 'lies', detail: `sent an invalid block: ${detail}` })
  })

  it('whose messages are not valid', async () => {
    const rig = await serve((visitor) => visitor.send(Buffer.from('2a0affffffffffffff', 'hex')))
    expect(await rig.fault(7)).toMatchObject({
      kind: 'lies',
      detail: expect.stringContaining('parsing error') as string,
    })
  })

  it('with random changes in the bytes of a block, and is never another error', async () => {
    const whole = geyserService().subscribe.responseSerialize(
      blockUpdate(5, generatedForGeyser().slice(0, 2).map(wireTransaction)),
    )
    const random = fromSeed(1)
    const changed = () => {
      const bytes = Buffer.from(whole)
      // Once in the block's own fields, because they are few.
      for (const below of [120, bytes.length, bytes.length]) bytes[random(Math.min(below, bytes.length))] = random(256)
      return bytes
    }
    for (let run = 0; run < 150; run += 1) {
      const bytes = changed()
      let update: SubscribeUpdate
      try {
        update = geyserService().subscribe.responseDeserialize(bytes)
      } catch {
        // gRPC turns anything thrown here into a status.
        continue
      }
      try {
        const { number, transactions } = readBlock(update.block, true)
        const { lost } = decodeSolanaBlock(number, transactions, memoryBook(), rulesOf())
        for (const { reason, value } of lost) expect([reason, JSON.stringify(value)]).not.toContain('decoder_failed')
      } catch (error) {
        expect(error).toBeInstanceOf(BadTransaction)
      }
    }
    const rig = await serve(async (visitor) => {
      await visitor.send(changed())
      visitor.end()
    })
    for (let run = 0; run < 10; run += 1) expect(await rig.fault()).toBeInstanceOf(NodeFault)
  })
})

describe('an invalid configuration', () => {
  it.each([
    ['ws://node.example:10000', TOKEN, 'expected https://host:port, or http:// without TLS; got ws://'],
    [`https://node.example/${TOKEN}`, TOKEN, 'has a path or a query'],
    ['https://node.example:443', 'one\ntwo', 'a token with other characters (hidden)'],
  ])('is rejected: %s', async (url, token, message) => {
    const rig = await serve(() => {})
    expect(() => rig.open({ url, token })).toThrow(message)
    expect(() => rig.open({ url, token })).not.toThrow(token)
  })
})

function oneTwice() {
  const one = wireInfo(4)
  return { executedTransactionCount: 2, transactions: [one, one] }
}

function fromSeed(seed: number): (below: number) => number {
  let at = seed
  return (below) => {
    at = (at * 48_271) % 2_147_483_647
    return at % below
  }
}

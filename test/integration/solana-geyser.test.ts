/** The source with a node and a Geyser stream: blocks the stream misses are requested, and the tape is the same. */
import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { asYellowstone, type JsonTransaction } from '../ingest/decode/solana/encodings.js'
import { wireInfo } from '../ingest/sources/solana/geyser/geyser-blocks.js'
import { type GeyserServer, startGeyser, type Visitor } from '../ingest/sources/solana/geyser/geyser-server.js'
import { acceptedBlocks } from '../rig/reference/lines.js'
import { createLedger, type Ledger, type LedgerBlock } from '../rig/solana/ledger.js'
import { startRpcServer } from '../rig/solana/rpc-server.js'
import { openSolanaPlace, type SolanaPlace } from '../rig/solana/source-run.js'

const TOKEN = 's3cret'
const WITHIN_MS = 15_000
const HISTORY = { blocks: 30 }
const LIVE_BLOCKS = 25
const SLOT_MS = 20

const ends: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

describe('a Geyser stream beside a node', () => {
  test('replaces block requests, loses no block while it is down, and resumes when it is back', async () => {
    const ledger = createLedger({ seed: 7, weights: { garbled: 0 } })
    ledger.advance(HISTORY)
    const node = await startRpcServer(ledger)
    ends.push(() => node.stop())
    let geyser = await startStream(ledger)
    const place = openPlace()
    const run = await place.start({ urls: [node.url], geyser: [{ url: geyser.url, token: TOKEN }] })
    ends.push(async () => void (await run.stop()))
    await reach(ledger, place)

    const before = node.asked.get('getBlock') ?? 0
    await advanceLive(ledger)
    await reach(ledger, place)
    // Not zero: on a busy machine some blocks are requested before the stream sends them.
    expect((node.asked.get('getBlock') ?? 0) - before).toBeLessThan(LIVE_BLOCKS)
    expect(geyser.visitors[0]?.token).toBe(TOKEN)

    geyser.stop()
    await advanceLive(ledger)
    await reach(ledger, place)

    const port = Number(new URL(geyser.url).port)
    geyser = await startStream(ledger, port)
    await until(() => geyser.visitors.length > 0)
    expect(Number(geyser.visitors[0]?.fromSlot)).toBeGreaterThan(0)
    await advanceLive(ledger)
    await reach(ledger, place)
    const streamed = acceptedBlocks(await place.lines())

    const alone = openPlace()
    const clean = await alone.start({ urls: [node.url] })
    await reach(ledger, alone)
    await clean.stop()
    expect(withoutFinality(streamed)).toEqual(withoutFinality(acceptedBlocks(await alone.lines())))
    expect(streamed.length).toBeGreaterThan(LIVE_BLOCKS)
  }, 60_000)
})

function openPlace(): SolanaPlace {
  const place = openSolanaPlace()
  ends.push(() => place.close())
  return place
}

/** Sends existing blocks from the requested slot on, then every new one. */
async function startStream(ledger: Ledger, port = 0): Promise<GeyserServer> {
  const server = await startGeyser(
    async (visitor) => {
      const from = Number(visitor.fromSlot ?? ledger.tip.slot)
      const waiting = ledger.blocks.filter(({ slot }) => slot >= from)
      const end = ledger.onBlock((block) => void waiting.push(block))
      while (!visitor.gone) {
        const block = waiting.shift()
        if (block === undefined) await setTimeout(1)
        else await send(visitor, block)
      }
      end()
    },
    TOKEN,
    port,
  )
  ends.push(() => server.stop())
  return server
}

function send(visitor: Visitor, block: LedgerBlock): Promise<void> {
  const { slot, parentSlot, blockhash, previousBlockhash, blockTimeS, transactions } = block
  return visitor.send({
    block: {
      ...{ slot, parentSlot, blockhash, parentBlockhash: previousBlockhash, blockTime: { timestamp: blockTimeS } },
      executedTransactionCount: transactions.length,
      transactions: transactions.map(wired),
    },
  })
}

function wired(json: JsonTransaction, index: number): object {
  const { transaction, meta } = asYellowstone(json, (bytes) => bytes) as { transaction: object; meta: object }
  const failed = (json.meta as { err?: unknown }).err ?? null
  return wireInfo(index, transaction, failed === null ? meta : { ...meta, err: { err: Buffer.from([1]) } })
}

async function advanceLive(ledger: Ledger): Promise<void> {
  for (let made = 0; made < LIVE_BLOCKS; made += 1) {
    ledger.advance({ blocks: 1 })
    await setTimeout(SLOT_MS)
  }
  // Blocks without a trade may not be published, so the last one must have one.
  while (ledger.tip.trades.length === 0) ledger.advance({ blocks: 1 })
}

async function reach(ledger: Ledger, place: SolanaPlace): Promise<void> {
  while (ledger.tip.trades.length === 0) ledger.advance({ blocks: 1 })
  expect(await place.reached(ledger.tip.blockhash, WITHIN_MS)).toBe(true)
}

async function until(isSo: () => boolean): Promise<void> {
  for (const endMs = Date.now() + WITHIN_MS; !isSo() && Date.now() < endMs; ) await setTimeout(20)
  expect(isSo()).toBe(true)
}

function withoutFinality<B extends { finalized_number: number }>(blocks: readonly B[]) {
  return blocks.map(({ finalized_number: _, ...block }) => block)
}

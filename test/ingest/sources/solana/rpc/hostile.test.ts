/** History read through nodes that fail, lie and lag: every block is the chain's, and only ones near the head may be missing. */
import { afterEach, expect, test } from 'vitest'
import type { SlotBlock } from '../../../../../services/ingest/sources/solana/slot-block.js'
import { seedsOf } from '../../../../rig/counts.js'
import { blockAnswer } from '../../../../rig/solana/block-answer.js'
import { hostileGate } from '../../../../rig/solana/hostile.js'
import { createLedger, type Ledger, type LedgerBlock } from '../../../../rig/solana/ledger.js'
import { startRpcServer } from '../../../../rig/solana/rpc-server.js'
import { closeAll, readerOf, toClose } from './opened.js'

const RANGE_SLOTS = 20
const { signal } = new AbortController()
afterEach(closeAll)

/** As the node returns it. */
function asRead(block: LedgerBlock): SlotBlock {
  const { slot, blockhash, parentSlot, previousBlockhash, blockTimeS } = block
  const { transactions = [] } = blockAnswer(block, { maxSupportedTransactionVersion: 0 })
  return {
    ...{ number: slot, hash: blockhash, parentNumber: parentSlot, parentHash: previousBlockhash, timeS: blockTimeS },
    transactions: transactions.map((value, index) => ({ index, value })),
  }
}

const between = (ledger: Ledger, from: number, to: number): SlotBlock[] =>
  ledger.blocks.filter(({ slot }) => slot >= from && slot <= to).map(asRead)

test.each(seedsOf('solanaReaderSeeds'))('seed %i', async (seed) => {
  const ledger = createLedger({ seed, isRepeated: () => false })
  ledger.advance({ blocks: 100 })
  const servers = await Promise.all(
    [1, 2].map((node) => {
      const gate = hostileGate(ledger, { seed: seed * 10 + node, silenceMs: 100, errorChance: 0.1, lieChance: 0.1 })
      return startRpcServer(ledger, { gate, behindSlots: () => (node === 2 ? 3 : 0) })
    }),
  )
  for (const server of servers) toClose(server.stop)
  const [first, second] = servers.map(({ url, wsUrl }) => (seed % 3 === 0 ? wsUrl : url)) as [string, string]
  const reader = readerOf(seed % 2 === 0 ? [first, second] : [first], { timeoutMs: 1_000 })
  const head = await reader.head(signal)
  const final = (await reader.finalized(signal)) ?? 0
  // The first block has a parent that no node has.
  const from = ledger.blocks[1]?.slot ?? 0
  for (let low = from; low <= head.number; low += RANGE_SLOTS) {
    const high = Math.min(head.number, low + RANGE_SLOTS - 1)
    const blocks = await reader.range(low, high, signal)
    const whole = between(ledger, low, high)
    if (high <= final) expect(blocks).toEqual(whole)
    else {
      // The last block is not proven yet, so it is not compared.
      const linked = blocks.slice(0, -1)
      expect(linked).toEqual(whole.slice(0, linked.length))
      expect(whole.length - blocks.length).toBeLessThanOrEqual(5)
    }
  }
})

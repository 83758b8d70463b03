/** The simulated chain is linked, repeatable from its seed, and without its orphaned blocks. */
import { describe, expect, it } from 'vitest'
import { memoryBook } from '../../../services/ingest/decode/solana/block/book.js'
import { decodeSolanaBlock } from '../../../services/ingest/decode/solana/block/decode-block.js'
import { WRAPPED_SOL } from '../../../services/ingest/decode/solana/native-programs.js'
import { readBodies } from '../../../services/ingest/decode/solana/wire/parse-block.js'
import { rulesOf } from '../../ingest/decode/solana/block/decoded.js'
import { blockAnswer } from '../../rig/solana/block-answer.js'
import { createLedger, type Ledger } from '../../rig/solana/ledger.js'
import { MOVING_POOL, MOVING_TOKEN } from '../../rig/solana/moving-pool.js'

const hashesOf = ({ blocks }: Ledger) => blocks.map(({ blockhash }) => blockhash)

function expectLinked({ blocks }: Ledger): void {
  for (const [at, block] of blocks.slice(1).entries()) {
    const parent = blocks[at]
    expect({
      ...{ parentSlot: block.parentSlot, hash: block.previousBlockhash, height: block.blockHeight },
      isLater: block.slot > block.parentSlot && block.blockTimeS >= (parent?.blockTimeS ?? 0),
    }).toEqual({
      ...{ parentSlot: parent?.slot, hash: parent?.blockhash, height: (parent?.blockHeight ?? 0) + 1 },
      isLater: true,
    })
  }
}

describe('a ledger', () => {
  it('is the same for a seed, whatever the steps, and differs for another', () => {
    const [whole, stepped, other] = [createLedger({ seed: 1 }), createLedger({ seed: 1 }), createLedger({ seed: 2 })]
    whole.advance({ slots: 60 })
    for (let slot = 0; slot < 60; slot += 1) stepped.advance()
    other.advance({ slots: 60 })
    expect(stepped.blocks).toEqual(whole.blocks)
    expect(hashesOf(other)).not.toEqual(hashesOf(whole))
    expectLinked(whole)
    // Some slots were skipped.
    expect(whole.blocks.length).toBeLessThan(61)
    expect(whole.finalizedSlot).toBeLessThanOrEqual(whole.tip.slot - 32)
    const signatures = whole.blocks.flatMap(({ transactions }) =>
      transactions.flatMap(({ transaction }) => transaction.signatures),
    )
    expect(new Set(signatures).size).toBe(signatures.length)
  })

  it.each([true, false])('continues from an older block after a reorg (in the same slots: %s)', (sameSlots) => {
    const ledger = createLedger({ seed: 3 })
    ledger.advance({ blocks: 20 })
    const before = [...ledger.blocks]
    const ground = before.at(-4)
    if (ground === undefined) throw new Error('no block')
    ledger.die(ground.slot, { branch: 'other', sameSlots })
    expect(ledger.tip).toEqual(ground)
    const [first] = ledger.advance({ blocks: 6 })
    expect(first?.parentSlot).toBe(ground.slot)
    if (!sameSlots) expect(first?.slot).toBeGreaterThan(before.at(-1)?.slot ?? 0)
    expectLinked(ledger)
    expect(hashesOf(ledger).slice(0, before.length - 3)).toEqual(before.slice(0, -3).map(({ blockhash }) => blockhash))
    ledger.advance({ slots: 40 })
    expect(() => ledger.die(ground.slot - 1, { branch: 'deep', sameSlots })).toThrow(/final/)
  })

  it('has trades of every kind; only those corrupted on purpose cannot be decoded', () => {
    const ledger = createLedger({ seed: 4 })
    ledger.advance({ blocks: 60 })
    const [book, rules] = [memoryBook(), rulesOf({ balances: 'all' })]
    const reasons = new Set<string>()
    const types = new Map<string, number>()
    for (const block of ledger.blocks) {
      const answer = blockAnswer(block, { maxSupportedTransactionVersion: 0 })
      const [body] = readBodies({ ...answer, slot: block.slot })
      const { events, lost } = decodeSolanaBlock(block.slot, body?.transactions ?? [], book, rules)
      for (const { reason } of lost) reasons.add(reason)
      const swaps = events.flatMap((event) => (event.type === 'swap' && event.pool === MOVING_POOL ? [event] : []))
      expect(swaps.map(({ amount_in, amount_out, token_in }) => [token_in, amount_in, amount_out])).toEqual(
        block.trades.map(({ isBuy, sol, coin }) =>
          isBuy ? [WRAPPED_SOL, `${sol}`, `${coin}`] : [MOVING_TOKEN, `${coin}`, `${sol}`],
        ),
      )
      for (const { type } of events) types.set(type, (types.get(type) ?? 0) + 1)
    }
    expect([...reasons]).toEqual(['bad_instruction_disagreement'])
    expect([...types.keys()].sort()).toEqual(['balance', 'launch', 'liquidity', 'pool', 'swap', 'token'])
    expect(types.get('swap')).toBeGreaterThan(60)
  })
})

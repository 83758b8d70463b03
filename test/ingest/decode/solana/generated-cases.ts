/** Tests that every program's decoder must pass on generated transactions. */
import { describe, expect, it } from 'vitest'
import { BadInstruction } from '../../../../services/ingest/decode/solana/decode-errors.js'
import { isEventCall } from '../../../../services/ingest/decode/solana/instruction/read-instruction.js'
import type { Program } from '../../../../services/ingest/decode/solana/program-decoder.js'
import type { Instruction } from '../../../../services/ingest/decode/solana/transaction.js'
import { generatedTransactions } from '../../../rig/solana/generated/transactions.js'
import { garble } from './garble.js'
import { callsOf, type ProgramCall } from './real-legs.js'
import { parsed } from './real-transactions.js'

const SEEDS = [1, 2]

type GeneratedOptions = {
  /** The discriminator of an instruction of the program. */
  named?: number
  /** A transferred amount that the program must reject. */
  wrongAmount?: (amount: bigint) => bigint
}

export function describeGenerated(program: Program, amm: string, options: GeneratedOptions = {}): void {
  const { named = 8, wrongAmount = (amount: bigint) => amount + 1n } = options
  describe('generated transactions', () => {
    const made = SEEDS.flatMap((seed) => generatedTransactions(seed)).map((each) => ({
      expected: each.expected,
      calls: callsOf(program, [parsed(each)]).filter(({ instruction }) => !isEventCall(instruction)),
    }))
    const own = made.filter(({ calls }) => calls.length > 0)

    it('decode to the amounts their generator moved', () => {
      expect(own.length).toBeGreaterThan(1)
      for (const { calls, expected } of own)
        expect(calls.flatMap(reportedAmounts)).toEqual(
          expected.flatMap((event) => {
            if ((event.type !== 'swap' && event.type !== 'liquidity') || event.amm !== amm) return []
            return [event.type === 'swap' ? [event.amount_in, event.amount_out] : [event.amount0, event.amount1]]
          }),
        )
    })

    it('are rejected if a transfer differs from the program’s event', () => {
      const changed = own.flatMap(({ calls }) => calls).flatMap((call) => withOtherTransfers(call, wrongAmount))
      const refused = changed.filter(({ instruction, transaction }) => {
        try {
          program.decode(instruction, transaction)
          return false
        } catch (error) {
          if (!(error instanceof BadInstruction)) throw error
          return error.reason === 'disagreement'
        }
      })
      // Some transfers have no event: separate fees, or programs before they had events.
      expect(refused.length).toBeGreaterThan(changed.length / 4)
    })

    it('with random data in any field are rejected or decoded, never another error', () => {
      const samples = own.flatMap(({ calls }) => calls)
      const { decoded, refused } = garble(program, samples, { seed: 11, times: 1_000, named })
      expect(decoded).toBeGreaterThan(50)
      expect(refused).toBeGreaterThan(50)
    })
  })

  function reportedAmounts({ instruction, transaction }: ProgramCall): string[][] {
    return program.decode(instruction, transaction).flatMap((venueEvent) => {
      if (venueEvent.kind === 'swap') return [[`${venueEvent.amountIn}`, `${venueEvent.amountOut}`]]
      return venueEvent.kind === 'liquidity' ? [[`${venueEvent.amount0}`, `${venueEvent.amount1}`]] : []
    })
  }
}

/** The call with a wrong amount, once for each of its transfers. */
function withOtherTransfers(
  { instruction, transaction }: ProgramCall,
  wrongAmount: (amount: bigint) => bigint,
): ProgramCall[] {
  return instruction.inner.flatMap((call, at) => {
    const { transfer } = call
    if (transfer === null || transfer.mint === null) return []
    const wrong: Instruction = { ...call, transfer: { ...transfer, amount: wrongAmount(transfer.amount) } }
    const inner = instruction.inner.map((each, place) => (place === at ? wrong : each))
    return [{ instruction: { ...instruction, inner }, transaction }]
  })
}

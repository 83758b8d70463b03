/** What a program did in the transactions recorded on mainnet, one by one. */
import { inOrder } from '../../../../services/ingest/decode/solana/instruction/execution.js'
import type { Program } from '../../../../services/ingest/decode/solana/program.js'
import type { Instruction, SolanaTransaction } from '../../../../services/ingest/decode/solana/transaction.js'
import { parsed, recordedTransactions } from './real-transactions.js'

export type RealLeg = { name: string; instruction: Instruction; transaction: SolanaTransaction }

export function realLegs(program: Program): RealLeg[] {
  return recordedTransactions().flatMap((real) => {
    const transaction = parsed(real)
    return inOrder(transaction)
      .filter(({ programId }) => program.programIds.includes(programId))
      .map((instruction) => ({ name: real.name, instruction, transaction }))
  })
}

export function legOf(legs: readonly RealLeg[], name: string, at = 0): RealLeg {
  const leg = legs.filter((each) => each.name.includes(name))[at]
  if (leg === undefined) throw new Error(`no instruction ${at} of ${name}`)
  return leg
}

/** Decodes a program's calls in whole transactions, one instruction at a time. */

import type { Program } from '../../../../services/ingest/decode/solana/program-decoder.js'
import {
  type Instruction,
  inOrder,
  type SolanaTransaction,
} from '../../../../services/ingest/decode/solana/transaction.js'
import { everyTransaction, parsed } from './real-transactions.js'

export type ProgramCall = { instruction: Instruction; transaction: SolanaTransaction }
export type RealLeg = ProgramCall & { name: string }

export function callsOf(program: Program, transactions: readonly SolanaTransaction[]): ProgramCall[] {
  return transactions.flatMap((transaction) =>
    inOrder(transaction)
      .filter(({ programId }) => program.programIds.includes(programId))
      .map((instruction) => ({ instruction, transaction })),
  )
}

export function realLegs(program: Program): RealLeg[] {
  return everyTransaction().flatMap((real) =>
    callsOf(program, [parsed(real)]).map((call) => ({ name: real.name, ...call })),
  )
}

export function legOf(legs: readonly RealLeg[], name: string, at = 0): RealLeg {
  const leg = legs.filter((each) => each.name.includes(name))[at]
  if (leg === undefined) throw new Error(`no instruction ${at} of ${name}`)
  return leg
}

/** Garbage in any field of a call: whatever comes of it, a decoder throws nothing but `BadInstruction`. */
import { inOrder } from '../../../../services/ingest/decode/solana/instruction/execution.js'
import { BadInstruction, type Program } from '../../../../services/ingest/decode/solana/program.js'
import type { Instruction, SolanaTransaction } from '../../../../services/ingest/decode/solana/transaction.js'
import { createRandom } from '../../../rig/market/random.js'
import { key } from './anchor-calls.js'

type Random = () => number

/** How many were refused and how many still made sense. */
export function survives(program: Program, transactions: readonly SolanaTransaction[], seed: number, runs: number) {
  const random = createRandom(seed).next
  const outcome = { refused: 0, decoded: 0 }
  for (let run = 0; run < runs; run += 1) {
    const transaction = transactions[run % transactions.length]
    if (transaction === undefined) throw new Error('no transaction to garble')
    const bad = garbled(transaction, random)
    for (const instruction of inOrder(bad)) {
      if (!program.programIds.includes(instruction.programId)) continue
      try {
        program.decode(instruction, bad)
        outcome.decoded += 1
      } catch (error) {
        if (!(error instanceof BadInstruction)) throw error
        outcome.refused += 1
      }
    }
  }
  return outcome
}

function garbled(transaction: SolanaTransaction, random: Random): SolanaTransaction {
  const target = Math.floor(random() * inOrder(transaction).length)
  const change = (instruction: Instruction): Instruction => {
    const changed = { ...instruction, inner: instruction.inner.map(change) }
    return instruction.order === target ? garble(changed, random) : changed
  }
  return { ...transaction, instructions: transaction.instructions.map(change) }
}

function garble(instruction: Instruction, random: Random): Instruction {
  const [{ accounts, data, transfer, programData }, kind] = [instruction, Math.floor(random() * 7)]
  switch (kind) {
    case 0:
      return { ...instruction, data: flipped(data, random) }
    case 1:
      return { ...instruction, data: data.subarray(0, Math.floor(random() * data.length)) }
    case 2:
      return { ...instruction, accounts: accounts.slice(0, Math.floor(random() * accounts.length)) }
    case 3: {
      const changed = [...accounts]
      changed[Math.floor(random() * accounts.length)] = key('nobody')
      return { ...instruction, accounts: changed }
    }
    case 4:
      return transfer === null
        ? { ...instruction, inner: [] }
        : { ...instruction, transfer: { ...transfer, amount: transfer.amount + BigInt(Math.floor(random() * 1e9)) } }
    case 5:
      return { ...instruction, programData: programData?.map((bytes) => flipped(bytes, random)) ?? null }
    default:
      return { ...instruction, programData: null, inner: instruction.inner.slice(1) }
  }
}

function flipped(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(bytes)
  if (copy.length > 0) copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256)
  return copy
}

/** Puts random data in any field of an instruction: a decoder may throw only `BadInstruction`. */

import { BadInstruction } from '../../../../services/ingest/decode/solana/decode-errors.js'
import type { Program } from '../../../../services/ingest/decode/solana/program-decoder.js'
import type { Instruction, SolanaTransaction } from '../../../../services/ingest/decode/solana/transaction.js'
import { createRandom } from '../../../rig/market/random.js'

export type Random = () => number

/** An account that appears nowhere else. */
const NOBODY = 'NobodyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX'

function below(random: Random, limit: number): number {
  return Math.floor(random() * limit)
}

function garbledBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(bytes)
  switch (below(random, 4)) {
    case 0:
      return copy.subarray(0, below(random, copy.length + 1))
    case 1:
      return Buffer.concat([copy, Uint8Array.from({ length: below(random, 40) }, () => below(random, 256))])
    default:
      for (let n = 0; n <= below(random, 4); n += 1) copy[below(random, copy.length)] = below(random, 256)
      return copy
  }
}

/** Mostly keeps the discriminator of the instruction or event, so that the data after it is tested. */
function garbledTail(bytes: Uint8Array, random: Random, named: number): Uint8Array {
  if (random() < 0.2 || bytes.length <= named) return garbledBytes(bytes, random)
  return Buffer.concat([bytes.subarray(0, named), garbledBytes(bytes.subarray(named), random)])
}

function garbledList<T>(list: readonly T[], random: Random): T[] {
  const copy = [...list]
  const [at, other] = [below(random, copy.length), below(random, copy.length)]
  switch (below(random, 4)) {
    case 0:
      copy.splice(at, 1)
      break
    case 1:
      copy.length = at
      break
    case 2: {
      const [one, two] = [copy[at], copy[other]]
      if (one !== undefined && two !== undefined) [copy[at], copy[other]] = [two, one]
      break
    }
    default:
      copy.push(...copy.slice(at, at + 1))
  }
  return copy
}

function garbledAccounts(accounts: readonly string[], random: Random): string[] {
  const replaced = below(random, accounts.length)
  return random() < 0.2
    ? accounts.map((account, place) => (place === replaced ? NOBODY : account))
    : garbledList(accounts, random)
}

function garbledCall(call: Instruction, random: Random): Instruction {
  const { transfer } = call
  if (transfer === null) return { ...call, data: garbledTail(call.data, random, 16) }
  const changes = [
    { amount: BigInt(below(random, 2 ** 40)) },
    { source: transfer.destination },
    { destination: transfer.source },
    { mint: null },
    { fee: transfer.amount + 1n },
  ]
  return random() < 0.1
    ? { ...call, transfer: null }
    : { ...call, transfer: { ...transfer, ...changes[below(random, changes.length)] } }
}

function garbledInstruction(instruction: Instruction, random: Random, named: number): Instruction {
  const { data, accounts, inner, programData, programLogs } = instruction
  switch (below(random, 6)) {
    case 0:
      return { ...instruction, data: garbledTail(data, random, named) }
    case 1:
      return { ...instruction, accounts: garbledAccounts(accounts, random) }
    case 2:
      return { ...instruction, inner: garbledList(inner, random) }
    case 3:
      return { ...instruction, inner: inner.map((call) => (random() < 0.5 ? garbledCall(call, random) : call)) }
    case 4:
      return {
        ...instruction,
        programData: random() < 0.1 ? null : (programData ?? []).map((each) => garbledTail(each, random, 8)),
      }
    default: {
      const lines = (programLogs ?? []).map((line) => `${line.slice(0, 9)}${line.slice(9 + below(random, 12))}`)
      return { ...instruction, programLogs: random() < 0.1 ? null : lines }
    }
  }
}

function garbledTransaction(transaction: SolanaTransaction, random: Random): SolanaTransaction {
  if (random() < 0.8) return transaction
  const lessOf = <T>(map: ReadonlyMap<string, T>) => new Map([...map].filter(() => random() < 0.7))
  return { ...transaction, preTokens: lessOf(transaction.preTokens), postTokens: lessOf(transaction.postTokens) }
}

export type Outcome = { decoded: number; refused: number }

/** Rethrows anything but a `BadInstruction`. `named`: the discriminator of an instruction. */
export function garble(
  program: Program,
  samples: readonly { instruction: Instruction; transaction: SolanaTransaction }[],
  { seed, times, named = 8 }: { seed: number; times: number; named?: number },
): Outcome {
  const random = createRandom(seed).next
  const outcome = { decoded: 0, refused: 0 }
  for (let n = 0; n < times; n += 1) {
    const sample = samples[n % samples.length]
    if (sample === undefined) break
    let { instruction } = sample
    for (let changes = 0; changes <= below(random, 3); changes += 1)
      instruction = garbledInstruction(instruction, random, named)
    try {
      for (const venueEvent of program.decode(instruction, garbledTransaction(sample.transaction, random)))
        if (Object.values(venueEvent).some((value) => typeof value === 'bigint' && value < 0n))
          throw new Error(`an amount below nothing in mutation ${n} of seed ${seed}`)
      outcome.decoded += 1
    } catch (error) {
      if (!(error instanceof BadInstruction)) throw error
      outcome.refused += 1
    }
  }
  return outcome
}

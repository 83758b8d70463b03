/**
 * A Moonshot curve's SOL. It is held in the curve's account besides the rent. A sale pays it out without a transfer,
 * so only the balances before and after show it. Trades do not state the curve type either, but its SOL does:
 * a constant-product curve has exactly what its formula gives for the tokens sold
 * (constants from npm's `@heliofi/launchpad-common`).
 */

import type { Call } from '../../instruction/vault-pool.js'
import { type Instruction, inOrder, lastOrder, type SolanaTransaction } from '../../transaction.js'

/** Rent of the 409 bytes of a curve. */
const RENT = 3_737_520n

type ConstantProduct = { virtualTokens: bigint; virtualLamports: bigint; soldWhenFull: bigint }

const CURVES: readonly ConstantProduct[] = [
  {
    virtualTokens: 1_073_000_000_000_000_000n,
    virtualLamports: 30_000_000_000n,
    soldWhenFull: 799_820_983_207_404_442n,
  },
  {
    virtualTokens: 1_060_000_000_000_000_000n,
    virtualLamports: 14_000_000_000n,
    soldWhenFull: 814_207_069_725_281_919n,
  },
]

/** Each trade may lose a lamport to rounding. */
const ROUNDING_LAMPORTS = 100_000n
const MILLION = 1_000_000n

export type CurveLamports = { before: bigint | null; after: bigint | null }

/** Before and after the instruction, without rent; null: another instruction also changed it on that side. */
export function curveLamports({ instruction, transaction }: Call, curve: string): CurveLamports {
  const place = transaction.accounts.indexOf(curve)
  const last = lastOrder(instruction)
  const others = inOrder(transaction).filter(({ order }) => order < instruction.order || order > last)
  const isMoved = (isThere: (order: number) => boolean) =>
    others.some((other) => isThere(other.order) && moves(other, instruction.programId, curve))
  return {
    before: isMoved((order) => order < instruction.order) ? null : own(transaction.preLamports[place]),
    after: isMoved((order) => order > last) ? null : own(transaction.postLamports[place]),
  }
}

/** 0 to 1, to the millionth; null: another curve type, or its SOL is unknown. */
export function curveProgress(sold: bigint, lamports: bigint | null): number | null {
  if (lamports === null) return null
  for (const { virtualTokens, virtualLamports, soldWhenFull } of CURVES) {
    if (sold >= virtualTokens) continue
    const expected = (virtualTokens * virtualLamports) / (virtualTokens - sold) - virtualLamports
    const isOff = lamports > expected + ROUNDING_LAMPORTS || expected > lamports + ROUNDING_LAMPORTS
    if (!isOff) return sold >= soldWhenFull ? 1 : Number((sold * MILLION) / soldWhenFull) / Number(MILLION)
  }
  return null
}

function moves({ programId, accounts, transfer }: Instruction, moonshot: string, curve: string): boolean {
  if (transfer !== null) return transfer.mint === null && (transfer.source === curve || transfer.destination === curve)
  return programId === moonshot && accounts.includes(curve)
}

function own(lamports: SolanaTransaction['preLamports'][number] | undefined): bigint | null {
  return lamports === undefined || lamports < RENT ? null : lamports - RENT
}

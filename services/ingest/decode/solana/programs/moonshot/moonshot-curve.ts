/**
 * A Moonshot curve's own SOL. It lies in the curve's account beside that account's rent; a sale pays it out without any transfer, so only
 * balances before and after tell it. Which of the curves it is no trade tells either, but its SOL does: a curve of constant product has
 * just as much as its formula says for the tokens sold (constants from npm's `@heliofi/launchpad-common`).
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

/** A lamport may be lost to rounding in every trade. */
const ROUNDING_LAMPORTS = 100_000n
const MILLION = 1_000_000n

export type CurveLamports = { before: bigint | null; after: bigint | null }

/** Around the instruction, rent left out; null: another instruction moved some on that side of it. */
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

/** 0 to 1, to the millionth; null: the curve is of another kind, or its SOL is not known. */
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

/** Runs recorded transactions through the whole decoder. */

import type { Scope } from '../../../../../services/ingest/decode/scope.js'
import { memoryBook } from '../../../../../services/ingest/decode/solana/block/book.js'
import {
  type DecodedSolanaBlock,
  decodeSolanaBlock,
} from '../../../../../services/ingest/decode/solana/block/decode-block.js'
import { createSolanaRules } from '../../../../../services/ingest/decode/solana/block/decode-rules.js'
import { WRAPPED_SOL } from '../../../../../services/ingest/decode/solana/native-programs.js'
import { PROGRAMS } from '../../../../../services/ingest/decode/solana/programs.js'

export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

export function rulesOf(scope: Partial<Scope> = {}) {
  const wide: Scope = { pools: new Set(), tokens: new Set(), amms: new Set(), balances: 'scoped' }
  return createSolanaRules({ scope: { ...wide, ...scope }, money: new Set([WRAPPED_SOL, USDC]), programs: PROGRAMS })
}

const RULES = rulesOf()

export function decoded(value: unknown, slot: number, rules = RULES): DecodedSolanaBlock {
  return decodeSolanaBlock(slot, [{ index: 0, value }], memoryBook(), rules)
}

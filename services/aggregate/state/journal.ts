/**
 * The undo data of a block: the old values of everything it changed. Numbers go on an undo stack, texts and wallets into lists.
 * Undoing in reverse order restores the state bit for bit.
 */
import type { Balance, Holding } from './balances.js'
import type { PairText } from './pairs.js'
import type { TokenText } from './tokens.js'
import type { UndoStack } from './undo-stack.js'

export const OP = { pairRow: 1, tokenRow: 2, bucket: 3, newBucket: 4 } as const
export type Holder = 'pair' | 'token'
export const HOLDER_CODE = { pair: 0, token: 1 } as const

export type TextOp =
  | { op: 'newPair' }
  | { op: 'newToken' }
  | { op: 'pairText'; id: number; old: PairText }
  | { op: 'tokenText'; id: number; old: TokenText }
  | { op: 'split'; id: number }

export type WalletOp = { holder: Holder; id: number; wallet: string; buyS: number; sellS: number }

/** The full sort key of a stored trade or liquidity row, for its tombstone. */
export type EventKey = {
  table: 'trade_rows' | 'liquidity_rows'
  pair: string
  timeS: number
  block: number
  txIndex: number
  logIndex: number
  sub: number
  id: string
}

export type Head = { number: number; hash: string; parentHash: string; timeS: number }

export type BlockJournal = {
  seq: number
  head: Head
  /** The chain's now with this block applied. */
  nowS: number
  before: { head: Head | null; nowS: number; finalizedNumber: number }
  stack: UndoStack
  texts: TextOp[]
  /** Whose balances it changed, and what each of them was; null: it was no holder. */
  holdings: Holding[]
  balances: (Balance | null)[]
  wallets: WalletOp[]
  events: EventKey[]
  /** Tokens whose main pair this block changed. */
  mainPairs: string[]
  /** Pairs and tokens in its update: after a retract they are published again. */
  publishedPairs: number[]
  /** The first so many of them had events in this block. */
  touchedPairs: number
  publishedTokens: number[]
}

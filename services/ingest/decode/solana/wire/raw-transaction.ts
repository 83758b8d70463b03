/** A transaction as every encoding tells it: what it ran, by place among its accounts, and how balances moved. */
import type { TokenBalance } from '../transaction.js'

export type RawTransaction = {
  /** The first one's. */
  signature: string
  /** How many signed it: the first of the accounts. */
  signers: number
  accounts: readonly string[]
  top: readonly RawInstruction[]
  /** What top-level instructions called, by their place. */
  inner: ReadonlyMap<number, readonly RawInstruction[]>
}

export type RawInstruction = {
  programId: string
  accounts: readonly string[]
  /** As base58 where no decoder reads it: to make bytes of it takes longer than all else. */
  data: Uint8Array | string
  /** 1 for a top-level instruction; null: the node does not tell. */
  stackHeight: number | null
  /** `jsonParsed`: what the node made of it instead of its accounts and data. */
  parsed: ParsedInstruction | null
}

/** By program: whether somebody reads what its instructions hold. */
export type IsRead = (programId: string) => boolean

export type ParsedInstruction = { type: string; info: Readonly<Record<string, unknown>> }

export type Balances = {
  logs: readonly string[] | null
  preLamports: readonly bigint[]
  postLamports: readonly bigint[]
  preTokens: ReadonlyMap<string, TokenBalance>
  postTokens: ReadonlyMap<string, TokenBalance>
}

/** A transaction in the form decoders get, independent of its encoding, and its instructions in execution order. */

export type SolanaTransaction = {
  /** Base58. */
  signature: string
  slot: number
  /** In the block; 0 for a single transaction. */
  index: number
  /** Pays the fee and signs first. */
  feePayer: string
  /** The fee payer first: a service may pay for the trader. */
  signers: readonly string[]
  /** All accounts, looked-up ones last (writable, then readonly). */
  accounts: readonly string[]
  /** The top-level instructions in order, each with its inner instructions. */
  instructions: readonly Instruction[]
  /** Null: the node returned none. */
  logs: readonly string[] | null
  /** Lamports, by index in `accounts`. */
  preLamports: readonly bigint[]
  postLamports: readonly bigint[]
  /** Token accounts, by address. */
  preTokens: ReadonlyMap<string, TokenBalance>
  postTokens: ReadonlyMap<string, TokenBalance>
  /** Token accounts it opened, by address: one that it also closed is in neither balance list. */
  openedTokens: ReadonlyMap<string, OpenedToken>
}

export type OpenedToken = { mint: string; owner: string }

export type TokenBalance = { mint: string; owner: string | null; amount: bigint; decimals: number }

export type Instruction = {
  programId: string
  accounts: readonly string[]
  /** Empty if the node returned it parsed only (`jsonParsed`, for native programs), and for programs without a decoder. */
  data: Uint8Array
  /** Inner instructions, in order. */
  inner: readonly Instruction[]
  /** Depth-first index in the transaction, from 0: the execution order. */
  order: number
  /** 0 for a top-level instruction. */
  depth: number
  /** Set for a transfer of tokens or lamports. */
  transfer: Transfer | null
  /** The `Program data:` payloads it logged itself, in order, if its program has a decoder; null: the logs are missing or truncated. */
  programData: readonly Uint8Array[] | null
  /** Its other log lines (`Program log:` and the like, without the prefix); null as above. */
  programLogs: readonly string[] | null
}

/** Minting is a transfer from the mint, burning a transfer to it. */
export type Transfer = {
  /** Null: lamports. Taken from the accounts if the instruction does not have it. */
  mint: string | null
  source: string
  destination: string
  authority: string | null
  /** What leaves the source. */
  amount: bigint
  /** Token-2022: the withheld part of it; 0 if unknown. */
  fee: bigint
}

/** Cache of the last transaction: decoders ask many times for one, then for the next. A weak map would cost more than rebuilding. */
let last: { transaction: SolanaTransaction; run: readonly Instruction[] } | null = null

/** Instructions in execution order: a call before what it calls. The index is the instruction's `order`. */
export function inOrder(transaction: SolanaTransaction): readonly Instruction[] {
  if (last?.transaction === transaction) return last.run
  const run: Instruction[] = []
  for (const instruction of transaction.instructions) append(instruction, run)
  last = { transaction, run }
  return run
}

/** The instruction and all its inner instructions. */
export function subtree(instruction: Instruction): Instruction[] {
  const run: Instruction[] = []
  append(instruction, run)
  return run
}

/** The order of its last inner instruction, or its own. */
export function lastOrder(instruction: Instruction): number {
  let at = instruction
  for (let next = at.inner.at(-1); next !== undefined; next = at.inner.at(-1)) at = next
  return at.order
}

function append(instruction: Instruction, run: Instruction[]): void {
  run.push(instruction)
  for (const inner of instruction.inner) append(inner, run)
}

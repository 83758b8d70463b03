/** A transaction in one form, whatever encoding it came in: what programs' decoders are given. */

export type SolanaTransaction = {
  /** Base58. */
  signature: string
  slot: number
  /** Its place in the block; where only the transaction is at hand, 0. */
  index: number
  /** Who pays the fee and signs first. */
  feePayer: string
  /** Who signed it, the fee's payer first: a service may pay for somebody who trades. */
  signers: readonly string[]
  /** Every account, the looked-up ones last (writable, then readonly). */
  accounts: readonly string[]
  /** The top-level instructions in order, each with what it called. */
  instructions: readonly Instruction[]
  /** Null: the node gave none. */
  logs: readonly string[] | null
  /** Lamports, by place in `accounts`. */
  preLamports: readonly bigint[]
  postLamports: readonly bigint[]
  /** Token accounts, by address. */
  preTokens: ReadonlyMap<string, TokenBalance>
  postTokens: ReadonlyMap<string, TokenBalance>
  /** Token accounts opened in it, by address: one that is closed again in it stands in neither of the balances. */
  openedTokens: ReadonlyMap<string, OpenedToken>
}

export type OpenedToken = { mint: string; owner: string }

export type TokenBalance = { mint: string; owner: string | null; amount: bigint; decimals: number }

export type Instruction = {
  programId: string
  accounts: readonly string[]
  /** Empty where the node gave it parsed only (`jsonParsed` does so for the system's own programs), and of programs that no decoder reads. */
  data: Uint8Array
  /** What it called, in order. */
  inner: readonly Instruction[]
  /** Depth-first place in the transaction, from 0: the order of execution. */
  order: number
  /** 0 for a top-level instruction. */
  depth: number
  /** What it moved, where it is a transfer of a token or of lamports, in whatever form the node gave it. */
  transfer: Transfer | null
  /** The `Program data:` payloads this instruction itself logged, in order, if a decoder reads its program; null: the logs are missing or cut before its end. */
  programData: readonly Uint8Array[] | null
  /** The other lines it logged itself (`Program log:` and the like, without that prefix); null as above. */
  programLogs: readonly string[] | null
}

/** Making tokens is a transfer from the mint, burning them one to it. */
export type Transfer = {
  /** Null: lamports. Where the instruction does not name the mint it is that of the accounts. */
  mint: string | null
  source: string
  destination: string
  authority: string | null
  /** What leaves the source. */
  amount: bigint
  /** Token-2022: what of it is withheld and does not arrive for use; 0 also where nothing tells. */
  fee: bigint
}

/** Of the transaction asked for last: decoders ask many times for one, then for the next. A weak map of all would cost more than making it. */
let last: { transaction: SolanaTransaction; run: readonly Instruction[] } | null = null

/** The place in the list is the instruction's `order`. */
export function inOrder(transaction: SolanaTransaction): readonly Instruction[] {
  if (last?.transaction === transaction) return last.run
  const run: Instruction[] = []
  for (const instruction of transaction.instructions) append(instruction, run)
  last = { transaction, run }
  return run
}

/** The instruction itself and everything below it. */
export function subtree(instruction: Instruction): Instruction[] {
  const run: Instruction[] = []
  append(instruction, run)
  return run
}

/** The order of the last call below it, or its own. */
export function lastOrder(instruction: Instruction): number {
  let at = instruction
  for (let next = at.inner.at(-1); next !== undefined; next = at.inner.at(-1)) at = next
  return at.order
}

function append(instruction: Instruction, run: Instruction[]): void {
  run.push(instruction)
  for (const inner of instruction.inner) append(inner, run)
}

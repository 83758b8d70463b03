/** Handmade instructions around real program bytes, in the form a decoder receives. */
import { decodeBase58, encodeBase58 } from '../../../../services/ingest/decode/solana/keys/base58.js'
import { TOKEN } from '../../../../services/ingest/decode/solana/native-programs.js'
import type {
  Instruction,
  SolanaTransaction,
  TokenBalance,
  Transfer,
} from '../../../../services/ingest/decode/solana/transaction.js'

/** A distinct key for each number. */
export function key(number: number): string {
  const bytes = new Uint8Array(32).fill(7)
  new DataView(bytes.buffer).setUint32(0, number)
  return encodeBase58(bytes)
}

export const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'))

export const keyBytes = (text: string): Buffer => Buffer.from(decodeBase58(text))

export type MadeInstruction = Partial<Omit<Instruction, 'inner'>> & { inner?: readonly MadeInstruction[] }

export function tokenTransfer(mint: string, source: string, destination: string, amount: bigint): MadeInstruction {
  const transfer: Transfer = { mint, source, destination, authority: null, amount, fee: 0n }
  return { programId: TOKEN, transfer }
}

export function eventCall(programId: string, hex: string): MadeInstruction {
  return { programId, data: bytesOf(hex) }
}

export function instructionOf(made: MadeInstruction, start = { order: 0 }, depth = 0): Instruction {
  const { order } = start
  start.order += 1
  const inner = (made.inner ?? []).map((each) => instructionOf(each, start, depth + 1))
  return {
    programId: made.programId ?? key(1),
    accounts: made.accounts ?? [],
    data: made.data ?? new Uint8Array(0),
    inner,
    order,
    depth,
    transfer: made.transfer ?? null,
    programData: made.programData ?? [],
    programLogs: made.programLogs ?? [],
  }
}

type Held = Record<string, Omit<TokenBalance, 'decimals'>>

export function transactionOf(
  instructions: readonly Instruction[],
  pre: Held = {},
  post: Held = {},
): SolanaTransaction {
  const balances = (held: Held) =>
    new Map(Object.entries(held).map(([account, each]) => [account, { ...each, decimals: 6 }]))
  return {
    signature: encodeBase58(new Uint8Array(64).fill(9)),
    slot: 1,
    index: 0,
    feePayer: key(100),
    signers: [key(100)],
    accounts: [key(100)],
    instructions,
    logs: [],
    preLamports: [5_000_000_000n],
    postLamports: [4_000_000_000n],
    preTokens: balances(pre),
    postTokens: balances(post),
    openedTokens: new Map(),
  }
}

/** Handmade instructions and transactions: real program bytes with their transfers, without the rest of the transaction. */

import { BadInstruction } from '../../../../services/ingest/decode/solana/decode-errors.js'
import { decodeBase58 } from '../../../../services/ingest/decode/solana/keys/base58.js'
import { TOKEN } from '../../../../services/ingest/decode/solana/native-programs.js'
import type { Program, VenueEvent } from '../../../../services/ingest/decode/solana/program-decoder.js'
import type {
  Instruction,
  SolanaTransaction,
  TokenBalance,
} from '../../../../services/ingest/decode/solana/transaction.js'

export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'

export function hex(text: string): Uint8Array {
  return Buffer.from(text, 'hex')
}

/** Borsh's little-endian encoding, field by field. */
export function bytes(...fields: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(fields)
}

export function u8(value: number): Uint8Array {
  return Uint8Array.of(value)
}

export function u64(value: bigint): Uint8Array {
  const field = Buffer.alloc(8)
  field.writeBigUInt64LE(value)
  return field
}

export function u128(value: bigint): Uint8Array {
  return bytes(u64(BigInt.asUintN(64, value)), u64(value >> 64n))
}

export function i32(value: number): Uint8Array {
  const field = Buffer.alloc(4)
  field.writeInt32LE(value)
  return field
}

export const key = decodeBase58

export type Sent = { mint: string; source: string; destination: string; amount: bigint; fee?: bigint }

const NO_DATA = new Uint8Array(0)

export function transferCall(sent: Sent): Instruction {
  return {
    ...{ programId: TOKEN, accounts: [], data: NO_DATA, inner: [], order: 0, depth: 1 },
    ...{ transfer: { authority: null, fee: 0n, ...sent }, programData: [], programLogs: [] },
  }
}

export type Made = {
  accounts: readonly string[]
  data: Uint8Array
  sent?: readonly Sent[]
  /** Events in logs; null: the logs are truncated. */
  programData?: readonly Uint8Array[] | null
  programLogs?: readonly string[] | null
}

/** Order 0 is the instruction, followed by its calls. */
export function made(
  program: Program,
  { accounts, data, sent = [], programData = [], programLogs = [] }: Made,
): Instruction {
  const inner = sent.map((each, at) => ({ ...transferCall(each), order: at + 1 }))
  const programId = program.programIds[0] ?? ''
  return { programId, accounts, data, inner, order: 0, depth: 0, transfer: null, programData, programLogs }
}

export type Held = { account: string; mint: string; owner: string; pre: bigint | null; post: bigint | null }

export function transactionOf(instruction: Instruction, held: readonly Held[] = []): SolanaTransaction {
  const balances = (when: 'pre' | 'post') =>
    new Map(
      held.flatMap(({ account: address, mint, owner, [when]: amount }): [string, TokenBalance][] =>
        amount === null ? [] : [[address, { mint, owner, amount, decimals: 9 }]],
      ),
    )
  return {
    ...{
      signature: 'made',
      slot: 1,
      index: 0,
      feePayer: 'payer',
      signers: ['payer'],
      accounts: instruction.accounts,
      logs: [],
    },
    ...{ instructions: [instruction], preLamports: [], postLamports: [] },
    ...{ preTokens: balances('pre'), postTokens: balances('post'), openedTokens: new Map() },
  }
}

/** Without the instruction, which every venue event carries. */
export type Reported = VenueEvent extends infer Each
  ? Each extends VenueEvent
    ? Omit<Each, 'instruction'>
    : never
  : never

export function decoded(program: Program, instruction: Instruction, transaction: SolanaTransaction): Reported[] {
  return program.decode(instruction, transaction).map(({ instruction: reported, ...rest }) => {
    if (reported !== instruction) throw new Error('a venue event of another instruction')
    return rest as Reported
  })
}

export function refusal(program: Program, instruction: Instruction, transaction: SolanaTransaction): BadInstruction {
  try {
    program.decode(instruction, transaction)
  } catch (error) {
    if (error instanceof BadInstruction) return error
    throw error
  }
  throw new Error('it was decoded')
}

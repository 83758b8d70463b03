/** Handmade calls of Anchor programs for cases without a recorded transaction: accounts, data, transfers and events. */
import { createHash } from 'node:crypto'
import {
  EVENT_CALL,
  eventDiscriminator,
  instructionDiscriminator,
} from '../../../../services/ingest/decode/solana/instruction/read-instruction.js'
import { decodeBase58, encodeBase58 } from '../../../../services/ingest/decode/solana/keys/base58.js'
import { TOKEN } from '../../../../services/ingest/decode/solana/native-programs.js'
import type { Program, VenueEvent } from '../../../../services/ingest/decode/solana/program-decoder.js'
import {
  type Instruction,
  inOrder,
  type SolanaTransaction,
  type TokenBalance,
  type Transfer,
} from '../../../../services/ingest/decode/solana/transaction.js'

/** A distinct address for each name. */
export function key(name: string): string {
  return encodeBase58(createHash('sha256').update(name).digest())
}

/** Borsh encoding, field by field. */
export const borsh = {
  u8: (value: number) => Buffer.from([value]),
  bool: (value: boolean) => Buffer.from([value ? 1 : 0]),
  u16: (value: number) => little(BigInt(value), 2),
  u32: (value: number) => little(BigInt(value), 4),
  i32: (value: number) => little(BigInt.asUintN(32, BigInt(value)), 4),
  u64: (value: bigint) => little(value, 8),
  u128: (value: bigint) => little(value, 16),
  key: (address: string) => Buffer.from(decodeBase58(address)),
  text: (value: string) => Buffer.concat([borsh.u32(Buffer.byteLength(value)), Buffer.from(value)]),
  zeros: (length: number) => Buffer.alloc(length),
}

export function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'hex'))
}

export function callData(name: string, ...fields: Buffer[]): Uint8Array {
  return Uint8Array.from(Buffer.concat([hex(instructionDiscriminator(name)), ...fields]))
}

export function eventData(name: string, ...fields: Buffer[]): Uint8Array {
  return Uint8Array.from(Buffer.concat([hex(eventDiscriminator(name)), ...fields]))
}

export type Built = Pick<Instruction, 'programId' | 'accounts' | 'data' | 'transfer' | 'programData'> & {
  inner: Built[]
}

export function built(programId: string, accounts: readonly string[], data: Uint8Array, inner: Built[] = []): Built {
  return { programId, accounts, data, inner, transfer: null, programData: [] }
}

/** The self-call that carries an event. */
export function reported(programId: string, event: Uint8Array): Built {
  return built(programId, [], Uint8Array.from([...hex(EVENT_CALL), ...event]))
}

export function moved(mint: string | null, source: string, destination: string, amount: bigint, fee = 0n): Built {
  const transfer: Transfer = { mint, source, destination, authority: null, amount, fee }
  return { ...built(TOKEN, [], new Uint8Array(0)), transfer }
}

/** Accounts by index; missing ones get unrelated addresses. */
export function places(length: number, given: Readonly<Record<number, string>>): string[] {
  return Array.from({ length }, (_, place) => given[place] ?? key(`stranger ${place}`))
}

export type Balance = { account: string; mint: string; owner: string | null; before: bigint; after: bigint }

export function transactionOf(top: readonly Built[], balances: readonly Balance[] = []): SolanaTransaction {
  let order = 0
  const run = ({ inner, ...call }: Built, depth: number): Instruction => {
    const at = order
    order += 1
    return { ...call, order: at, depth, programLogs: [], inner: inner.map((next) => run(next, depth + 1)) }
  }
  const tokens = (side: 'before' | 'after') =>
    new Map<string, TokenBalance>(
      balances.map((balance) => {
        const { account, mint, owner } = balance
        return [account, { mint, owner, amount: balance[side], decimals: 9 }]
      }),
    )
  return {
    ...{ signature: 'signature', slot: 1, index: 0, feePayer: key('payer'), signers: [key('payer')] },
    ...{ accounts: [], logs: null },
    instructions: top.map((call) => run(call, 0)),
    ...{ preLamports: [], postLamports: [], preTokens: tokens('before'), postTokens: tokens('after') },
    openedTokens: new Map(),
  }
}

type Reported = VenueEvent extends infer H ? (H extends VenueEvent ? Omit<H, 'instruction'> : never) : never

/** What the program decodes from each of its calls in the transaction, without the instruction itself. */
export function decoded(program: Program, transaction: SolanaTransaction): Reported[] {
  return inOrder(transaction)
    .filter(({ programId }) => program.programIds.includes(programId))
    .flatMap((instruction) => program.decode(instruction, transaction))
    .map(({ instruction: _, ...venueEvent }) => venueEvent)
}

function little(value: bigint, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0, rest = value; at < length; at += 1, rest >>= 8n) bytes[at] = Number(rest & 0xffn)
  return bytes
}

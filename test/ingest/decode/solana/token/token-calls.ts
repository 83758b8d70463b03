/** Calls of the token programs by their layouts (docs.rs, `spl_token_2022_interface::instruction`, `spl_token_metadata_interface::instruction`). */
import { createHash } from 'node:crypto'
import { SYSTEM, TOKEN_2022 } from '../../../../../services/ingest/decode/solana/native-programs.js'
import { borsh } from '../anchor-calls.js'
import type { Call, Machine } from './machine.js'

const { u8, u16, u32, u64, key, text, zeros } = borsh

const MINT_BYTES = 82
const ACCOUNT_BYTES = 165

/** An optional authority: a flag byte, and the key only if there is one. */
const option = (authority: string | null) => (authority === null ? u8(0) : Buffer.concat([u8(1), key(authority)]))
/** In extensions, no authority is all zeros. */
const orZeros = (authority: string | null) => (authority === null ? zeros(32) : key(authority))

const call = (programId: string, accounts: Readonly<Record<string, string>>, ...data: Buffer[]): Call => ({
  ...{ programId, accounts: Object.entries(accounts), data: Buffer.concat(data) },
})

function createAccount({ payer, rent }: Machine, account: string, bytes: number, owner: string, funded = bytes): Call {
  return call(SYSTEM, { [payer]: 'sw', [account]: 'sw' }, u32(0), u64(rent(funded)), u64(BigInt(bytes)), key(owner))
}

/** `bytes`: its size in the mint, without type and length. `setUp`: the call before the mint is initialised. */
export type Extension = { bytes: number; setUp: (mint: string) => Call }

const extension = (bytes: number, ...data: Buffer[]): Extension => ({
  bytes,
  setUp: (mint) => call(TOKEN_2022, { [mint]: 'w' }, ...data),
})

export const extensions = {
  transferFee: (authority: string | null, basisPoints: number, maximumRaw: bigint) =>
    extension(108, u8(26), u8(0), option(authority), option(null), u16(basisPoints), u64(maximumRaw)),
  closeAuthority: (authority: string) => extension(32, u8(25), option(authority)),
  frozenByDefault: () => extension(1, u8(28), u8(0), u8(2)),
  nonTransferable: () => extension(0, u8(32)),
  interestBearing: () => extension(52, u8(33), u8(0), zeros(32), u16(500)),
  permanentDelegate: (delegate: string) => extension(32, u8(35), key(delegate)),
  transferHook: (authority: string, program: string) => extension(64, u8(36), u8(0), key(authority), key(program)),
  metadataPointer: (at: string | null) => extension(64, u8(39), u8(0), zeros(32), orZeros(at)),
  pausable: (authority: string) => extension(33, u8(44), u8(0), key(authority)),
}

export type MintRecipe = {
  program: string
  decimals: number
  mintAuthority: string
  freezeAuthority?: string
  extensions?: readonly Extension[]
  /** Lamports for data written into it later. */
  roomLater?: number
}

export function createMint(machine: Machine, mint: string, recipe: MintRecipe): void {
  const { program, decimals, mintAuthority, freezeAuthority = null, extensions: made = [], roomLater = 0 } = recipe
  const extended = ACCOUNT_BYTES + 1 + made.reduce((sum, { bytes }) => sum + 4 + bytes, 0)
  const bytes = made.length === 0 ? MINT_BYTES : extended
  machine.run(
    createAccount(machine, mint, bytes, program, bytes + roomLater),
    ...made.map(({ setUp }) => setUp(mint)),
    call(program, { [mint]: 'w' }, u8(20), u8(decimals), key(mintAuthority), option(freezeAuthority)),
  )
}

/** `extensionBytes`: room for extensions, each with type and length. */
export function openAccount(
  machine: Machine,
  program: string,
  account: string,
  mint: string,
  owner: string,
  extensionBytes = 0,
): void {
  const setUp = call(program, { [account]: 'w', [mint]: '' }, u8(18), key(owner))
  const bytes = extensionBytes === 0 ? ACCOUNT_BYTES : ACCOUNT_BYTES + 1 + extensionBytes
  machine.run(createAccount(machine, account, bytes, program), setUp)
}

export const closeAccount = (program: string, account: string, to: string, owner: string): Call =>
  call(program, { [account]: 'w', [to]: 'w', [owner]: 's' }, u8(9))

export const giveAccount = (program: string, account: string, from: string, to: string): Call =>
  call(program, { [account]: 'w', [from]: 's' }, u8(6), u8(ACCOUNT_OWNER), option(to))

/** Token-2022: fees withheld in an account go to the mint. */
export const harvestFees = (mint: string, account: string): Call =>
  call(TOKEN_2022, { [mint]: 'w', [account]: 'w' }, u8(26), u8(4))

export const mintTo = (program: string, mint: string, account: string, authority: string, raw: bigint): Call =>
  call(program, { [mint]: 'w', [account]: 'w', [authority]: 's' }, u8(7), u64(raw))
export const burn = (program: string, account: string, mint: string, owner: string, raw: bigint): Call =>
  call(program, { [account]: 'w', [mint]: 'w', [owner]: 's' }, u8(8), u64(raw))

export const moveTokens = (
  { program, mint, decimals }: { program: string; mint: string; decimals: number },
  [from, to]: readonly [string, string],
  owner: string,
  raw: bigint,
): Call => call(program, { [from]: 'w', [mint]: '', [to]: 'w', [owner]: 's' }, u8(12), u64(raw), u8(decimals))

const AUTHORITY_KINDS = { mint: 0, freeze: 1 }
const ACCOUNT_OWNER = 2

export const setAuthority = (
  program: string,
  mint: string,
  kind: keyof typeof AUTHORITY_KINDS,
  from: string,
  to: string | null,
): Call => {
  const accounts = { [mint]: 'w', [from]: 's' }
  return call(program, accounts, u8(6), u8(AUTHORITY_KINDS[kind]), option(to))
}

export const setTransferFee = (mint: string, authority: string, basisPoints: number, maximumRaw: bigint): Call => {
  const accounts = { [mint]: 'w', [authority]: 's' }
  return call(TOKEN_2022, accounts, u8(26), u8(5), u16(basisPoints), u64(maximumRaw))
}

export const pause = (mint: string, authority: string): Call => {
  const accounts = { [mint]: 'w', [authority]: 's' }
  return call(TOKEN_2022, accounts, u8(44), u8(1))
}

const interfaceCall = (name: string) =>
  createHash('sha256').update(`spl_token_metadata_interface:${name}`).digest().subarray(0, 8)

export const writeMetadata = (
  mint: string,
  updateAuthority: string,
  mintAuthority: string,
  words: { name: string; symbol: string; uri: string },
): Call => {
  // The metadata is in the mint, so the same account appears twice.
  const accounts = [
    [mint, 'w'],
    [updateAuthority, ''],
    [mint, ''],
    [mintAuthority, 's'],
  ] as const
  const { name, symbol, uri } = words
  const data = Buffer.concat([interfaceCall('initialize_account'), text(name), text(symbol), text(uri)])
  return { programId: TOKEN_2022, accounts, data }
}

export const setUpdateAuthority = (mint: string, from: string, to: string | null): Call => {
  const accounts = { [mint]: 'w', [from]: 's' }
  return call(TOKEN_2022, accounts, interfaceCall('update_the_authority'), orZeros(to))
}

/** Lamports sent to a wrapped SOL account become tokens when it is synchronised. */
export const wrap = ({ payer }: Machine, program: string, account: string, lamports: bigint): Call[] => [
  call(SYSTEM, { [payer]: 'sw', [account]: 'w' }, u32(2), u64(lamports)),
  call(program, { [account]: 'w' }, u8(17)),
]

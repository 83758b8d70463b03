/**
 * Transfers made by the token programs and the system program. Tags and accounts as in spl-token's `TokenInstruction`, Token-2022's
 * `TransferFeeInstruction` and the system program's `SystemInstruction`; parsed forms as `transaction-status` writes them.
 */
import { BadTransaction, Malformed } from '../decode-errors.js'
import { SYSTEM, TOKEN, TOKEN_2022 } from '../native-programs.js'
import type { Instruction, OpenedToken, TokenBalance, Transfer } from '../transaction.js'
import { ByteReader } from './byte-reader.js'
import type { ParsedInstruction, RawInstruction } from './raw-transaction.js'
import { amountAt, fieldsAt, keyAt } from './shape.js'

const TRANSFER = 3
const MINT_TO = 7
const BURN = 8
const TRANSFER_CHECKED = 12
const MINT_TO_CHECKED = 14
const BURN_CHECKED = 15
const TRANSFER_FEE_EXTENSION = 26
const TRANSFER_CHECKED_WITH_FEE = 1

const CREATE_ACCOUNT = 0
const SYSTEM_TRANSFER = 2
const CREATE_ACCOUNT_WITH_SEED = 3
const TRANSFER_WITH_SEED = 11

export function transferOf(raw: RawInstruction, data: Uint8Array, mintOf: MintOf): Transfer | null {
  const { programId } = raw
  const isToken = programId === TOKEN || programId === TOKEN_2022
  if (!isToken && programId !== SYSTEM) return null
  if (raw.parsed !== null) return parsedTransferOf(raw.parsed, isToken, mintOf)
  if (data.length === 0) return null
  try {
    return isToken ? tokenTransfer(raw.accounts, data, mintOf) : systemTransfer(raw.accounts, data)
  } catch (error) {
    throw error instanceof Malformed
      ? new BadTransaction(programId, `has a malformed instruction: ${error.message}`)
      : error
  }
}

function tokenTransfer(accounts: readonly string[], data: Uint8Array, mintOf: MintOf): Transfer | null {
  const [first, second, third, fourth] = accounts
  const reader = new ByteReader(data)
  const tag = reader.u8()
  switch (tag) {
    case TRANSFER:
      return transfer(mintOf(need(first)) ?? mintOf(need(second)), first, second, third, reader.u64())
    case TRANSFER_CHECKED:
      return transfer(need(second), first, third, fourth, reader.u64())
    case TRANSFER_FEE_EXTENSION: {
      if (reader.u8() !== TRANSFER_CHECKED_WITH_FEE) return null
      const amount = reader.u64()
      return transfer(need(second), first, third, fourth, amount, reader.skip(1).u64())
    }
    case MINT_TO:
    case MINT_TO_CHECKED:
      return transfer(need(first), first, second, third, reader.u64())
    case BURN:
    case BURN_CHECKED:
      return transfer(need(second), first, second, third, reader.u64())
    default:
      return null
  }
}

function systemTransfer(accounts: readonly string[], data: Uint8Array): Transfer | null {
  const [first, second, third] = accounts
  const reader = new ByteReader(data)
  switch (reader.u32()) {
    case CREATE_ACCOUNT:
    case SYSTEM_TRANSFER:
      return transfer(null, first, second, first, reader.u64())
    case CREATE_ACCOUNT_WITH_SEED: {
      reader.skip(32)
      const seedBytes = reader.u64()
      if (seedBytes > 32n) throw new Malformed(`a seed of ${seedBytes} bytes is too long`)
      return transfer(null, first, second, first, reader.skip(Number(seedBytes)).u64())
    }
    case TRANSFER_WITH_SEED:
      return transfer(null, first, third, second, reader.u64())
    default:
      return null
  }
}

function transfer(
  mint: string | null,
  source: string | undefined,
  destination: string | undefined,
  authority: string | undefined,
  amount: bigint,
  fee = 0n,
): Transfer {
  return { mint, source: need(source), destination: need(destination), authority: authority ?? null, amount, fee }
}

function need(account: string | undefined): string {
  if (account === undefined) throw new Malformed('an account is missing')
  return account
}

type Tokens = ReadonlyMap<string, TokenBalance>

/** Token-2022 mints may withhold a part of each transfer (`TransferFeeConfig`), which a plain transfer does not state. If a single
 * transfer reaches an account whose balance is lower than all its transfers give, the difference is the fee. With several transfers
 * to one account the fees stay 0. */
export function fillWithheldFees(instructions: readonly Instruction[], preTokens: Tokens, postTokens: Tokens): void {
  const arrivals = new Map<string, Transfer[]>()
  collect(instructions, (transfer, programId) => {
    if (programId !== TOKEN_2022 || transfer.source === transfer.mint) return
    const others = arrivals.get(transfer.destination)
    if (others === undefined) arrivals.set(transfer.destination, [transfer])
    else others.push(transfer)
  })
  for (const [account, [only, another]] of arrivals) {
    const post = postTokens.get(account)
    if (only === undefined || another !== undefined || only.fee > 0n || post === undefined) continue
    let balance = preTokens.get(account)?.amount ?? 0n
    collect(instructions, ({ source, destination, amount }) => {
      if (destination === account) balance += amount
      if (source === account) balance -= amount
    })
    const missing = balance - post.amount
    if (missing > 0n && missing <= only.amount) only.fee = missing
  }
}

function collect(instructions: readonly Instruction[], visit: (transfer: Transfer, programId: string) => void): void {
  for (const { transfer, programId, inner } of instructions) {
    if (transfer !== null && transfer.mint !== null) visit(transfer, programId)
    collect(inner, visit)
  }
}

/** The mint of a token account; null: unknown. */
export type MintOf = (account: string) => string | null

/** A transfer that the node parsed itself (`jsonParsed`). */
function parsedTransferOf(parsed: ParsedInstruction, isToken: boolean, mintOf: MintOf): Transfer | null {
  return isToken ? parsedTokenTransfer(parsed, mintOf) : parsedSystemTransfer(parsed)
}

/** An account opened, where the node parsed the instruction itself. */
export function parsedOpening({ type, info }: ParsedInstruction): (OpenedToken & { account: string }) | null {
  if (!type.startsWith('initializeAccount')) return null
  return {
    account: keyAt(info.account, 'info.account'),
    mint: keyAt(info.mint, 'info.mint'),
    owner: keyAt(info.owner, 'info.owner'),
  }
}

function parsedTokenTransfer({ type, info }: ParsedInstruction, mintOf: MintOf): Transfer | null {
  const key = (name: string) => keyAt(info[name], `info.${name}`)
  const authority = keyOrNull(
    info.authority ?? info.multisigAuthority ?? info.mintAuthority ?? info.multisigMintAuthority,
  )
  const amount = () =>
    info.tokenAmount === undefined
      ? amountAt(info.amount, 'info.amount')
      : amountAt(fieldsAt(info.tokenAmount, 'info.tokenAmount').amount, 'info.tokenAmount.amount')
  switch (type) {
    case 'transfer': {
      const [source, destination] = [key('source'), key('destination')]
      const mint = mintOf(source) ?? mintOf(destination)
      return { mint, source, destination, authority, amount: amount(), fee: 0n }
    }
    case 'transferChecked':
    case 'transferCheckedWithFee': {
      const fee = info.feeAmount === undefined ? 0n : amountAt(fieldsAt(info.feeAmount, 'info.feeAmount').amount, 'fee')
      const [source, destination] = [key('source'), key('destination')]
      return { mint: key('mint'), source, destination, authority, amount: amount(), fee }
    }
    case 'mintTo':
    case 'mintToChecked': {
      const mint = key('mint')
      return { mint, source: mint, destination: key('account'), authority, amount: amount(), fee: 0n }
    }
    case 'burn':
    case 'burnChecked': {
      const mint = key('mint')
      return { mint, source: key('account'), destination: mint, authority, amount: amount(), fee: 0n }
    }
    default:
      return null
  }
}

function parsedSystemTransfer({ type, info }: ParsedInstruction): Transfer | null {
  const isTransfer = type === 'transfer' || type === 'transferWithSeed'
  if (!isTransfer && type !== 'createAccount' && type !== 'createAccountWithSeed') return null
  const source = keyAt(info.source, 'info.source')
  const destination = isTransfer
    ? keyAt(info.destination, 'info.destination')
    : keyAt(info.newAccount, 'info.newAccount')
  return {
    mint: null,
    source,
    destination,
    authority: keyOrNull(info.sourceBase) ?? source,
    amount: amountAt(info.lamports, 'info.lamports'),
    fee: 0n,
  }
}

function keyOrNull(value: unknown): string | null {
  return value === undefined || value === null ? null : keyAt(value, 'info.authority')
}

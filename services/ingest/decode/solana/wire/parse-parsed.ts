/** Transfers and opened accounts that the node parsed itself (`jsonParsed`). */

import type { OpenedToken, Transfer } from '../transaction.js'
import type { ParsedInstruction } from './raw-transaction.js'
import { amountAt, fieldsAt, keyAt } from './shape.js'

/** The mint of a token account; null: unknown. */
export type MintOf = (account: string) => string | null

export function parsedTransferOf(parsed: ParsedInstruction, isToken: boolean, mintOf: MintOf): Transfer | null {
  return isToken ? tokenTransfer(parsed, mintOf) : systemTransfer(parsed)
}

export function parsedOpening({ type, info }: ParsedInstruction): (OpenedToken & { account: string }) | null {
  if (!type.startsWith('initializeAccount')) return null
  return {
    account: keyAt(info.account, 'info.account'),
    mint: keyAt(info.mint, 'info.mint'),
    owner: keyAt(info.owner, 'info.owner'),
  }
}

function tokenTransfer({ type, info }: ParsedInstruction, mintOf: MintOf): Transfer | null {
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

function systemTransfer({ type, info }: ParsedInstruction): Transfer | null {
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

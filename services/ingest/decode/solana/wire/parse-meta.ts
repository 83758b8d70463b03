/** Balances before and after, and the logs, from the `meta` a node adds to a transaction. The same in every encoding. */

import { BadTransaction } from '../decode-errors.js'
import type { TokenBalance } from '../transaction.js'
import type { Balances } from './raw-transaction.js'
import { amountAt, countAt, type Fields, fieldsAt, keyAt, listAt, textAt } from './shape.js'

export function readBalances(meta: Fields, accounts: readonly string[]): Balances {
  const preLamports = lamportsAt(meta.preBalances, 'preBalances')
  const postLamports = lamportsAt(meta.postBalances, 'postBalances')
  return {
    logs: logsAt(meta),
    preLamports,
    postLamports,
    preTokens: tokensAt(meta.preTokenBalances, accounts, 'preTokenBalances'),
    postTokens: tokensAt(meta.postTokenBalances, accounts, 'postTokenBalances'),
  }
}

function lamportsAt(value: unknown, path: string): bigint[] {
  const list = listAt(value, path)
  const lamports: bigint[] = []
  for (let at = 0; at < list.length; at += 1) lamports.push(amountAt(list[at], path))
  return lamports
}

/** `logMessagesNone`: Yellowstone's flag for a node without logs. */
function logsAt({ logMessages, logMessagesNone }: Fields): string[] | null {
  if (logMessages === undefined || logMessages === null || logMessagesNone === true) return null
  const list = listAt(logMessages, 'logMessages')
  for (let at = 0; at < list.length; at += 1) textAt(list[at], 'logMessages')
  return list as string[]
}

export function tokensAt(value: unknown, accounts: readonly string[], path: string): Map<string, TokenBalance> {
  const tokens = new Map<string, TokenBalance>()
  for (const item of listAt(value, path)) {
    const { accountIndex, mint, owner, uiTokenAmount } = fieldsAt(item, path)
    const account = accounts[countAt(accountIndex, path)]
    if (account === undefined)
      throw new BadTransaction(path, `has account index ${accountIndex}, but there are ${accounts.length} accounts`)
    const { amount, decimals } = fieldsAt(uiTokenAmount, path)
    // Protobuf omits a zero.
    const places = decimals === undefined ? 0 : countAt(decimals, path)
    if (places > 255) throw new BadTransaction(path, `has a token with ${places} decimals; the maximum is 255`)
    tokens.set(account, {
      mint: keyAt(mint, path),
      owner: owner === undefined || owner === null || owner === '' ? null : keyAt(owner, path),
      amount: amountAt(amount, path),
      decimals: places,
    })
  }
  return tokens
}

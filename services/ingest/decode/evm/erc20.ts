/**
 * Tokens: their metadata, supply, balances and transfers (EIP-20), and wrapping of the native coin. Missing facts are
 * never guessed.
 */
import { ZERO_ADDRESS } from '../../../core/domain/chains.js'
import { printableText, TEXT_MAX } from '../printable-text.js'
import { selectorOf, topicOf } from './abi/keccak.js'
import { expectShape, indexedAddress, uintAt } from './abi/log-fields.js'
import { type Answer, addressWord, answeredBytes, answeredBytes32, answeredUint, callOf } from './abi/view-calls.js'
import type { EvmLog } from './log.js'
import { BadLog, type Call, type Reading } from './protocol.js'

export const TRANSFER = topicOf('Transfer(address,address,uint256)')

const NAME = selectorOf('name()')
const SYMBOL = selectorOf('symbol()')
const DECIMALS = selectorOf('decimals()')
const TOTAL_SUPPLY = selectorOf('totalSupply()')
const BALANCE_OF = selectorOf('balanceOf(address)')

const DECIMALS_BITS = 8

export type TokenFacts = {
  name: string | null
  symbol: string | null
  decimals: number | null
  totalSupply: bigint | null
}

export function* readToken(token: string): Reading<TokenFacts> {
  const [name, symbol, decimals, totalSupply] = yield [NAME, SYMBOL, DECIMALS, TOTAL_SUPPLY].map((selector) =>
    callOf(token, selector),
  )
  const digits = answeredUint(decimals, 0, DECIMALS_BITS)
  return {
    name: textOf(name),
    symbol: textOf(symbol),
    decimals: digits === null ? null : Number(digits),
    totalSupply: answeredUint(totalSupply),
  }
}

export function balanceCall(token: string, holder: string): Call {
  return callOf(token, BALANCE_OF, addressWord(holder))
}

export function* readBalance(token: string, holder: string): Reading<bigint | null> {
  const [answer] = yield [balanceCall(token, holder)]
  return answeredUint(answer)
}

/** Balance of `holder` in each token; null if one does not answer. */
export function* readBalances(tokens: readonly string[], holder: string): Reading<readonly bigint[] | null> {
  const answers = yield tokens.map((token) => balanceCall(token, holder))
  const balances = tokens.map((_, place) => answeredUint(answers[place]))
  return balances.every((balance) => balance !== null) ? balances : null
}

export function supplyCall(token: string): Call {
  return callOf(token, TOTAL_SUPPLY)
}

export function* readSupply(token: string): Reading<bigint | null> {
  const [answer] = yield [supplyCall(token)]
  return answeredUint(answer)
}

export type Transfer = { token: string; from: string; to: string; amount: bigint }

/** Null if it is not an ERC-20 transfer (ERC-721 has the same topic 0, with the token id as a fourth topic). */
export function transferOf(log: EvmLog): Transfer | null {
  if (log.topics[0] !== TRANSFER) return null
  try {
    expectShape(log, 3, 1)
    return { token: log.address, from: indexedAddress(log, 1), to: indexedAddress(log, 2), amount: uintAt(log, 0) }
  } catch (error) {
    if (error instanceof BadLog) return null
    throw error
  }
}

/** A string, or 32 zero-padded bytes as in the oldest tokens, made printable. */
function textOf(answer: Answer): string | null {
  const digits = answeredBytes(answer) ?? (answer?.length === 66 ? answeredBytes32(answer)?.slice(2) : undefined)
  if (digits === undefined || digits === null) return null
  // A character takes at most four bytes.
  return printableText(new TextDecoder().decode(Buffer.from(digits.slice(0, TEXT_MAX * 8), 'hex')))
}

/**
 * WETH9 and its forks emit Deposit and Withdrawal instead of a Transfer. Later wrappers (Arbitrum's) emit a Transfer
 * from or to the zero address instead; some emit both, and then the Transfer counts.
 */
const DEPOSIT = topicOf('Deposit(address,uint256)')
const WITHDRAWAL = topicOf('Withdrawal(address,uint256)')

export const WRAPPING_TOPICS = [DEPOSIT, WITHDRAWAL]

/** Wrapping and unwrapping as a transfer from or to the zero address. `near`: the logs right before and after it. */
export function wrappingOf(log: EvmLog, near: readonly (EvmLog | undefined)[]): Transfer | null {
  const topic = log.topics[0]
  if (topic !== DEPOSIT && topic !== WITHDRAWAL) return null
  try {
    expectShape(log, 2, 1)
    const [holder, amount] = [indexedAddress(log, 1), uintAt(log, 0)]
    const moved = topic === DEPOSIT ? { from: ZERO_ADDRESS, to: holder } : { from: holder, to: ZERO_ADDRESS }
    const hasTransfer = near.some((other) => other !== undefined && isSame(other, log, moved, amount))
    return hasTransfer ? null : { token: log.address, ...moved, amount }
  } catch (error) {
    if (error instanceof BadLog) return null
    throw error
  }
}

function isSame(other: EvmLog, log: EvmLog, moved: Pick<Transfer, 'from' | 'to'>, amount: bigint): boolean {
  if (other.topics[0] !== TRANSFER || other.address !== log.address || other.txHash !== log.txHash) return false
  if (Math.abs(other.logIndex - log.logIndex) !== 1) return false
  const transfer = transferOf(other)
  return transfer !== null && transfer.from === moved.from && transfer.to === moved.to && transfer.amount === amount
}

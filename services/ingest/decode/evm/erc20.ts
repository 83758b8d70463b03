/** Tokens: what they say of themselves, and their transfers (EIP-20). Nothing a token leaves unsaid is guessed. */
import { shownText, TEXT_MAX } from '../printable-text.js'
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

/** What `holder` has of each token; null: one does not say. */
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

/** Null: not a token's transfer of an amount (ERC-721 has the same topic, with the token's number as a fourth one). */
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

/** A string, or as the oldest tokens have it 32 bytes filled up with zeros. What cannot be shown is left out. */
function textOf(answer: Answer): string | null {
  const digits = answeredBytes(answer) ?? (answer?.length === 66 ? answeredBytes32(answer)?.slice(2) : undefined)
  if (digits === undefined || digits === null) return null
  // Four bytes are the most one character takes.
  return shownText(new TextDecoder().decode(Buffer.from(digits.slice(0, TEXT_MAX * 8), 'hex')))
}

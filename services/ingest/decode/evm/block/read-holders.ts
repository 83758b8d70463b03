/** Balances that were read for holders known from a token's history → events that end the block they were read at. */
import { ZERO_ADDRESS } from '../../../../core/domain/chains.js'
import type { Event } from '../../../../core/domain/records.js'
import { completion, type HolderEvent } from '../../holder-events.js'
import type { TokenFacts } from '../erc20.js'
import type { EvmBlock } from '../log.js'
import type { Book, KnownHolders } from './book.js'
import { placeAfter } from './place-after.js'

/** `sum`: what the holder's transfers add up to. */
export type ReadHolder = { holder: string; balance: bigint | null; sum: bigint }

/** A part of a token's holders, as of a block's end. */
export type HolderPart = {
  token: string
  blockHash: string
  facts: TokenFacts
  /** What the zero address holds. */
  atZero: bigint | null
  /** Before this part. */
  known: KnownHolders
  holders: readonly ReadHolder[]
  isLast: boolean
}

/** A token that left the scope: its transfers are not followed any more. */
export type LeftToken = { token: string; blockHash: string; isLeft: true }

export function endHolders({ token }: LeftToken, block: EvmBlock, events: Event[], book: Book): void {
  events.push({ ...completion(token, null, false), ...placeAfter(events.at(-1), block) })
  const known = book.holders(token)
  // If it returns, everything is read again.
  if (known !== undefined) book.putHolders(token, { ...known, list: '', isDone: false })
}

export function addReadHolders(part: HolderPart, block: EvmBlock, events: Event[], book: Book): void {
  const { token, known } = part
  const place = placeAfter(events.at(-1), block)
  const add = (event: HolderEvent): void => {
    events.push({ ...event, ...place })
    place.sub += 1
  }
  if (book.token(token) === undefined) {
    book.putToken(token, { traded: false })
    add({ type: 'token', token, ...described(part.facts) })
  }
  let { faults } = known
  for (const { holder, balance, sum } of part.holders) {
    const isFollowed = book.hasHolder(token, holder)
    // A holder who is not followed has not moved since the list ends.
    if (balance === null || (!isFollowed && balance !== sum)) faults += 1
    if (balance !== null && (isFollowed || balance > 0n)) publish(holder, balance)
  }
  if (part.isLast && (part.atZero ?? 0n) > 0n) publish(ZERO_ADDRESS, part.atZero ?? 0n)
  if (part.isLast) add(completion(token, part.facts.totalSupply, faults === 0))
  book.putHolders(token, { ...known, read: known.read + part.holders.length, faults, isDone: part.isLast })

  function publish(holder: string, balance: bigint): void {
    book.putHolder(token, holder)
    add({ type: 'balance', token, holder, delta: null, balance: balance.toString() })
  }
}

function described({ name, symbol, decimals, totalSupply }: TokenFacts) {
  return { name, symbol, decimals, total_supply: totalSupply?.toString() ?? null }
}

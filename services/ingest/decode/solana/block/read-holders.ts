/** Accounts of a token as nodes listed them → balances of their owners, as events that end a block. */
import type { Event } from '../../../../core/domain/records.js'
import { endOfBlock } from '../../end-of-block.js'
import { completion, type HolderEvent } from '../../holder-events.js'
import type { Book, KnownHolders } from './book.js'

export type HolderList = {
  token: string
  decimals: number
  /** The accounts are as of the end of its block, which is final. */
  slot: number
  /** By owner, then by account; empty ones are left out. */
  owners: ReadonlyMap<string, ReadonlyMap<string, bigint>>
  /** All of them, with withheld fees. */
  heldRaw: bigint
  /** Null: it kept changing. */
  supplyRaw: bigint | null
}

/** A part of a list, at a later block. */
export type ListPart = {
  list: HolderList
  owners: readonly string[]
  /** Whether it moved after the list's slot: then the book knows better. */
  hasMoved(account: string): boolean
  /** Before this part. */
  known: KnownHolders
  isLast: boolean
}

export const isWhole = ({ heldRaw, supplyRaw }: HolderList): boolean => heldRaw === supplyRaw

/** What was said of its holders before no longer holds. */
export function endHolders(token: string, events: Event[], book: Book): void {
  const add = endingWith(events)
  announce(token, null, book, add)
  add(completion(token, null, false))
}

export function addListPart({ list, owners, hasMoved, known, isLast }: ListPart, events: Event[], book: Book): void {
  const { token } = list
  const add = endingWith(events)
  announce(token, list.decimals, book, add)
  for (const owner of owners) {
    const before = book.holding(token, owner)
    const accounts = new Map<string, bigint>()
    for (const [account, amount] of list.owners.get(owner) ?? []) if (!hasMoved(account)) accounts.set(account, amount)
    for (const [account, amount] of before?.accounts ?? []) if (hasMoved(account)) accounts.set(account, amount)
    if (before === undefined && accounts.size === 0) continue
    let balance = 0n
    for (const amount of accounts.values()) balance += amount
    book.putHolding(token, owner, { accounts, told: balance })
    add({ type: 'balance', token, holder: owner, delta: null, balance: balance.toString() })
  }
  if (isLast) add(completion(token, list.supplyRaw, isWhole(list)))
  const published = (known.list?.slot === list.slot ? known.list.published : 0) + owners.length
  const now: KnownHolders = { ...known, list: { slot: list.slot, published }, isDone: isLast }
  book.putHolders(new Map([...book.holders(), [token, now]]))
}

type Add = (event: HolderEvent) => void

function endingWith(events: Event[]): Add {
  const place = endOfBlock(events.at(-1), START)
  return (event) => {
    events.push({ ...event, ...place })
    place.sub += 1
  }
}

/** Decimals that are null are read with its other facts. */
function announce(token: string, decimals: number | null, book: Book, add: Add): void {
  if (book.token(token) !== undefined) return
  book.putToken(token, { decimals, traded: false })
  add({ type: 'token', token, name: null, symbol: null, decimals, total_supply: null })
}

const START = { tx_index: 0, log_index: 0, sub: 0, tx_hash: '' }

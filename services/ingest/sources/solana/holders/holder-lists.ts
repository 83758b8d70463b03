/**
 * All holders of the tokens that the scope names. Nodes list a token's accounts as of a final slot, in the background. Later blocks
 * publish the list, a part with each: what moved after that slot is known from the blocks since, and is taken from them.
 */
import type { Event } from '../../../../core/domain/records.js'
import { isRetryable, sleep } from '../../../../core/runtime/backoff.js'
import type { Logger } from '../../../../core/runtime/logger.js'
import type { MovedAccounts } from '../../../decode/solana/block/balance-events.js'
import type { Book } from '../../../decode/solana/block/book.js'
import { addListPart, endHolders, type HolderList, isWhole } from '../../../decode/solana/block/read-holders.js'
import type { AccountLister } from '../rpc/account-lister.js'
import type { SlotHeader } from '../slot-block.js'
import { FollowedMoves } from './followed-moves.js'
import { readTokenAccounts } from './read-token-accounts.js'

export type HolderListParts = {
  chain: string
  tokens: readonly string[]
  book: Book
  /** Called if there is something to list. */
  openLister(): AccountLister
  logger: Logger
  nowMs: () => number
} & HolderListPace

export type HolderListPace = {
  /** Balances published with one block. */
  holdersPerBlock?: number
  /** Between questions whether a slot is final. */
  pollMs?: number
  /** Between attempts to list a token's accounts. */
  retryMs?: number
}

export interface HolderLists {
  /** Called at the end of each block that is published, while the book is at it; adds to its events. `isLive`: it is near the head. */
  endBlock(block: SlotHeader, moved: MovedAccounts, events: Event[], isLive: boolean): void
  close(): void
}

type Listing = {
  token: string
  /** The hash of the block it began with, as in the book. */
  begun: string
  moves: FollowedMoves
  stopping: AbortController
  /** Undefined: not read yet. */
  list?: HolderList
  /** In the order in which they are published; undefined: the chain has not reached the list's slot. */
  owners?: readonly string[]
  hasFailed?: boolean
}

const HOLDERS_PER_BLOCK = 1_000
const POLL_MS = 2_000
const RETRY_MS = 600_000

export function createHolderLists(parts: HolderListParts): HolderLists {
  const { chain, tokens, book, openLister, logger, nowMs } = parts
  const { holdersPerBlock = HOLDERS_PER_BLOCK, pollMs = POLL_MS, retryMs = RETRY_MS } = parts
  let lister: AccountLister | undefined
  /** One token at a time. */
  let listing: Listing | undefined
  /** When to ask again, by token. */
  const retryAtMs = new Map<string, number>()

  function begin(token: string, block: SlotHeader, events: Event[]): void {
    // The log may say that all are known, where the book was lost or rolled back.
    endHolders(token, events, book)
    book.putHolders(new Map([...book.holders(), [token, { begun: block.hash, isDone: false }]]))
    listing = { token, begun: block.hash, moves: new FollowedMoves(block), stopping: new AbortController() }
    logger.info('reading the holders of a token', { chain, token, block: block.number })
    void read(listing, block.number)
  }

  /** `minSlot`: moves are known from there on. */
  async function read(one: Listing, minSlot: number): Promise<void> {
    const { token, stopping } = one
    const { signal } = stopping
    lister ??= openLister()
    try {
      while ((await lister.finalSlot(signal)) < minSlot) await sleep(pollMs, signal)
      one.list = await readTokenAccounts({ chain, token }, lister, minSlot, signal)
    } catch (error) {
      if (signal.aborted) return
      one.hasFailed = true
      if (!retryAtMs.has(token))
        logger.error('the accounts of a token cannot be listed: not all its holders are known', { chain, token, error })
      retryAtMs.set(token, isRetryable(error) ? nowMs() + retryMs : Number.POSITIVE_INFINITY)
    }
  }

  function stop(): void {
    listing?.stopping.abort()
    listing = undefined
  }

  /** False if the chain or the book no longer has the block it began with. */
  function follows({ token, begun, moves, hasFailed }: Listing, block: SlotHeader, moved: MovedAccounts): boolean {
    if (hasFailed === true || book.holders().get(token)?.begun !== begun) return false
    return moves.follow(block, moved.of(token))
  }

  function publishPart(one: Listing, block: SlotHeader, events: Event[]): void {
    const { token, moves, list } = one
    const known = book.holders().get(token)
    if (known === undefined || list === undefined || block.number < list.slot) return
    one.owners ??= [...new Set([...list.owners.keys(), ...book.ownersOf(token)])]
    const { owners } = one
    const first = known.list?.slot === list.slot ? known.list.published : 0
    const isLast = first + holdersPerBlock >= owners.length
    const moved = moves.movedAfter(list.slot)
    const hasMoved = (account: string) => moved.has(account)
    const chosen = owners.slice(first, first + holdersPerBlock)
    addListPart({ list, owners: chosen, hasMoved, known, isLast }, events, book)
    if (!isLast) return
    stop()
    retryAtMs.delete(token)
    report(list, block)
  }

  function report(list: HolderList, { number }: SlotHeader): void {
    const { token, owners, heldRaw, supplyRaw } = list
    const fields = { chain, token, block: number, addresses_done: owners.size }
    if (isWhole(list)) return logger.info('all holders of a token are known', fields)
    const sums = { expected: supplyRaw?.toString() ?? 'a supply that stays the same', got: heldRaw.toString() }
    const what = 'the accounts of a token do not add up to its supply: not all holders may be known'
    logger.warn(what, { ...fields, ...sums })
  }

  function endLeft(events: Event[]): void {
    const left = [...book.holders().keys()].filter((token) => !tokens.includes(token))
    if (left.length === 0) return
    for (const token of left) endHolders(token, events, book)
    // If it returns, everything is read again.
    book.putHolders(new Map([...book.holders()].filter(([token]) => tokens.includes(token))))
  }

  return {
    endBlock(block, moved, events, isLive) {
      endLeft(events)
      if (listing !== undefined && !follows(listing, block, moved)) stop()
      if (listing !== undefined) return publishPart(listing, block, events)
      const isDue = (token: string) =>
        book.holders().get(token)?.isDone !== true && (retryAtMs.get(token) ?? 0) <= nowMs()
      const next = isLive ? tokens.find(isDue) : undefined
      if (next !== undefined) begin(next, block, events)
    },
    close() {
      stop()
      lister?.close()
    },
  }
}

/** Transfer logs → balances: the whole balance at a holder's first sight, changes from then on. */
import { ZERO_ADDRESS } from '../../../../core/domain/chains.js'
import { TRANSFER, type Transfer, transferOf, wrappingOf } from '../erc20.js'
import type { EvmBlock, EvmLog } from '../log.js'
import type { Book } from './book.js'
import type { DecodeRules } from './decode-rules.js'
import { type EventList, openingPlace, placeOf } from './event-list.js'
import { atBlock, ofHolder, type Prefetched, tokenEvent } from './prefetched.js'

export type FollowedTransfer = { log: EvmLog; transfer: Transfer }

/** The transfers of tokens whose balances are followed. `isTraded`: whether a pool of it was told of before this block. */
export function followedTransfers(
  { logs }: Pick<EvmBlock, 'logs'>,
  isTraded: (token: string) => boolean,
  { scope, money, contracts: { wrappedNative } }: DecodeRules,
): FollowedTransfer[] {
  if (scope.balances === 'off') return []
  const isFollowed = (token: string) =>
    scope.balances === 'all' || scope.tokens.has(token) || (!money.has(token) && isTraded(token))
  return logs.flatMap((log, place) => {
    const isWrapping = log.address === wrappedNative && log.topics[0] !== TRANSFER
    if ((log.topics[0] !== TRANSFER && !isWrapping) || !isFollowed(log.address)) return []
    const transfer = isWrapping ? wrappingOf(log, [logs[place - 1], logs[place + 1]]) : transferOf(log)
    return transfer === null || transfer.amount === 0n || transfer.from === transfer.to ? [] : [{ log, transfer }]
  })
}

export function addTransfers(
  block: EvmBlock,
  book: Book,
  prefetched: Prefetched,
  rules: DecodeRules,
  events: EventList,
): void {
  /** By token: the last log that made or burnt some. */
  const supplyMoved = new Map<string, EvmLog>()
  /** Balances as the block's logs have moved them, of holders the log does not know yet. */
  const untold = new Map<string, bigint>()
  const isTraded = (token: string) => book.token(token)?.traded === true
  for (const { log, transfer } of followedTransfers(block, isTraded, rules)) {
    announceToken(log, book, prefetched, events)
    move(log, transfer.from, -transfer.amount)
    move(log, transfer.to, transfer.amount)
  }
  for (const [token, log] of supplyMoved) tellSupply(token, log)

  function move(log: EvmLog, holder: string, delta: bigint): void {
    const token = log.address
    if (holder === ZERO_ADDRESS) {
      supplyMoved.set(token, log)
      return
    }
    const event = { type: 'balance' as const, ...placeOf(log), token, holder }
    if (book.hasHolder(token, holder)) {
      events.add({ ...event, delta: delta.toString(), balance: null })
      return
    }
    const key = atBlock(block.number, ofHolder(token, holder))
    const before = untold.get(key) ?? prefetched.balances.get(key) ?? null
    if (before === null) return
    const after = before + delta
    untold.set(key, after)
    // One that the token's own logs contradict is not told, nor one that nobody could read: a change of nothing known would be a guess.
    if (after < 0n) return
    book.putHolder(token, holder)
    events.add({ ...event, delta: null, balance: after.toString() })
  }

  /** A burn lowers the supply, or only gives to nobody: the contract tells which. */
  function tellSupply(token: string, log: EvmLog): void {
    const told = prefetched.supplies.get(atBlock(block.number, token))
    if (told === undefined) return
    if (told.total !== null) {
      const nothing = { owner: null, risk: null, logo_url: null, links: null }
      events.add({ type: 'meta', ...placeOf(log), token, total_supply: told.total.toString(), ...nothing })
    }
    if (told.atZero === null) return
    if (told.atZero === 0n && !book.hasHolder(token, ZERO_ADDRESS)) return
    book.putHolder(token, ZERO_ADDRESS)
    const event = { type: 'balance' as const, token, holder: ZERO_ADDRESS }
    events.add({ ...event, ...placeOf(log), delta: null, balance: told.atZero.toString() })
  }
}

function announceToken(log: EvmLog, book: Book, prefetched: Prefetched, events: EventList): void {
  const token = log.address
  if (book.token(token) !== undefined) return
  book.putToken(token, { traded: false })
  events.open({ ...tokenEvent(token, prefetched), ...openingPlace(log) })
}

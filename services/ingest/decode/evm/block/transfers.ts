/** Transfer logs → balance events: the full balance when a holder first appears, changes from then on. */
import { ZERO_ADDRESS } from '../../../../core/domain/chains.js'
import type { MetaEvent } from '../../../../core/domain/records.js'
import { TRANSFER, type Transfer, transferOf, wrappingOf } from '../erc20.js'
import type { EvmBlock, EvmLog } from '../log.js'
import type { Book } from './book.js'
import type { DecodeRules } from './decode-rules.js'
import { atBlock, ofHolder, type Prefetched, tokenEvent } from './prefetched.js'
import { type EventList, openingPlace, placeOf } from './venue-events.js'

export type FollowedTransfer = { log: EvmLog; transfer: Transfer }

/** The transfers of tokens whose balances are followed. `isTraded`: whether a pool of the token was published before this block. */
export function followedTransfers(
  { logs }: Pick<EvmBlock, 'logs'>,
  isTraded: (token: string) => boolean,
  { scope, money, contracts: { wrappedNative } }: DecodeRules,
): FollowedTransfer[] {
  const { balances, tokens, holders } = scope
  if (balances === 'off' && holders === undefined) return []
  const isFollowed = (token: string) =>
    holders?.has(token) === true ||
    balances === 'all' ||
    (balances === 'scoped' && (tokens.has(token) || (!money.has(token) && isTraded(token))))
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
  /** By token: the last log that minted or burnt. */
  const supplyMoved = new Map<string, EvmLog>()
  /** Running balances within the block of holders not published yet. */
  const unpublished = new Map<string, bigint>()
  const isTraded = (token: string) => book.token(token)?.traded === true
  for (const { log, transfer } of followedTransfers(block, isTraded, rules)) {
    announceToken(log, book, prefetched, events)
    move(log, transfer.from, -transfer.amount)
    move(log, transfer.to, transfer.amount)
  }
  for (const [token, log] of supplyMoved) addSupply(token, log)

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
    const before = unpublished.get(key) ?? prefetched.balances.get(key) ?? null
    if (before === null) return
    const after = before + delta
    unpublished.set(key, after)
    // A balance that the token's logs contradict, or that could not be read, is not published: a change without a base would be a guess.
    if (after < 0n) return
    book.putHolder(token, holder)
    events.add({ ...event, delta: null, balance: after.toString() })
  }

  /** A burn may lower the supply or only credit the zero address: the contract's answers decide. */
  function addSupply(token: string, log: EvmLog): void {
    const supply = prefetched.supplies.get(atBlock(block.number, token))
    if (supply === undefined) return
    if (supply.total !== null) events.add(supplyEvent(token, supply.total, log))
    if (supply.atZero === null) return
    if (supply.atZero === 0n && !book.hasHolder(token, ZERO_ADDRESS)) return
    book.putHolder(token, ZERO_ADDRESS)
    const event = { type: 'balance' as const, token, holder: ZERO_ADDRESS }
    events.add({ ...event, ...placeOf(log), delta: null, balance: supply.atZero.toString() })
  }
}

export function supplyEvent(token: string, supply: bigint, log: EvmLog): MetaEvent {
  const nothing = { owner: null, risk: null, logo_url: null, links: null, holders_complete: null }
  return { type: 'meta', ...placeOf(log), token, total_supply: supply.toString(), ...nothing }
}

function announceToken(log: EvmLog, book: Book, prefetched: Prefetched, events: EventList): void {
  const token = log.address
  if (book.token(token) !== undefined) return
  book.putToken(token, { traded: false })
  events.open({ ...tokenEvent(token, prefetched), ...openingPlace(log) })
}

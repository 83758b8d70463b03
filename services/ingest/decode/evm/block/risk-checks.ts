/** Which tokens are to be checked at a block: by their trades, and by changes that their contracts or lockers report. */
import type { TokenChecks } from '../../../../core/config/evm-source.js'
import { BURN_ADDRESSES } from '../../../../core/domain/chains.js'
import type { Event } from '../../../../core/domain/records.js'
import { chooseChecks, markStale } from '../../due-checks.js'
import type { RangePool } from '../../position-shares.js'
import { addressAtEnd } from '../abi/abi-words.js'
import { topicOf } from '../abi/keccak.js'
import { TRANSFER } from '../erc20.js'
import type { EvmBlock, EvmLog } from '../log.js'
import type { V4State } from '../protocols/uniswap-v4/v4-state.js'
import type { FollowedPool } from '../risk/inspect-positions.js'
import { LOCK_TOPICS } from '../risk/lockers.js'
import type { TrialPool } from '../risk/trade-trial.js'
import { trialVenue } from '../risk/trial-venue.js'
import type { Book, KnownVenue } from './book.js'
import type { DecodeRules } from './decode-rules.js'
import { notePositions } from './positions.js'

export type RiskRules = Pick<TokenChecks, 'checksPerMinute' | 'recheckS' | 'lockers' | 'positionManagers'>

export type TokenCheck = {
  token: string
  pool: TrialPool | null
  /** Of a pool whose positions are followed. */
  positions: FollowedPool | null
}

/** What contracts report when their owner, rules or code change. Which of them a token has is up to its author. */
export const CHANGE_TOPICS: readonly string[] = [
  ...[
    'OwnershipTransferred(address,address)',
    'OwnershipTransferStarted(address,address)',
    'OwnershipRenounced(address)',
  ],
  ...['Paused(address)', 'Unpaused(address)', 'Pause()', 'Unpause()', 'Upgraded(address)', 'BeaconUpgraded(address)'],
  ...['AdminChanged(address,address)', 'RoleGranted(bytes32,address,address)', 'RoleRevoked(bytes32,address,address)'],
  ...['MinterAdded(address)', 'MinterRemoved(address)', 'Blacklisted(address)', 'UnBlacklisted(address)'],
  ...['AddedBlackList(address)', 'RemovedBlackList(address)', 'FeeChanged(uint256)', 'FeeUpdated(uint256)'],
  ...['FeesUpdated(uint256,uint256)', 'TaxUpdated(uint256)', 'TaxChanged(uint256)', 'TaxesUpdated(uint256,uint256)'],
  ...['TradingEnabled()', 'TradingOpened()', 'MaxTxAmountUpdated(uint256)', 'MaxWalletUpdated(uint256)'],
  ...['ExcludeFromFees(address,bool)', 'Params(uint256,uint256)'],
].map(topicOf)
const CHANGES = new Set(CHANGE_TOPICS)

/**
 * Called after the block's events were decoded, while the book is at it. `isLive`: history is not checked, since nodes rarely
 * have its state; its tokens are checked when they trade next.
 */
export function planChecks(
  block: Pick<EvmBlock, 'timeS' | 'logs'>,
  events: readonly Event[],
  book: Book,
  rules: DecodeRules,
  risk: RiskRules,
  isLive: boolean,
): TokenCheck[] {
  const unlocked = notePositions(block, book, rules, risk)
  const changed = changedTokens(block, unlocked, book, rules, risk)
  if (!isLive) {
    for (const token of changed) markStale(token, book)
    return []
  }
  const traded = tradedTokens(events, book, rules)
  return chooseChecks(block.timeS, changed, traded.keys(), book, risk).map((token) => {
    const pool = deepestPool(token, traded.get(token) ?? [], book, rules)
    book.putRisk(token, { checkedAtS: block.timeS, isStale: false, pool: pool?.pool ?? null })
    return { token, pool, positions: pool === null ? null : followedPool(pool.pool, book) }
  })
}

/** Tokens that are not money and trade in this block, each with its pools that did. */
function tradedTokens(events: readonly Event[], book: Book, { money }: DecodeRules): Map<string, string[]> {
  const pools = new Set<string>()
  for (const event of events) if (event.type === 'swap' || event.type === 'liquidity') pools.add(event.pool)
  const traded = new Map<string, string[]>()
  for (const pool of pools) {
    for (const token of book.venue(pool)?.venue.tokens ?? []) {
      if (money.has(token)) continue
      const list = traded.get(token)
      if (list === undefined) traded.set(token, [pool])
      else list.push(pool)
    }
  }
  return traded
}

function changedTokens(
  { logs }: Pick<EvmBlock, 'logs'>,
  pools: readonly string[],
  book: Book,
  { money }: DecodeRules,
  { lockers = [] }: RiskRules,
): Set<string> {
  const changed = new Set<string>()
  const note = (token: string) => !money.has(token) && book.token(token)?.traded === true && changed.add(token)
  for (const pool of pools) for (const token of book.venue(pool)?.venue.tokens ?? []) note(token)
  const vaults = new Set([...lockers.map(({ address }) => address), ...BURN_ADDRESSES.evm])
  for (const log of logs) {
    if (CHANGES.has(log.topics[0] ?? '')) note(log.address)
    for (const token of lockers.length === 0 ? [] : lockedIn(log, vaults)) {
      note(token)
      for (const other of book.venue(token)?.venue.tokens ?? []) note(other)
    }
  }
  return changed
}

/** Tokens, or pools whose shares are tokens, of which a lock may have changed: a locker names them, or they went to or from one. */
function lockedIn({ address, topics, data }: EvmLog, vaults: ReadonlySet<string>): string[] {
  const [topic = '', ...indexed] = topics
  if (topic === TRANSFER) return indexed.slice(0, 2).some((word) => vaults.has(addressAtEnd(word))) ? [address] : []
  if (!LOCKS.has(topic) || !vaults.has(address)) return []
  const words = data.slice(2).match(/.{64}/g) ?? []
  return [...indexed, ...words.map((word) => `0x${word}`)].map(addressAtEnd)
}

const LOCKS = new Set(LOCK_TOPICS)

function followedPool(pool: string, book: Book): FollowedPool | null {
  const [known, found] = [book.positions(pool), book.venue(pool)]
  if (known === undefined || found === undefined) return null
  const { protocol, tokens } = found.venue
  const price = protocol === 'uniswap-v4' ? v4Price(found) : null
  if (protocol === 'uniswap-v4' && price === null) return null
  const positions = known.list.map(({ manager, id }) => ({ manager, id, lock: book.positionLock(manager, id) ?? null }))
  return { pool, tokens, positions, isComplete: known.isComplete, price }
}

/** Of a V4 pool, which has no contract to ask; null: not read yet. */
function v4Price({ state }: KnownVenue): RangePool | null {
  const { sqrtPrice, tick, liquidity, reserves } = state as V4State
  if (sqrtPrice === 0n) return null
  return {
    sqrtPrice: Number(sqrtPrice) / Q96,
    tick,
    liquidity,
    reserves: [reserves?.[0] ?? null, reserves?.[1] ?? null],
  }
}

const Q96 = 2 ** 96

/** The pool with most of the token: of those that trade now, and the one it was checked in before. */
function deepestPool(token: string, pools: readonly string[], book: Book, rules: DecodeRules): TrialPool | null {
  const before = book.risk(token)?.pool ?? null
  const ids = before === null ? pools : [before, ...pools]
  let deepest: TrialPool | null = null
  for (const id of ids) {
    const pool = trialPool(token, id, book, rules)
    if (pool !== null && (deepest === null || pool.tokenReserve > deepest.tokenReserve)) deepest = pool
  }
  return deepest
}

/** Null if a trial cannot use it: another kind of exchange, no money on its other side, or unknown reserves. */
function trialPool(token: string, id: string, book: Book, { money, contracts }: DecodeRules): TrialPool | null {
  const known = book.venue(id)
  const reserves = known?.state.reserves ?? null
  if (known === undefined || reserves === null) return null
  const { tokens, fee } = known.venue
  const place = tokens.indexOf(token)
  const quotePlace = tokens.findIndex((other) => money.has(other))
  const [quote, quoteReserve] = [tokens[quotePlace], reserves[quotePlace] ?? 0n]
  const venue = place < 0 ? null : trialVenue(known.venue, place, quotePlace, contracts.wrappedNative)
  if (venue === null || quote === undefined) return null
  return { pool: id, quote, fee, quoteReserve, tokenReserve: reserves[place] ?? 0n, ...venue }
}

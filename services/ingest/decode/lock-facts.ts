/** What is said about locks in a token's risk, under the API's names where it has one; raw amounts as text. */
import type { Reason } from './risk-score.js'

export type HeldLock = {
  locker: { address: string; name: string }
  amount: bigint
  /** Null: the locker does not tell until when. */
  unlockAtS: number | null
}

/** Of a token, or of the shares of a pool. Raw amounts; null: not answered. */
export type Holding = {
  address: string
  total: bigint | null
  burnt: bigint | null
  locks: readonly HeldLock[] | null
  /** There may be more locks than these. */
  isPartial?: boolean
  decimals: number | null
}

export type LockInspection = {
  token: Holding
  /** Null: the pool's shares are no token, or there is no pool. */
  pair: PoolHolding | null
}

/** `covered`: of positions in ranges of prices, the part of the pool's tokens that burnt and locked ones hold; null: not known. */
export type PoolHolding = Holding & { covered?: number | null }

/** Dates that no clock reaches mean for ever. */
const DATE_BITS = 40
export const FOR_EVER_S = 2 ** DATE_BITS - 1

/** What of an amount is locked at a time; nothing once its date is reached. */
export function lockUntil(amount: bigint, unlockAt: bigint, nowS: number): { amount: bigint; unlockAtS: number }[] {
  if (amount <= 0n || unlockAt <= BigInt(nowS)) return []
  return [{ amount, unlockAtS: unlockAt < BigInt(FOR_EVER_S) ? Number(unlockAt) : FOR_EVER_S }]
}

/** A pool of which less can be withdrawn than this part counts as locked. */
const FREE_SHARE = 0.1
const LISTED_LOCKS = 20
const PERCENT_DIGITS = 10_000

export type LockFacts = {
  isLpNotLocked: -1 | 0 | 1
  facts: Record<string, unknown>
  reasons: Reason[]
}

export function lockFacts({ token, pair }: LockInspection): LockFacts {
  const lp = pair === null ? null : lockedShare(pair)
  const isLpNotLocked = lp === null ? -1 : withdrawable(lp, pair?.covered)
  const share =
    token.total === null || token.total === 0n || !isComplete(token) ? null : part(locked(token), token.total)
  const locks = [...listed(token, 'token'), ...(pair === null ? [] : listed(pair, 'pair'))]
  const platforms = new Set([...(token.locks ?? []), ...(pair?.locks ?? [])].map(({ locker }) => locker.name))
  const facts = {
    ...(isComplete(token) ? { lock_raw: locked(token).toString() } : {}),
    ...(token.burnt === null ? {} : { burn_raw: token.burnt.toString() }),
    ...(share === null ? {} : { token_lock_percent: share }),
    ...(lp === null ? {} : { pair_lock_percent: lp.all }),
    ...(pair === null || pair.total === null ? {} : { pair_total_raw: pair.total.toString() }),
    ...(pair === null || pair.decimals === null ? {} : { pair_decimals: pair.decimals }),
    ...(locks.length === 0 ? {} : { locks: locks.slice(0, LISTED_LOCKS), lock_platform: [...platforms].join(', ') }),
  }
  const percent = Math.round((lp?.all ?? 0) * PERCENT_DIGITS) / 100
  const text = `liquidity can be withdrawn: ${percent} % of the pool's shares are burnt or locked`
  return { isLpNotLocked, facts, reasons: isLpNotLocked === 1 ? [{ points: 10, text }] : [] }
}

/** Liquidity outside the present price is in no share: it must be covered too before all of it is said to be locked. */
function withdrawable(share: { all: number; dated: number }, covered: number | null | undefined): -1 | 0 | 1 {
  if (share.all < 1 - FREE_SHARE) return 1
  return share.dated >= 1 - FREE_SHARE && (covered === undefined || (covered ?? 0) >= 1 - FREE_SHARE) ? 0 : -1
}

/** The part that is burnt or locked, and that without locks of unknown end; null: not known. */
function lockedShare(holding: Holding): { all: number; dated: number } | null {
  const { total, burnt, locks } = holding
  if (total === null || total === 0n || burnt === null) return null
  const dated = (locks ?? []).filter(({ unlockAtS }) => unlockAtS !== null)
  const share = { all: part(burnt + locked(holding), total), dated: part(burnt + sum(dated), total) }
  // What is known suffices, whatever else there is.
  return isComplete(holding) || share.dated >= 1 - FREE_SHARE ? share : null
}

const isComplete = ({ locks, isPartial = false }: Holding): boolean => locks !== null && !isPartial

const locked = ({ locks }: Holding): bigint => sum(locks ?? [])

const sum = (locks: readonly HeldLock[]): bigint => locks.reduce((total, { amount }) => total + amount, 0n)

/** To a millionth, rounded down: never more is said to be locked than is. */
const part = (amount: bigint, total: bigint): number => Number((amount * 1_000_000n) / total) / 1_000_000

function listed({ locks }: Holding, of: 'token' | 'pair') {
  return (locks ?? []).map(({ locker, amount, unlockAtS }) => ({
    ...{ of, platform: locker.name, locker: locker.address, raw: amount.toString(), unlock_at: unlockAtS },
  }))
}

/** What is said about locks in a token's risk, under the API's names where it has one; raw amounts as text. */
import type { Reason } from '../../risk-score.js'
import type { HeldLock, Holding, LockInspection } from './inspect-locks.js'

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
  const isLpNotLocked = lp === null ? -1 : lp.dated >= 1 - FREE_SHARE ? 0 : lp.all >= 1 - FREE_SHARE ? -1 : 1
  const share =
    token.total === null || token.total === 0n || token.locks === null ? null : part(sum(token.locks), token.total)
  const locks = [...listed(token, 'token'), ...(pair === null ? [] : listed(pair, 'pair'))]
  const platforms = new Set([...(token.locks ?? []), ...(pair?.locks ?? [])].map(({ locker }) => locker.name))
  const facts = {
    ...(token.locks === null ? {} : { lock_raw: sum(token.locks).toString() }),
    ...(token.burnt === null ? {} : { burn_raw: token.burnt.toString() }),
    ...(share === null ? {} : { token_lock_percent: share }),
    ...(lp === null ? {} : { pair_lock_percent: lp.all }),
    ...(pair === null || pair.total === null ? {} : { pair_total_raw: pair.total.toString() }),
    ...(locks.length === 0 ? {} : { locks: locks.slice(0, LISTED_LOCKS), lock_platform: [...platforms].join(', ') }),
  }
  const percent = Math.round((lp?.all ?? 0) * PERCENT_DIGITS) / 100
  const text = `liquidity can be withdrawn: ${percent} % of the pool's shares are burnt or locked`
  return { isLpNotLocked, facts, reasons: isLpNotLocked === 1 ? [{ points: 10, text }] : [] }
}

/** The part that is burnt or locked, and that without locks of unknown end; null: not known. */
function lockedShare({ total, burnt, locks }: Holding): { all: number; dated: number } | null {
  if (total === null || total === 0n || burnt === null || locks === null) return null
  const dated = locks.filter(({ unlockAtS }) => unlockAtS !== null)
  return { all: part(burnt + sum(locks), total), dated: part(burnt + sum(dated), total) }
}

const sum = (locks: readonly HeldLock[]): bigint => locks.reduce((total, { amount }) => total + amount, 0n)

/** To a millionth, rounded down: never more is said to be locked than is. */
const part = (amount: bigint, total: bigint): number => Number((amount * 1_000_000n) / total) / 1_000_000

function listed({ locks }: Holding, of: 'token' | 'pair') {
  return (locks ?? []).map(({ locker, amount, unlockAtS }) => ({
    ...{ of, platform: locker.name, locker: locker.address, raw: amount.toString(), unlock_at: unlockAtS },
  }))
}

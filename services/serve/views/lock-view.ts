/** Locked tokens and liquidity, as ingest found them (`services/ingest/decode/lock-facts.ts`). */
import type { TokenInfo } from '../../core/domain/records.js'
import { readFacts } from './risk-view.js'

export type TokenLock = {
  /** What is locked: the token, or the shares of its pool. */
  of: 'token' | 'pair'
  platform: string
  locker: string
  amountRaw: string
  /** 0: the locker does not tell. */
  unlockAtS: number
}

export type TokenLocks = {
  /** Of the token; null: not known. */
  lockedRaw: string | null
  burntRaw: string | null
  /** The shares of the checked pool there are. */
  sharesRaw: string | null
  shareDecimals: number
  platform: string
  locks: readonly TokenLock[]
}

/** Of the shares of Uniswap V2, Solidly and their forks. */
export const SHARE_DECIMALS = 18

const NOTHING: TokenLocks = {
  ...{ lockedRaw: null, burntRaw: null, sharesRaw: null, shareDecimals: SHARE_DECIMALS, platform: '', locks: [] },
}
const RAW = /^\d{1,78}$/
/** Read once for each description of a token: a changed one is another object. */
const read = new WeakMap<TokenInfo, TokenLocks>()

export function locksOf(info: TokenInfo): TokenLocks {
  // Lists sort by market value, and most tokens have no locks.
  if (info.risk === null || !info.risk.includes('"lock_raw"')) return NOTHING
  const known = read.get(info)
  if (known !== undefined) return known
  const facts = readFacts(info.risk)
  const raw = (name: string): string | null => (RAW.test(facts.text(name)) ? facts.text(name) : null)
  const found = {
    ...{ lockedRaw: raw('lock_raw'), burntRaw: raw('burn_raw'), sharesRaw: raw('pair_total_raw') },
    shareDecimals: facts.number('pair_decimals') ?? SHARE_DECIMALS,
    ...{ platform: facts.text('lock_platform'), locks: facts.objects('locks').flatMap(readLock) },
  }
  read.set(info, found)
  return found
}

function readLock({ of, platform, locker, raw, unlock_at }: Record<string, unknown>): TokenLock[] {
  if (typeof raw !== 'string' || !RAW.test(raw)) return []
  return [
    {
      ...{ of: of === 'pair' ? 'pair' : 'token', platform: String(platform), locker: String(locker), amountRaw: raw },
      unlockAtS: typeof unlock_at === 'number' ? unlock_at : 0,
    },
  ]
}

import { timingSafeEqual } from 'node:crypto'
import type { Config } from '../../core/config/config.js'
import { hashKey, type KeyRecord, type KeyStore } from '../../core/config/keys.js'

export type Refusal =
  | { kind: 'missing' | 'invalid' | 'expired' }
  | { kind: 'rate_limited'; retryAfterS: number; ratePerS: number }
  | { kind: 'cu_exhausted'; retryAfterS: number; resetAtS: number }

export type Admission = { ok: true; access: Access } | { ok: false; refusal: Refusal }

export type Access = Pick<KeyRecord, 'id' | 'plan' | 'ratePerS' | 'quotaCu'>

export interface KeyGate {
  /** Who is it: for sockets, where no request is counted. */
  identify(key: string): Admission
  /** The same by the key's hash: may it still. */
  identifyHash(hash: string): Admission
  /** Who is it, and may a request of this cost be made now. */
  admit(key: string, costCu: number): Admission
  /** Spends the cost of a request that succeeded: errors cost nothing. */
  spend(access: Access, costCu: number): void
  /** Null: no quota. */
  remainingCu(access: Access): number | null
  /** Requests left in this second; null: no limit. */
  remainingInSecond(access: Access): number | null
}

/** What a key used in the current second and calendar month (UTC). Kept per process, since the start. */
type Account = { second: number; requests: number; month: number; spentCu: number }

const FIXED: Access = { id: 'fixed', plan: 'unlimited', ratePerS: null, quotaCu: null }

export function createKeyGate(keys: Pick<KeyStore, 'lookup'>, apiKey: Config['apiKey'], nowMs: () => number): KeyGate {
  const accounts = new Map<string, Account>()
  const fixedHash = apiKey.kind === 'fixed' ? Buffer.from(hashKey(apiKey.key)) : undefined

  function identify(key: string): Admission {
    return key === '' ? refuse({ kind: 'missing' }) : identifyHash(hashKey(key))
  }

  function identifyHash(hash: string): Admission {
    if (fixedHash !== undefined && timingSafeEqual(Buffer.from(hash), fixedHash)) return { ok: true, access: FIXED }
    const record = keys.lookup(hash)
    if (record === undefined || record.revokedAtMs !== null) return refuse({ kind: 'invalid' })
    if (record.expiresAtMs !== null && nowMs() >= record.expiresAtMs) return refuse({ kind: 'expired' })
    return { ok: true, access: record }
  }

  function admit(key: string, costCu: number): Admission {
    const admission = identify(key)
    if (!admission.ok) return admission
    const { ratePerS, quotaCu } = admission.access
    const account = accountOf(admission.access)
    if (ratePerS !== null && account.requests >= ratePerS) {
      return refuse({ kind: 'rate_limited', retryAfterS: 1, ratePerS })
    }
    if (quotaCu !== null && account.spentCu + costCu > quotaCu) {
      const resetAtS = nextMonthS(nowMs())
      return refuse({ kind: 'cu_exhausted', retryAfterS: Math.ceil(resetAtS - nowMs() / 1000), resetAtS })
    }
    account.requests += 1
    return admission
  }

  function accountOf(access: Access): Account {
    const account = accounts.get(access.id) ?? { second: 0, requests: 0, month: 0, spentCu: 0 }
    accounts.set(access.id, account)
    const second = Math.floor(nowMs() / 1000)
    if (account.second !== second) Object.assign(account, { second, requests: 0 })
    const month = monthOf(nowMs())
    if (account.month !== month) Object.assign(account, { month, spentCu: 0 })
    return account
  }

  return {
    identify,
    identifyHash,
    admit,
    spend: (access, costCu) => {
      accountOf(access).spentCu += costCu
    },
    remainingCu: (access) => (access.quotaCu === null ? null : Math.max(0, access.quotaCu - accountOf(access).spentCu)),
    remainingInSecond: (access) =>
      access.ratePerS === null ? null : Math.max(0, access.ratePerS - accountOf(access).requests),
  }
}

function refuse(refusal: Refusal): Admission {
  return { ok: false, refusal }
}

function monthOf(ms: number): number {
  const date = new Date(ms)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

function nextMonthS(ms: number): number {
  const date = new Date(ms)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000
}

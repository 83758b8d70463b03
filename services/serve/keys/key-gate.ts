import { timingSafeEqual } from 'node:crypto'
import type { Config } from '../../core/config/config.js'
import type { Plan } from '../../core/domain/plans.js'
import { hashKey, type KeyRecord, type KeyStore } from '../../core/keys/key-store.js'
import type { Spending } from './spending.js'

export type Refusal =
  | { kind: 'missing' | 'invalid' | 'expired' | 'datafeed_only' | 'not_in_address' }
  | { kind: 'rate_limited'; retryAfterS: number; ratePerS: number; plan: Plan }
  | { kind: 'cu_exhausted'; retryAfterS: number; resetAtS: number; quotaCu: number; plan: Plan }

export type Admission = { ok: true; access: Access } | { ok: false; refusal: Refusal }

export type Access = Pick<KeyRecord, 'id' | 'plan' | 'ratePerS' | 'quotaCu'>

/** What a key is presented to. One in an address may be seen by others: it must open nothing else. */
export type Door = 'all' | 'datafeed' | 'datafeed address'

export interface KeyGate {
  /** Identifies a key without counting a request: for sockets. */
  identify(key: string): Admission
  /** Identifies a key by its hash: is it still valid? */
  identifyHash(hash: string): Admission
  /** Identifies a key and checks its rate limit and quota for a request of this cost. */
  admit(key: string, costCu: number, door?: Door): Admission
  /** The hash of the key with this id. */
  hashOf(id: string): string | undefined
  /** Charges a successful request: errors cost nothing. */
  spend(access: Access, costCu: number): void
  /** Null: unlimited. */
  remainingCu(access: Access): number | null
  /** Requests left in this second; null: unlimited. */
  remainingInSecond(access: Access): number | null
}

/** Requests of a key in the current second, in this process. */
type Pace = { second: number; requests: number }

const FIXED: Access = { id: 'fixed', plan: 'unlimited', ratePerS: null, quotaCu: null }

export type GateKeys = Pick<KeyStore, 'lookup' | 'list'>

export function createKeyGate(
  keys: GateKeys,
  spending: Spending,
  apiKey: Config['apiKey'],
  nowMs: () => number,
  onFirstUse: (record: KeyRecord) => void = () => {},
): KeyGate {
  const paces = new Map<string, Pace>()
  /** Keys whose first use this process has noted. */
  const noted = new Set<string>()
  const fixedHash = apiKey.kind === 'fixed' ? Buffer.from(hashKey(apiKey.key)) : undefined

  function identify(key: string, door: Door = 'all'): Admission {
    return key === '' ? refuse({ kind: 'missing' }) : identifyHash(hashKey(key), door)
  }

  function identifyHash(hash: string, door: Door = 'all'): Admission {
    if (fixedHash !== undefined && timingSafeEqual(Buffer.from(hash), fixedHash))
      return door === 'datafeed address' ? refuse({ kind: 'not_in_address' }) : { ok: true, access: FIXED }
    const record = keys.lookup(hash)
    if (record === undefined || record.revokedAtMs !== null) return refuse({ kind: 'invalid' })
    if (record.expiresAtMs !== null && nowMs() >= record.expiresAtMs) return refuse({ kind: 'expired' })
    if (record.only === 'datafeed' && door === 'all') return refuse({ kind: 'datafeed_only' })
    if (record.only === undefined && door === 'datafeed address') return refuse({ kind: 'not_in_address' })
    if (record.firstUse === undefined && !noted.has(record.id)) {
      noted.add(record.id)
      onFirstUse(record)
    }
    return { ok: true, access: record }
  }

  function admit(key: string, costCu: number, door: Door = 'all'): Admission {
    const admission = identify(key, door)
    if (!admission.ok) return admission
    const { ratePerS, quotaCu, plan } = admission.access
    const pace = paceOf(admission.access)
    if (ratePerS !== null && pace.requests >= ratePerS) {
      return refuse({ kind: 'rate_limited', retryAfterS: 1, ratePerS, plan })
    }
    if (quotaCu !== null && spending.thisMonth(admission.access.id) + costCu > quotaCu) {
      const resetAtS = nextMonthS(nowMs())
      const retryAfterS = Math.ceil(resetAtS - nowMs() / 1000)
      return refuse({ kind: 'cu_exhausted', retryAfterS, resetAtS, quotaCu, plan })
    }
    pace.requests += 1
    return admission
  }

  function paceOf({ id }: Access): Pace {
    const second = Math.floor(nowMs() / 1000)
    const known = paces.get(id)
    if (known?.second === second) return known
    const fresh = { second, requests: 0 }
    paces.set(id, fresh)
    return fresh
  }

  return {
    identify: (key) => identify(key),
    identifyHash: (hash) => identifyHash(hash),
    admit,
    hashOf: (id) => (id === FIXED.id ? fixedHash?.toString() : keys.list().find((record) => record.id === id)?.hash),
    spend: (access, costCu) => spending.add(access.id, costCu),
    remainingCu: ({ id, quotaCu }) => (quotaCu === null ? null : Math.max(0, quotaCu - spending.thisMonth(id))),
    remainingInSecond: (access) =>
      access.ratePerS === null ? null : Math.max(0, access.ratePerS - paceOf(access).requests),
  }
}

function refuse(refusal: Refusal): Admission {
  return { ok: false, refusal }
}

function nextMonthS(ms: number): number {
  const date = new Date(ms)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000
}

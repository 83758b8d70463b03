import type { Plan } from '../domain/plans.js'

/** An API key as it is stored: never the key itself. */
export type KeyRecord = {
  /** Short and public: the start of the hash. */
  id: string
  hash: string
  name: string
  plan: Plan
  /** What it opens; without: everything. */
  only?: 'datafeed'
  ratePerS: number | null
  quotaCu: number | null
  createdAtMs: number
  expiresAtMs: number | null
  revokedAtMs: number | null
  /** Who created it; absent in keys of earlier versions. */
  createdBy?: string
  revokedBy?: string
  firstUse?: { atMs: number; by: string }
  rotation?: { atMs: number; by: string; newKeyId: string }
}

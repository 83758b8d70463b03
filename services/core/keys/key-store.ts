/** API keys. Only the SHA-256 of a key is stored; the key itself is printed once, when it is created. */
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import type { DataDir } from '../data-dir/data-dir.js'
import { ConfigError } from '../domain/errors.js'
import { PLANS, type Plan } from '../domain/plans.js'
import { likeKey, type RotateOptions, rotated } from './key-audit.js'
import type { KeyRecord } from './key-record.js'
import { ensurePrivateKeys, PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE } from './private-files.js'

export type { KeyRecord } from './key-record.js'

export type NewKey = {
  name: string
  plan: Plan
  only?: 'datafeed'
  ratePerS?: number | null
  quotaCu?: number | null
  expiresAtMs?: number | null
  /** Who creates it, for the audit log. */
  by?: string
}

/** Credit units a key spent in a calendar month (UTC), written `2026-11`. */
export type SpentCu = { keyId: string; month: string; cu: number }

export interface KeyStore {
  /** Resolves once stored. Only this result contains the key itself. */
  create(wanted: NewKey): Promise<{ key: string; record: KeyRecord }>
  /** Oldest first, revoked ones too. */
  list(): KeyRecord[]
  /** By id, hash or name; undefined when there is none, or several have the name. */
  revoke(idOrName: string, by?: string): Promise<KeyRecord | undefined>
  /** Creates a key like this one, which expires after the overlap. Undefined: there is none, or it is no longer valid. */
  rotate(idOrName: string, options: RotateOptions): Promise<Rotated | undefined>
  /** Notes the first use of a key; later ones change nothing. `by`: what it was presented to. */
  noteUse(hash: string, by: string): Promise<void>
  /** The record of a key's hash, revoked and expired ones too. Sees what other processes stored. */
  lookup(hash: string): KeyRecord | undefined
  /** What the key spent in the month, over all processes. */
  spentCu(keyId: string, month: string): number
  /** Adds to what keys spent; resolves once stored. */
  addSpentCu(spent: readonly SpentCu[]): Promise<void>
  /** Creates an `unlimited` key if the store never had a key. */
  ensureFirst(): Promise<{ key: string; record: KeyRecord } | undefined>
  close(): Promise<void>
}

export type Rotated = { key: string; record: KeyRecord; old: KeyRecord }

export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex')

export const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7)

/** What `ensureFirst` creates: whoever starts a server first operates it. */
export const FIRST_KEY: NewKey = { name: 'first', plan: 'operator', by: 'first start' }

export function makeKey(wanted: NewKey, createdAtMs: number): { key: string; record: KeyRecord } {
  const key = `dx_${randomBytes(24).toString('base64url')}`
  const hash = hashKey(key)
  const plan = PLANS[wanted.plan]
  const record: KeyRecord = {
    id: hash.slice(0, 12),
    hash,
    name: wanted.name,
    plan: wanted.plan,
    ...(wanted.only === undefined ? {} : { only: wanted.only }),
    ratePerS: wanted.ratePerS === undefined ? plan.ratePerS : wanted.ratePerS,
    quotaCu: wanted.quotaCu === undefined ? plan.quotaCu : wanted.quotaCu,
    createdAtMs,
    expiresAtMs: wanted.expiresAtMs ?? null,
    revokedAtMs: null,
    ...(wanted.by === undefined ? {} : { createdBy: wanted.by }),
  }
  return { key, record }
}

export const oldestFirst = (records: Iterable<KeyRecord>): KeyRecord[] =>
  [...records].sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1))

/** Neither revoked nor expired. */
export const isValid = ({ revokedAtMs, expiresAtMs }: KeyRecord, nowMs: number): boolean =>
  revokedAtMs === null && (expiresAtMs === null || expiresAtMs > nowMs)

/** By id or hash, else the one valid key of that name. */
export function keyNamed(records: readonly KeyRecord[], idOrName: string): KeyRecord | undefined {
  const byId = records.find(({ id, hash }) => id === idOrName || hash === idOrName)
  // A rotated key has a successor of its name.
  const byName = records.filter(
    ({ name, revokedAtMs, rotation }) => name === idOrName && revokedAtMs === null && rotation === undefined,
  )
  return byId ?? (byName.length === 1 ? byName[0] : undefined)
}

export function openKeyStore(dir: DataDir, nowMs: () => number = Date.now): KeyStore {
  ensurePrivateKeys(dir)
  const db = openDb<KeyRecord>(dir, dir.keysPath)
  const spent = openDb<number>(dir, join(dir.keysPath, 'spent'))
  const spentKey = (keyId: string, month: string): string => `${month} ${keyId}`
  const list = (): KeyRecord[] => oldestFirst(db.getRange().map(({ value }) => value))

  return {
    async create(wanted) {
      const made = makeKey(wanted, nowMs())
      await db.put(made.record.hash, made.record)
      await db.flushed
      return made
    },
    list,
    async revoke(idOrName, by) {
      const found = keyNamed(list(), idOrName)
      if (found === undefined || found.revokedAtMs !== null) return found
      const revoked = { ...found, revokedAtMs: nowMs(), ...(by === undefined ? {} : { revokedBy: by }) }
      await db.put(found.hash, revoked)
      await db.flushed
      return revoked
    },
    async rotate(idOrName, options) {
      const found = keyNamed(list(), idOrName)
      if (found === undefined || !isValid(found, nowMs())) return undefined
      const { by } = options
      const made = makeKey({ ...likeKey(found, nowMs()), ...(by === undefined ? {} : { by }) }, nowMs())
      const old = { ...found, ...rotated(found, options, made.record.id, nowMs()) }
      await db.transaction(() => {
        db.put(made.record.hash, made.record)
        db.put(old.hash, old)
      })
      await db.flushed
      return { ...made, old }
    },
    async noteUse(hash, by) {
      // In a transaction: several processes may see a key first.
      await db.transaction(() => {
        const found = db.get(hash)
        if (found !== undefined && found.firstUse === undefined)
          db.put(hash, { ...found, firstUse: { atMs: nowMs(), by } })
      })
    },
    lookup: (hash) => db.get(hash),
    spentCu: (keyId, month) => spent.get(spentKey(keyId, month)) ?? 0,
    async addSpentCu(more) {
      // In a transaction: several processes may add to one key.
      await spent.transaction(() => {
        for (const { keyId, month, cu } of more) {
          const key = spentKey(keyId, month)
          spent.put(key, (spent.get(key) ?? 0) + cu)
        }
      })
      await spent.flushed
    },
    async ensureFirst() {
      const made = makeKey(FIRST_KEY, nowMs())
      const stored = await db.transaction(() => {
        if (db.getCount() > 0) return false
        db.put(made.record.hash, made.record)
        return true
      })
      await db.flushed
      return stored ? made : undefined
    },
    close: async () => {
      await db.close()
      await spent.close()
    },
  }
}

/** Mode of the database files; the package's types lack the option. */
const PRIVATE = { permissionsMode: PRIVATE_FILE_MODE }

function openDb<Value>(dir: DataDir, path: string) {
  try {
    mkdirSync(path, { recursive: true, mode: PRIVATE_FOLDER_MODE })
    return open<Value, string>({ path, encoding: 'json', noSubdir: false, ...PRIVATE })
  } catch (cause) {
    throw new ConfigError({
      code: 'keys_unusable',
      what: `Cannot open the keys in ${dir.keysPath}: ${(cause as Error).message}`,
      fix: 'Give this user read and write permission to it.',
      cause,
    })
  }
}

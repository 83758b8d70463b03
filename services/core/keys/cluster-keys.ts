/**
 * The keys of a cluster, in a topic: every node has them in memory and sees a new or revoked one as soon as it is written. A
 * key's record is written only once, so the lowest offset is the first key.
 */

import { createKeyedTable, type TableEntry } from '../log/keyed-table.js'
import { type EventLog, KEYS_TOPIC } from '../log/port.js'
import { type Logger, silentLogger } from '../runtime/logger.js'
import { likeKey, rotated } from './key-audit.js'
import {
  FIRST_KEY,
  isValid,
  type KeyRecord,
  type KeyStore,
  keyNamed,
  makeKey,
  type NewKey,
  oldestFirst,
} from './key-store.js'

export type SharedKeysOptions = {
  /** Key of this node's counters: unique, also among earlier processes on this machine. */
  node: string
  nowMs?: () => number
  logger?: Logger
}

/** `key/<hash>`; `first` marks one that is valid only if no key was written before it. */
type StoredKey = { record: KeyRecord; first?: true }
/** `revoked/<hash>` */
type Revocation = { revokedAtMs: number; by?: string }
/** `used/<hash>` */
type Use = { firstUse: NonNullable<KeyRecord['firstUse']> }
/** `rotated/<hash>` */
type Rotation = { rotation: NonNullable<KeyRecord['rotation']>; expiresAtMs: number }
/** `spent/<month>/<key id>/<node>`: one counter per node, so that nodes never overwrite each other. */
type Counter = { node: string; cu: number }
type Stored = StoredKey | Revocation | Use | Rotation | Counter

export type SharedKeys = KeyStore & {
  /** Reads the table, then keeps it current. Before that no key is known. May be called again after a failure. */
  load(): Promise<void>
}

export async function openSharedKeys(log: EventLog, options: SharedKeysOptions): Promise<KeyStore> {
  const keys = createSharedKeys(log, options)
  await keys.load()
  return keys
}

export function createSharedKeys(log: EventLog, options: SharedKeysOptions): SharedKeys {
  const { node, nowMs = Date.now, logger = silentLogger } = options
  const table = createKeyedTable<Stored>(log, KEYS_TOPIC, { logger, nowMs })
  const byHash = new Map<string, { record: KeyRecord; offset: number; first: boolean }>()
  const revocations = new Map<string, Revocation>()
  const uses = new Map<string, Use>()
  const rotations = new Map<string, Rotation>()
  /** By month and key, then by node. */
  const counters = new Map<string, Map<string, number>>()
  /** What this node has written for certain. */
  const own = new Map<string, number>()
  let oldestOffset = Number.POSITIVE_INFINITY
  let adding: Promise<unknown> = Promise.resolve()

  function learn({ key, value, offset }: TableEntry<Stored>): void {
    const [kind, ...rest] = key.split('/')
    if (kind === 'key' && 'record' in value) {
      byHash.set(value.record.hash, { record: value.record, offset, first: value.first === true })
      oldestOffset = Math.min(oldestOffset, offset)
    } else if (kind === 'revoked' && 'revokedAtMs' in value) {
      revocations.set(rest[0] ?? '', value)
    } else if (kind === 'used' && 'firstUse' in value) {
      // The first of several nodes counts.
      if (!uses.has(rest[0] ?? '')) uses.set(rest[0] ?? '', value)
    } else if (kind === 'rotated' && 'rotation' in value) {
      rotations.set(rest[0] ?? '', value)
    } else if (kind === 'spent' && 'cu' in value) {
      const account = rest.slice(0, 2).join('/')
      counters.set(account, (counters.get(account) ?? new Map<string, number>()).set(value.node, value.cu))
    }
  }
  table.onChange(learn)

  function lookup(hash: string): KeyRecord | undefined {
    const found = byHash.get(hash)
    // Another node's key was written before this "first" one, which was never printed.
    if (found === undefined || (found.first && found.offset > oldestOffset)) return undefined
    const { revokedAtMs = null, by } = revocations.get(hash) ?? {}
    return {
      ...found.record,
      ...uses.get(hash),
      ...rotations.get(hash),
      ...{ revokedAtMs, ...(by === undefined ? {} : { revokedBy: by }) },
    }
  }

  const list = (): KeyRecord[] => oldestFirst([...byHash.keys()].flatMap((hash) => lookup(hash) ?? []))

  async function add(wanted: NewKey, first: boolean): Promise<{ key: string; record: KeyRecord }> {
    const made = makeKey(wanted, nowMs())
    await table.put(`key/${made.record.hash}`, { record: made.record, ...(first ? { first: true } : {}) })
    return made
  }

  const ending = new AbortController()
  let following: Promise<void> | undefined

  async function follow(): Promise<void> {
    try {
      await table.follow(ending.signal)
    } catch (error) {
      if (!ending.signal.aborted) logger.error('following the table of keys failed', { topic: KEYS_TOPIC, error })
    }
  }

  return {
    async load() {
      await table.refresh()
      following ??= follow()
    },
    create: (wanted) => add(wanted, false),
    list,
    async revoke(idOrName, by) {
      await table.refresh()
      const found = keyNamed(list(), idOrName)
      if (found === undefined || found.revokedAtMs !== null) return found
      await table.put(`revoked/${found.hash}`, { revokedAtMs: nowMs(), ...(by === undefined ? {} : { by }) })
      return lookup(found.hash)
    },
    async rotate(idOrName, options) {
      await table.refresh()
      const found = keyNamed(list(), idOrName)
      if (found === undefined || !isValid(found, nowMs())) return undefined
      const { by } = options
      const made = await add({ ...likeKey(found, nowMs()), ...(by === undefined ? {} : { by }) }, false)
      // The new key first: whatever fails between, one of both works.
      const rotation = rotated(found, options, made.record.id, nowMs())
      await table.put(`rotated/${found.hash}`, rotation)
      return { ...made, old: { ...found, ...rotation } }
    },
    async noteUse(hash, by) {
      if (uses.has(hash)) return
      await table.put(`used/${hash}`, { firstUse: { atMs: nowMs(), by } })
    },
    lookup,
    spentCu(keyId, month) {
      let sum = 0
      for (const cu of counters.get(`${month}/${keyId}`)?.values() ?? []) sum += cu
      return sum
    },
    addSpentCu(spent) {
      const work = adding.then(async () => {
        const totals = new Map<string, number>()
        for (const { keyId, month, cu } of spent) {
          const counter = `spent/${month}/${keyId}/${node}`
          totals.set(counter, (totals.get(counter) ?? own.get(counter) ?? 0) + cu)
        }
        if (totals.size === 0) return
        await table.putAll(new Map([...totals].map(([counter, cu]) => [counter, { node, cu }])))
        for (const [counter, cu] of totals) own.set(counter, cu)
      })
      adding = work.catch(() => {})
      return work
    },
    async ensureFirst() {
      await table.refresh()
      if (byHash.size > 0) return undefined
      const made = await add(FIRST_KEY, true)
      return lookup(made.record.hash) === undefined ? undefined : made
    },
    async close() {
      ending.abort()
      await following
    },
  }
}

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type DataDir, openDataDir } from '../../../services/core/data-dir/data-dir.js'
import { auditOf } from '../../../services/core/keys/key-audit.js'
import { hashKey, type KeyStore, monthOf, openKeyStore } from '../../../services/core/keys/key-store.js'
import { readWsTokenSecret } from '../../../services/core/keys/private-files.js'

const opened: KeyStore[] = []
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})

function open(dir: DataDir = openDataDir(mkdtempSync(join(tmpdir(), 'dextape-keys-')))): {
  dir: DataDir
  keys: KeyStore
} {
  const keys = openKeyStore(dir, () => 1000)
  opened.push(keys)
  return { dir, keys }
}

describe('keys', () => {
  it('are found by their hash, with their limits', async () => {
    const { keys } = open()
    const { key, record } = await keys.create({ name: 'bot', plan: 'pro', quotaCu: 500, expiresAtMs: 9000 })
    expect(key).toMatch(/^dx_[A-Za-z0-9_-]{32}$/)
    expect(record).toEqual({
      id: hashKey(key).slice(0, 12),
      hash: hashKey(key),
      name: 'bot',
      plan: 'pro',
      ratePerS: 20,
      quotaCu: 500,
      createdAtMs: 1000,
      expiresAtMs: 9000,
      revokedAtMs: null,
    })
    expect(keys.lookup(hashKey(key))).toEqual(record)
    expect(keys.lookup(hashKey('dx_other'))).toBeUndefined()
  })

  it('are never stored in plain text in the data directory', async () => {
    const { dir, keys } = open()
    const { key } = await keys.create({ name: 'bot', plan: 'free' })
    await keys.close()
    const files = readdirSync(dir.path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(files.length).toBeGreaterThan(1)
    for (const { parentPath, name } of files) {
      const bytes = readFileSync(join(parentPath, name))
      expect([name, bytes.includes(key), bytes.includes(key.slice(3))]).toEqual([name, false, false])
    }
    opened.splice(0)
  })

  it('are revoked by id or unique name', async () => {
    const { keys } = open()
    const a = await keys.create({ name: 'a', plan: 'free' })
    const twins = [await keys.create({ name: 'twin', plan: 'free' }), await keys.create({ name: 'twin', plan: 'free' })]
    expect(await keys.revoke('twin')).toBeUndefined()
    expect(await keys.revoke('none')).toBeUndefined()
    expect((await keys.revoke('a'))?.id).toBe(a.record.id)
    expect(keys.lookup(a.record.hash)?.revokedAtMs).toBe(1000)
    expect((await keys.revoke(twins[0]?.record.id ?? ''))?.revokedAtMs).toBe(1000)
    expect(keys.list().filter(({ revokedAtMs }) => revokedAtMs === null).length).toBe(1)
  })

  it('start with one key of plan unlimited, created once', async () => {
    const { dir, keys } = open()
    const first = await keys.ensureFirst()
    expect(first?.record).toMatchObject({ plan: 'operator', ratePerS: null, quotaCu: null })
    expect(await keys.ensureFirst()).toBeUndefined()
    await keys.revoke(first?.record.id ?? '')
    expect(await open(dir).keys.ensureFirst()).toBeUndefined()
  })
})

describe('the files of the keys', () => {
  const modes = ({ keysPath }: DataDir) => {
    const entries = readdirSync(keysPath, { recursive: true, encoding: 'utf8' })
    return new Map(['', ...entries].map((name) => [name, (statSync(join(keysPath, name)).mode & 0o777).toString(8)]))
  }
  const PRIVATE = new Map([
    ['', '700'],
    ...['data.mdb', 'lock.mdb', 'spent/data.mdb', 'spent/lock.mdb', 'ws-token.secret'].map((name) => [name, '600']),
    ['spent', '700'],
  ] as [string, string][])

  it('are readable only by their owner', () => {
    const { dir } = open()
    const made = modes(dir)
    expect(readWsTokenSecret(dir)).toMatch(/^[0-9a-f]{64}$/)
    expect(modes(dir)).toEqual(PRIVATE)
    expect(made.set('ws-token.secret', '600')).toEqual(PRIVATE)
  })

  it('that an earlier version left world-readable are restricted at the next start', async () => {
    const { dir, keys } = open()
    const secret = readWsTokenSecret(dir)
    const { record } = await keys.create({ name: 'old', plan: 'free' })
    for (const store of opened.splice(0)) await store.close()
    for (const [name, mode] of PRIVATE) chmodSync(join(dir.keysPath, name), mode === '700' ? 0o755 : 0o664)
    const again = open(dir)
    expect(modes(dir)).toEqual(PRIVATE)
    expect(again.keys.list()).toEqual([record])
    expect(readWsTokenSecret(dir)).toBe(secret)
  })

  it('hold a token secret that is not a key’s hash, and reject an invalid one', async () => {
    const { dir, keys } = open()
    const { record } = await keys.create({ name: 'a', plan: 'free' })
    expect(readWsTokenSecret(dir)).not.toBe(record.hash)
    const broken = openDataDir(mkdtempSync(join(tmpdir(), 'dextape-keys-')))
    mkdirSync(broken.keysPath)
    writeFileSync(join(broken.keysPath, 'ws-token.secret'), 'short\n')
    expect(() => readWsTokenSecret(broken)).toThrow(/does not contain a secret.*got 5 characters.*Delete the file/)
  })
})

describe('what keys spent', () => {
  it('adds up by key and month across processes, and survives a restart', async () => {
    const { dir, keys } = open()
    const { keys: other } = open(dir)
    await keys.addSpentCu([{ keyId: 'a', month: '2026-11', cu: 5 }])
    await other.addSpentCu([
      { keyId: 'a', month: '2026-11', cu: 10 },
      { keyId: 'a', month: '2026-12', cu: 100 },
      { keyId: 'b', month: '2026-11', cu: 1 },
    ])
    const spent = (store: KeyStore) => ['2026-11', '2026-12', '2027-01'].map((month) => store.spentCu('a', month))
    expect([spent(keys), spent(other), keys.spentCu('b', '2026-11')]).toEqual([[15, 100, 0], [15, 100, 0], 1])
    expect(keys.list()).toEqual([])
    for (const store of opened.splice(0)) await store.close()
    expect(spent(open(dir).keys)).toEqual([15, 100, 0])
  })

  it('is counted by calendar month, UTC', () => {
    expect(monthOf(Date.UTC(2026, 10, 30, 23, 59, 59))).toBe('2026-11')
    expect(monthOf(Date.UTC(2026, 11, 1))).toBe('2026-12')
  })
})

describe('rotation and the audit log', () => {
  const HOUR = 3_600_000

  function setUp() {
    const dir = openDataDir(mkdtempSync(join(tmpdir(), 'dextape-keys-')))
    let now = 1_000_000
    const keys = openKeyStore(dir, () => now)
    opened.push(keys)
    return { keys, pass: (ms: number) => (now += ms), now: () => now }
  }

  it('a rotated key works on for the overlap, beside a new one like it', async () => {
    const { keys, pass, now } = setUp()
    const limits = { plan: 'pro', quotaCu: 7, ratePerS: 3 } as const
    const first = await keys.create({ name: 'bot', ...limits, expiresAtMs: now() + 100 * HOUR, by: 'ann' })
    pass(HOUR)
    const made = await keys.rotate('bot', { overlapMs: 2 * HOUR, by: 'bob' })
    expect(made?.key).not.toBe(first.key)
    expect(keys.lookup(hashKey(made?.key ?? ''))).toMatchObject({
      ...{ name: 'bot', ...limits, createdBy: 'bob', expiresAtMs: now() + 100 * HOUR, revokedAtMs: null },
    })
    expect(keys.lookup(first.record.hash)).toMatchObject({ expiresAtMs: now() + 2 * HOUR, revokedAtMs: null })
    // By name it is the new one now.
    expect((await keys.revoke('bot', 'ann'))?.id).toBe(made?.record.id)
  })

  it('an overlap never makes a key live longer, and no key comes of one that has ended', async () => {
    const { keys, pass, now } = setUp()
    const { record } = await keys.create({ name: 'bot', plan: 'free', expiresAtMs: now() + HOUR })
    await keys.rotate(record.id, { overlapMs: 24 * HOUR })
    expect(keys.lookup(record.hash)?.expiresAtMs).toBe(now() + HOUR)
    pass(2 * HOUR)
    expect(await keys.rotate(record.id, { overlapMs: HOUR })).toBeUndefined()
    expect(await keys.rotate('nobody', { overlapMs: HOUR })).toBeUndefined()
  })

  it('says who created, first used, rotated and revoked each key', async () => {
    const { keys, pass, now } = setUp()
    const { record } = await keys.create({ name: 'bot', plan: 'free', by: 'ann' })
    pass(HOUR)
    await keys.noteUse(record.hash, 'rest')
    pass(HOUR)
    await keys.noteUse(record.hash, 'push')
    const made = await keys.rotate('bot', { overlapMs: HOUR, by: 'bob' })
    pass(2 * HOUR)
    await keys.revoke(made?.record.id ?? '', 'cy')
    const [old, next] = [record.id, made?.record.id]
    const start = now() - 4 * HOUR
    expect(auditOf(keys.list(), now())).toEqual([
      { atMs: start, action: 'created', keyId: old, name: 'bot', by: 'ann' },
      { atMs: start + HOUR, action: 'first used', keyId: old, name: 'bot', by: 'rest' },
      { atMs: start + 2 * HOUR, action: 'created', keyId: next, name: 'bot', by: 'bob' },
      { atMs: start + 2 * HOUR, action: 'rotated', keyId: old, name: 'bot', by: 'bob', newKeyId: next },
      { atMs: start + 3 * HOUR, action: 'expired', keyId: old, name: 'bot', by: '' },
      { atMs: now(), action: 'revoked', keyId: next, name: 'bot', by: 'cy' },
    ])
  })
})

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DextapeError } from '../../../services/core/domain/errors.js'
import { openSharedKeys } from '../../../services/core/keys/cluster-keys.js'
import { hashKey, type KeyStore } from '../../../services/core/keys/key-store.js'
import { type EventLog, KEYS_TOPIC } from '../../../services/core/log/port.js'
import { type SharedLog, sharedLog } from '../../rig/shared-log.js'

let shared: SharedLog
let opened: KeyStore[]

beforeEach(() => {
  shared = sharedLog()
  opened = []
})
afterEach(async () => {
  for (const keys of opened) await keys.close()
  await shared.close()
})

let nodes = 0
async function open(log: EventLog = shared.open()): Promise<KeyStore> {
  const keys = await openSharedKeys(log, { node: `node${nodes++}`, nowMs: () => 1000 })
  opened.push(keys)
  return keys
}

describe('the keys of a cluster', () => {
  it('created or revoked on one node are known on every other', async () => {
    const [here, there] = [await open(), await open()]
    const { key, record } = await here.create({ name: 'bot', plan: 'pro', quotaCu: 500, expiresAtMs: 9000 })
    expect(record).toEqual({
      ...{ id: hashKey(key).slice(0, 12), hash: hashKey(key), name: 'bot', plan: 'pro', ratePerS: 20, quotaCu: 500 },
      ...{ createdAtMs: 1000, expiresAtMs: 9000, revokedAtMs: null },
    })
    expect(here.lookup(record.hash)).toEqual(record)
    await vi.waitFor(() => expect(there.lookup(record.hash)).toEqual(record))
    expect(await there.revoke('bot')).toEqual({ ...record, revokedAtMs: 1000 })
    await vi.waitFor(() => expect(here.lookup(record.hash)?.revokedAtMs).toBe(1000))
    expect((await open()).list()).toEqual([{ ...record, revokedAtMs: 1000 }])
  })

  it('are rotated on one node for all, with who did it', async () => {
    const [here, there] = [await open(), await open()]
    const { record } = await here.create({ name: 'bot', plan: 'pro', by: 'ann' })
    await here.noteUse(record.hash, 'rest')
    await there.noteUse(record.hash, 'push')
    const made = await there.rotate('bot', { overlapMs: 500, by: 'bob' })
    const old = {
      ...{ ...record, expiresAtMs: 1500, firstUse: { atMs: 1000, by: 'rest' } },
      rotation: { atMs: 1000, by: 'bob', newKeyId: made?.record.id },
    }
    await vi.waitFor(() => expect(here.lookup(record.hash)).toEqual(old))
    expect(here.lookup(made?.record.hash ?? '')).toMatchObject({ plan: 'pro', createdBy: 'bob', expiresAtMs: null })
    expect(await here.revoke(record.id, 'cy')).toEqual({ ...old, revokedAtMs: 1000, revokedBy: 'cy' })
    expect(
      (await open())
        .list()
        .map(({ id }) => id)
        .sort(),
    ).toEqual([record.id, made?.record.id].sort())
  })

  it('are in the log only as hashes', async () => {
    const log = shared.open()
    const { key } = await (await open(log)).create({ name: 'bot', plan: 'free' })
    const text = (await log.read(KEYS_TOPIC, { from: 0 })).map((one) => one.key + Buffer.from(one.value)).join()
    expect([text.includes(hashKey(key)), text.includes(key.slice(3))]).toEqual([true, false])
  })

  it('are revoked by id or unique name, on any node', async () => {
    const [here, there] = [await open(), await open()]
    for (const name of ['a', 'twin', 'twin']) await here.create({ name, plan: 'free' })
    expect(await there.revoke('twin')).toBeUndefined()
    expect(await there.revoke('none')).toBeUndefined()
    expect((await there.revoke('a'))?.revokedAtMs).toBe(1000)
  })

  it('start with exactly one first key, however many nodes start at once', async () => {
    for (let round = 0; round < 5; round++) {
      const cluster = sharedLog()
      const started = await Promise.all([1, 2, 3, 4].map(() => open(cluster.open())))
      const created = (await Promise.all(started.map((keys) => keys.ensureFirst()))).flatMap((made) => made ?? [])
      expect(created.map(({ record }) => record)).toMatchObject([{ name: 'first', plan: 'operator', ratePerS: null }])
      const late = await open(cluster.open())
      expect(await late.ensureFirst()).toBeUndefined()
      expect(late.list()).toEqual(created.map(({ record }) => record))
      await late.revoke('first')
      expect(late.list()).toMatchObject([{ ...created[0]?.record, revokedAtMs: 1000 }])
      expect(await late.ensureFirst()).toBeUndefined()
      for (const keys of opened.splice(0)) await keys.close()
      await cluster.close()
    }
  })

  it('have no first key if another key was created just before', async () => {
    const log = shared.open()
    const other = await open()
    const slow: EventLog = {
      ...log,
      async append(...args) {
        await other.create({ name: 'mine', plan: 'free' })
        return log.append(...args)
      },
    }
    const keys = await open(slow)
    expect(await keys.ensureFirst()).toBeUndefined()
    expect(keys.list().map(({ name }) => name)).toEqual(['mine'])
  })
})

describe('what the keys of a cluster spent', () => {
  const spent = (keys: KeyStore) => ['2026-11', '2026-12', '2027-01'].map((month) => keys.spentCu('a', month))

  it('is summed over all nodes and survives a restart', async () => {
    const [here, there] = [await open(), await open()]
    await Promise.all([
      here.addSpentCu([{ keyId: 'a', month: '2026-11', cu: 5 }]),
      here.addSpentCu([{ keyId: 'a', month: '2026-11', cu: 2 }]),
      there.addSpentCu([
        { keyId: 'a', month: '2026-11', cu: 10 },
        { keyId: 'a', month: '2026-12', cu: 100 },
        { keyId: 'b', month: '2026-11', cu: 1 },
      ]),
    ])
    for (const keys of [here, there]) await vi.waitFor(() => expect(spent(keys)).toEqual([17, 100, 0]))
    expect(here.list()).toEqual([])
    const restarted = await open()
    await restarted.addSpentCu([{ keyId: 'a', month: '2026-11', cu: 1 }])
    expect(spent(restarted)).toEqual([18, 100, 0])
  })

  it('is counted once if a write was stored but its response was lost', async () => {
    const log = shared.open()
    let answers = false
    const shaky: EventLog = {
      ...log,
      async append(...args) {
        const offset = await log.append(...args)
        if (answers) return offset
        throw new DextapeError({ code: 'log_away', what: 'no answer', retry: true })
      },
    }
    const keys = await open(shaky)
    const five = [{ keyId: 'a', month: '2026-11', cu: 5 }]
    await expect(keys.addSpentCu(five)).rejects.toMatchObject({ code: 'log_away' })
    await vi.waitFor(() => expect(keys.spentCu('a', '2026-11')).toBe(5))
    answers = true
    await keys.addSpentCu(five)
    expect((await open()).spentCu('a', '2026-11')).toBe(5)
  })
})

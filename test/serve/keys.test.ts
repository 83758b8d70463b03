import { describe, expect, it } from 'vitest'
import { hashKey, type SpentCu } from '../../services/core/keys/key-store.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import { createKeyGate } from '../../services/serve/keys/key-gate.js'
import { createSpending } from '../../services/serve/keys/spending.js'
import { keyRecord, spentInMemory } from './rig.js'

const NOV_30 = Date.UTC(2026, 10, 30, 23, 59, 59)

function gateAt(nowMs: () => number, given: Parameters<typeof keyRecord>[0] = {}) {
  const keys = new Map([[hashKey('known'), keyRecord(given)]])
  const spending = createSpending(spentInMemory(), nowMs, silentLogger)
  const store = { lookup: (hash: string) => keys.get(hash), list: () => [...keys.values()] }
  return createKeyGate(store, spending, { kind: 'fixed', key: 'fixed key' }, nowMs)
}

describe('the key gate', () => {
  it('accepts the fixed key and stored keys, and rejects any other', () => {
    const gate = gateAt(() => 0)
    expect(gate.identify('fixed key')).toMatchObject({ ok: true, access: { plan: 'unlimited', ratePerS: null } })
    expect(gate.identify('known').ok).toBe(true)
    expect(gate.identify('fixed')).toEqual({ ok: false, refusal: { kind: 'invalid' } })
    expect(gate.identify('')).toEqual({ ok: false, refusal: { kind: 'missing' } })
  })

  it('rejects a key from its expiry time on', () => {
    let now = 999
    const gate = gateAt(() => now, { expiresAtMs: 1000 })
    expect(gate.identify('known').ok).toBe(true)
    now = 1000
    expect(gate.identify('known')).toEqual({ ok: false, refusal: { kind: 'expired' } })
  })

  it('enforces the rate limit per second', () => {
    let now = 5000
    const gate = gateAt(() => now, { ratePerS: 2 })
    const three = () => [1, 2, 3].map(() => gate.admit('known', 1).ok)
    expect(three()).toEqual([true, true, false])
    now = 6000
    expect(three()).toEqual([true, true, false])
  })

  it('enforces the quota until the month ends', () => {
    let now = NOV_30
    const gate = gateAt(() => now, { quotaCu: 100 })
    const first = gate.admit('known', 100)
    expect([first.ok, gate.admit('known', 100).ok]).toEqual([true, true])
    if (first.ok) gate.spend(first.access, 100)
    expect(gate.admit('known', 5)).toEqual({
      ok: false,
      refusal: {
        ...{ kind: 'cu_exhausted', retryAfterS: 1, resetAtS: Date.UTC(2026, 11, 1) / 1000 },
        ...{ quotaCu: 100, plan: 'unlimited' },
      },
    })
    now += 1000
    expect(gate.admit('known', 5).ok).toBe(true)
  })
})

describe('credit usage', () => {
  it('is written in one batch, and kept when the write fails', async () => {
    const written: SpentCu[][] = []
    let away = true
    const keys = {
      spentCu: () => 7,
      addSpentCu: async (spent: readonly SpentCu[]) => {
        if (away) throw new Error('no disk')
        written.push([...spent])
      },
    }
    let now = NOV_30
    const spending = createSpending(keys, () => now, silentLogger)
    spending.add('a', 5)
    spending.add('a', 10)
    expect([spending.thisMonth('a'), spending.thisMonth('b')]).toEqual([22, 7])
    await spending.save()
    expect(spending.thisMonth('a')).toBe(22)
    now += 1000
    spending.add('a', 1)
    expect(spending.thisMonth('a')).toBe(8)
    away = false
    await spending.save()
    await spending.save()
    expect(written).toEqual([
      [
        { keyId: 'a', month: '2026-12', cu: 1 },
        { keyId: 'a', month: '2026-11', cu: 15 },
      ],
    ])
  })
  it('includes other nodes within a second, and counts unsaved usage once', async () => {
    let stored = 7
    let now = NOV_30 - 10_000
    const keys = {
      spentCu: () => stored,
      addSpentCu: async (spent: readonly SpentCu[]) => {
        for (const { cu } of spent) stored += cu
      },
    }
    const spending = createSpending(keys, () => now, silentLogger)
    spending.add('a', 5)
    stored += 100
    expect(spending.thisMonth('a')).toBe(12)
    now += 1000
    expect(spending.thisMonth('a')).toBe(112)
    const saved = spending.save()
    now += 1000
    expect(spending.thisMonth('a')).toBe(112)
    await saved
    expect([stored, spending.thisMonth('a')]).toEqual([112, 112])
  })
})

it('notes the first use of a key once, and never a refused one', () => {
  const used: string[] = []
  const records = new Map([
    [hashKey('good'), keyRecord({ id: 'good' })],
    [hashKey('old'), keyRecord({ id: 'old', firstUse: { atMs: 1, by: 'rest' } })],
    [hashKey('revoked'), keyRecord({ id: 'revoked', revokedAtMs: 1 })],
  ])
  const keys = { lookup: (hash: string) => records.get(hash), list: () => [] }
  const spending = createSpending(spentInMemory(), () => 0, silentLogger)
  const gate = createKeyGate(
    keys,
    spending,
    { kind: 'none' },
    () => 5,
    ({ id }) => used.push(id),
  )
  for (const key of ['good', 'good', 'old', 'revoked', 'unknown']) gate.identify(key)
  expect(used).toEqual(['good'])
})

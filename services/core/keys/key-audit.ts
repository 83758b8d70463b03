/**
 * The audit log of the keys. A key's record is never deleted and keeps who did what to it and when, so the log follows from the
 * records: nothing can be in one and not in the other.
 */
import type { KeyRecord } from './key-record.js'

export type KeyEvent = {
  atMs: number
  action: 'created' | 'first used' | 'rotated' | 'expired' | 'revoked'
  keyId: string
  name: string
  /** Empty: not known, or nobody. */
  by: string
  /** Of `rotated`: the key that replaces it. */
  newKeyId?: string
}

/** Oldest first. */
export function auditOf(records: readonly KeyRecord[], nowMs: number): KeyEvent[] {
  return records
    .flatMap((record) => eventsOf(record, nowMs))
    .sort((a, b) => a.atMs - b.atMs || ORDER.indexOf(a.action) - ORDER.indexOf(b.action))
}

const ORDER: readonly KeyEvent['action'][] = ['created', 'first used', 'rotated', 'expired', 'revoked']

function eventsOf(record: KeyRecord, nowMs: number): KeyEvent[] {
  const { id: keyId, name, createdAtMs, expiresAtMs, revokedAtMs, firstUse, rotation } = record
  const event = (action: KeyEvent['action'], atMs: number, by = ''): KeyEvent => ({ atMs, action, keyId, name, by })
  return [
    event('created', createdAtMs, record.createdBy),
    ...(firstUse === undefined ? [] : [event('first used', firstUse.atMs, firstUse.by)]),
    ...(rotation === undefined
      ? []
      : [{ ...event('rotated', rotation.atMs, rotation.by), newKeyId: rotation.newKeyId }]),
    ...(expiresAtMs === null || expiresAtMs > nowMs ? [] : [event('expired', expiresAtMs)]),
    ...(revokedAtMs === null ? [] : [event('revoked', revokedAtMs, record.revokedBy)]),
  ]
}

/** The same for both stores: a key like the old one, which then expires. */
export function rotated(old: KeyRecord, { overlapMs, by = '' }: RotateOptions, newKeyId: string, nowMs: number) {
  const endMs = nowMs + overlapMs
  return {
    rotation: { atMs: nowMs, by, newKeyId },
    // An overlap never makes a key live longer.
    expiresAtMs: old.expiresAtMs === null ? endMs : Math.min(old.expiresAtMs, endMs),
  }
}

export type RotateOptions = {
  /** How long the old key still works. */
  overlapMs: number
  by?: string
}

/** What the new key takes from the old one; its life is as long. */
export function likeKey({ name, plan, only, ratePerS, quotaCu, createdAtMs, expiresAtMs }: KeyRecord, nowMs: number) {
  return {
    ...{ name, plan, ratePerS, quotaCu },
    ...(only === undefined ? {} : { only }),
    ...(expiresAtMs === null ? {} : { expiresAtMs: nowMs + (expiresAtMs - createdAtMs) }),
  }
}

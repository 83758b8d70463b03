import { createHash } from 'node:crypto'

/** A short name of a long value, to compare updates without keeping them. */
export function fingerprintOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64').slice(0, 22)
}

/** Plays chain time against the clock: at speed 10, ten seconds of chain time take one. */
import { ConfigError } from '../../../core/domain/errors.js'

/** A factor, or as fast as it goes. */
export type Speed = 'max' | number

export function parseSpeed(text: string): Speed {
  if (text === 'max') return 'max'
  const factor = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (factor > 0 && Number.isFinite(factor)) return factor
  throw new ConfigError({
    code: 'speed_invalid',
    what: 'The speed of a recording is not valid',
    expected: '"max" or a factor above 0 such as 1, 10 or 0.5',
    got: JSON.stringify(text),
  })
}

/** How long to wait before a record of that chain time is due. The first record is due at once. */
export function createPace(speed: Speed, nowMs: () => number): (chainTimeS: number) => number {
  if (speed === 'max') return () => 0
  let first: { chainTimeS: number; wallMs: number } | undefined
  return (chainTimeS) => {
    first ??= { chainTimeS, wallMs: nowMs() }
    const dueMs = first.wallMs + ((chainTimeS - first.chainTimeS) * 1000) / speed
    return Math.max(0, dueMs - nowMs())
  }
}

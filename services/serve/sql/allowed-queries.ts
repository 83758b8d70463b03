/**
 * Remembers what the guard allowed: a chart, a notebook or a dashboard asks the same text again and again, and judging it takes the
 * engine longer than most answers. The verdict depends on the text alone; the plan's limits apply when the query runs.
 */
import type { CanonicalQuery } from './canonical-text.js'
import type { Guard } from './guard.js'

const MOST_QUERIES = 500
/** Of a remembered text with its parameters. */
const LONGEST_TEXT = 8_192

export function remembering(guard: Guard): Guard {
  /** The one that was asked last is last. */
  const allowed = new Map<string, CanonicalQuery>()
  return async (text, settings, parameters = new Map()) => {
    const key = JSON.stringify([text, ...parameters])
    const query = allowed.get(key) ?? (await guard(text, settings, parameters))
    if (key.length > LONGEST_TEXT) return query
    allowed.delete(key)
    allowed.set(key, query)
    const [oldest = key] = allowed.size > MOST_QUERIES ? allowed.keys() : []
    if (oldest !== key) allowed.delete(oldest)
    return query
  }
}

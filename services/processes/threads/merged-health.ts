import type { Health, Part, UnreachablePart } from '../../core/runtime/part-health.js'

/** Merges what the threads of a process cannot reach into its health: a part is unreachable while any of them reports it. */
export function createMergedHealth(health: Health): (thread: string, away: readonly UnreachablePart[]) => void {
  const awayOf = new Map<string, ReadonlySet<Part>>()
  const isAway = (part: Part) => [...awayOf.values()].some((parts) => parts.has(part))
  return (thread, away) => {
    const before = awayOf.get(thread) ?? new Set()
    awayOf.set(thread, new Set(away.map(({ part }) => part)))
    for (const { part, reason } of away) health.markUnreachable(part, reason)
    for (const part of before) if (!isAway(part)) health.markReachable(part)
  }
}

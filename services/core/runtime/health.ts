/** Which parts a process leans on are away, since when and why: told in /status, logged when it changes, not at each attempt. */
import { withoutAddresses } from './error-text.js'
import type { Logger } from './logger.js'
import type { Metrics } from './metrics.js'

export type Part = 'log' | 'store' | 'source' | 'registry'

/** `since` in epoch seconds, as all times of the interface. */
export type Away = { part: Part; since: number; reason: string }

/** The same with who said it. */
export type AwayReport = { part: Part; where: string; since: number; reason: string }

/** What a part is handed to tell of itself. Each may be called at every attempt. */
export type Presence = { onAway(reason: string): void; onBack(): void }

export interface Health {
  away(part: Part, reason: string): void
  ok(part: Part): void
  presenceOf(part: Part): Presence
  /** What is away now, longest first. */
  report(): Away[]
  /** The parts this process leans on, whether away or not. */
  readonly parts: ReadonlySet<Part>
}

export type HealthOptions = { parts?: readonly Part[]; logger: Logger; nowMs?: () => number }

export function createHealth({ parts: known = [], logger, nowMs = Date.now }: HealthOptions): Health {
  const parts = new Set<Part>(known)
  const since = new Map<Part, { ms: number; reason: string }>()

  function away(part: Part, text: string): void {
    // Reasons are shown to everybody.
    const reason = withoutAddresses(text)
    parts.add(part)
    const before = since.get(part)
    since.set(part, { ms: before?.ms ?? nowMs(), reason })
    if (before === undefined) logger.warn('a part is away, trying until it is back', { part, reason })
  }

  function ok(part: Part): void {
    const before = since.get(part)
    if (before === undefined) return
    since.delete(part)
    logger.info('a part is back', { part, away_s: Math.round((nowMs() - before.ms) / 1000) })
  }

  return {
    away,
    ok,
    presenceOf: (part) => ({ onAway: (reason) => away(part, reason), onBack: () => ok(part) }),
    report: () =>
      [...since]
        .sort(([, a], [, b]) => a.ms - b.ms)
        .map(([part, { ms, reason }]) => ({ part, since: Math.floor(ms / 1000), reason })),
    parts,
  }
}

export function registerHealthMetrics(metrics: Metrics, health: Health): void {
  const help = '1 where a part this process leans on is away'
  metrics.gauge({ name: 'dextape_part_away', help, labels: ['part'] }, () => {
    const away = new Set(health.report().map(({ part }) => part))
    return [...health.parts].map((part) => ({ labels: { part }, value: away.has(part) ? 1 : 0 }))
  })
}

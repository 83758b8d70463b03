/** Which parts a process depends on are unreachable, since when and why: for /status, and logged when it changes. */
import { type Logger, withoutAddresses } from './logger.js'
import type { Metrics } from './metrics.js'

export type Part = 'log' | 'store' | 'source' | 'registry'

/** `since` in epoch seconds, as all times of the interface. */
export type UnreachablePart = { part: Part; since: number; reason: string }

/** The same with the process that reported it. */
export type UnreachableReport = { part: Part; where: string; since: number; reason: string }

/** How a part reports its reachability. Each may be called at every attempt. */
export type Reachability = { onUnreachable(reason: string): void; onReachable(): void }

export interface Health {
  markUnreachable(part: Part, reason: string): void
  markReachable(part: Part): void
  reachabilityOf(part: Part): Reachability
  /** What is unreachable now, longest first. */
  report(): UnreachablePart[]
  /** All parts this process depends on, reachable or not. */
  readonly parts: ReadonlySet<Part>
}

export type HealthOptions = { parts?: readonly Part[]; logger: Logger; nowMs?: () => number }

export function createHealth({ parts: known = [], logger, nowMs = Date.now }: HealthOptions): Health {
  const parts = new Set<Part>(known)
  const since = new Map<Part, { ms: number; reason: string }>()

  function markUnreachable(part: Part, text: string): void {
    // Reasons are public: they are part of /status.
    const reason = withoutAddresses(text)
    parts.add(part)
    const before = since.get(part)
    since.set(part, { ms: before?.ms ?? nowMs(), reason })
    if (before === undefined) logger.warn('part unreachable, retrying', { part, reason })
  }

  function markReachable(part: Part): void {
    const before = since.get(part)
    if (before === undefined) return
    since.delete(part)
    logger.info('part reachable again', { part, away_s: Math.round((nowMs() - before.ms) / 1000) })
  }

  return {
    markUnreachable,
    markReachable,
    reachabilityOf: (part) => ({
      onUnreachable: (reason) => markUnreachable(part, reason),
      onReachable: () => markReachable(part),
    }),
    report: () =>
      [...since]
        .sort(([, a], [, b]) => a.ms - b.ms)
        .map(([part, { ms, reason }]) => ({ part, since: Math.floor(ms / 1000), reason })),
    parts,
  }
}

export function registerHealthMetrics(metrics: Metrics, health: Health): void {
  const help = '1 if a part this process depends on is unreachable'
  metrics.gauge({ name: 'dextape_part_away', help, labels: ['part'] }, () => {
    const unreachable = new Set(health.report().map(({ part }) => part))
    return [...health.parts].map((part) => ({ labels: { part }, value: unreachable.has(part) ? 1 : 0 }))
  })
}

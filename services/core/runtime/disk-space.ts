/** Watches the free space of the data directory, so that writing stops before the disk is full, and goes on when there is room. */
import { statfsSync } from 'node:fs'
import type { Logger } from './logger.js'

export type DiskReport = {
  /** `full`: new blocks wait. `low`: less than four times the reserve, or less than a day at the present growth. */
  state: 'ok' | 'low' | 'full'
  free_bytes: number
  reserve_bytes: number
  /** Over the last hour, or since the start; null: not known yet. */
  growth_bytes_per_h: number | null
  /** Until the reserve is reached at this growth; null: it does not grow, or that is not known yet. */
  full_in_s: number | null
}

export type DiskWatchOptions = {
  reserveBytes: number
  readFreeBytes: () => number
  logger: Logger
  nowMs?: () => number
  onChange: (report: DiskReport) => void
}

export interface DiskWatch {
  /** Looks now. */
  look(): DiskReport
  report(): DiskReport
}

const SAMPLE_EVERY_MS = 60_000
const SAMPLES = 60
/** Growth over less time than this says little. */
const SHORTEST_SPAN_MS = 5 * 60_000
const LOW_RESERVES = 4
const LOW_S = 86_400
/** Blocks go on with this much more than the reserve, so that they do not stop again at once. */
const RESUME_RESERVES = 1.25

export function createDiskWatch(options: DiskWatchOptions): DiskWatch {
  const { reserveBytes, readFreeBytes, logger, nowMs = Date.now, onChange } = options
  const samples: { atMs: number; free: number }[] = []
  let last: DiskReport | undefined

  function measure(): DiskReport {
    const [atMs, free] = [nowMs(), readFreeBytes()]
    const newest = samples.at(-1)
    if (newest === undefined || atMs - newest.atMs >= SAMPLE_EVERY_MS) samples.push({ atMs, free })
    if (samples.length > SAMPLES) samples.shift()
    const oldest = samples[0] ?? { atMs, free }
    const spanMs = atMs - oldest.atMs
    const growth = spanMs < SHORTEST_SPAN_MS ? null : Math.round(((oldest.free - free) * 3_600_000) / spanMs)
    const fullInS =
      growth === null || growth <= 0 ? null : Math.max(0, Math.round(((free - reserveBytes) / growth) * 3600))
    return {
      state: stateOf(free, fullInS),
      ...{ free_bytes: free, reserve_bytes: reserveBytes, growth_bytes_per_h: growth, full_in_s: fullInS },
    }
  }

  function stateOf(free: number, fullInS: number | null): DiskReport['state'] {
    const wasFull = last?.state === 'full'
    if (free < reserveBytes * (wasFull ? RESUME_RESERVES : 1)) return 'full'
    return free < reserveBytes * LOW_RESERVES || (fullInS !== null && fullInS < LOW_S) ? 'low' : 'ok'
  }

  return {
    look() {
      const before = last?.state ?? 'ok'
      const now = measure()
      last = now
      if (now.state !== before) {
        logState(logger, before, now)
        onChange(now)
      }
      return now
    },
    report: () => last ?? measure(),
  }
}

function logState(logger: Logger, before: DiskReport['state'], report: DiskReport): void {
  const fields = { free_mb: Math.floor(report.free_bytes / 2 ** 20), full_in_s: report.full_in_s }
  if (report.state === 'full') logger.error('the disk is full: new blocks wait until there is room', fields)
  else if (before === 'full') logger.info('the disk has room again', fields)
  else if (report.state === 'low') logger.warn('the disk is nearly full', fields)
}

/** For a process without privileges. */
export function freeBytesOf(path: string): number {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

/** What the system says of a running process. */
import { readFileSync, writeFileSync } from 'node:fs'

/** The kernel counts time in these on every machine we know. */
const TICKS_PER_S = 100

/** `anonymousMb`: without pages of files, which the system can drop. */
export type Memory = { residentMb: number; peakMb: number; anonymousMb: number }

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return { residentMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM'), anonymousMb: megabytes('RssAnon') }
}

/** The peak is counted from now on. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Of all its threads, since it began. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name before them may hold anything, spaces and brackets too.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S
}

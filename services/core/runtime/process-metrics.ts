/** Metrics of a process as a whole: version, certificate, disk, threads. */
import type { DiskReport } from './disk-space.js'
import type { Metrics } from './metrics.js'
import { certificateEnd, type TlsFiles } from './tls-files.js'
import { VERSION } from './version.js'

export function registerProcessMetrics(metrics: Metrics, process: string, tls?: TlsFiles): void {
  metrics.gauge({ name: 'dextape_build_info', help: 'Always 1', labels: ['version', 'process'] }, () => [
    { labels: { version: VERSION, process }, value: 1 },
  ])
  if (tls === undefined) return
  const help = 'When the certificate of the ports expires, epoch seconds'
  metrics.gauge({ name: 'dextape_tls_expiry_timestamp_seconds', help }, () => {
    const endMs = certificateEnd(tls)
    return endMs === undefined ? [] : [{ value: endMs / 1000 }]
  })
}

export function registerDiskMetrics(metrics: Metrics, report: () => DiskReport): void {
  metrics.gauge({ name: 'dextape_disk_free_bytes', help: 'Free space of the data directory' }, () => [
    { value: report().free_bytes },
  ])
  metrics.gauge({ name: 'dextape_disk_reserve_bytes', help: 'New blocks wait below this much free space' }, () => [
    { value: report().reserve_bytes },
  ])
  metrics.gauge({ name: 'dextape_disk_full', help: '1 while new blocks wait for free space' }, () => [
    { value: report().state === 'full' ? 1 : 0 },
  ])
}

export type ThreadState = { thread: string; restarts: number; running: boolean }

export function registerThreadMetrics(metrics: Metrics, threads: () => readonly ThreadState[]): void {
  const labels = ['thread']
  const restarts = { name: 'dextape_thread_restarts_total', help: 'Unexpected ends of a thread', labels } as const
  metrics.counter(restarts, () => threads().map(({ thread, restarts: value }) => ({ labels: { thread }, value })))
  metrics.gauge({ name: 'dextape_thread_running', help: '1 while the thread works', labels }, () =>
    threads().map(({ thread, running }) => ({ labels: { thread }, value: running ? 1 : 0 })),
  )
}

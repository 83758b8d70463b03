import type { Metrics, Sample } from '../core/runtime/metrics.js'
import type { ReplayReport } from './serve-deps.js'

/** Of replays that have not ended; none otherwise. */
export function registerReplayMetrics(metrics: Metrics, replays: () => readonly ReplayReport[]): void {
  const labels = ['chain', 'stage']
  const each = (value: (replay: ReplayReport) => number | null) => (): Sample[] =>
    replays().flatMap((replay) => {
      const measured = value(replay)
      const { chain, stage } = replay
      return measured === null ? [] : [{ labels: { chain, stage }, value: measured }]
    })
  const gauges = [
    ['dextape_replay_done_records', 'Records a replay has folded, or updates it has verified', 'done'],
    ['dextape_replay_total_records', 'Records or updates of the stage', 'total'],
    ['dextape_replay_left_seconds', 'Time left of the stage; absent while not known', 'left_s'],
  ] as const
  for (const [name, help, field] of gauges)
    metrics.gauge(
      { name, help, labels },
      each((replay) => replay[field]),
    )
  metrics.gauge(
    { name: 'dextape_replay_running', help: '1 while its process runs; 0: it can be resumed', labels },
    each(({ running }) => (running ? 1 : 0)),
  )
}

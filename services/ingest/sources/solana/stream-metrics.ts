/** Whether streams of blocks are there, for /metrics. Their names are hosts. */
import type { Metrics, Sample } from '../../../core/runtime/metrics.js'
import type { StreamStatus } from './live-blocks.js'

export function registerStreamMetrics(metrics: Metrics, chain: string, streams: () => StreamStatus[]): void {
  const labels = ['chain', 'stream']
  const each = (value: (stream: StreamStatus) => number) =>
    function* (): Iterable<Sample> {
      for (const stream of streams()) yield { labels: { chain, stream: stream.name }, value: value(stream) }
    }
  metrics.gauge(
    { name: 'dextape_stream_connected', help: '1 where a stream sends blocks, 0 where they are asked for', labels },
    each(({ connected }) => (connected ? 1 : 0)),
  )
  metrics.gauge(
    { name: 'dextape_stream_head_blocks', help: 'The last slot a stream sent', labels },
    each(({ lastSlot }) => lastSlot ?? 0),
  )
}

/** What a process of a cluster needs to be told, beyond what `up` needs. */
import type { Config } from '../core/config/index.js'
import { ConfigError } from '../core/domain/errors.js'

export type ClusterCommand = 'ingest' | 'aggregate' | 'serve'

export function assertCluster({ log, store }: Pick<Config, 'log' | 'store'>, command: ClusterCommand): void {
  if (log.kind !== 'kafka')
    throw new ConfigError({
      code: 'cluster_needs_kafka',
      what: `\`dextape ${command}\` is one process of a cluster, which meets in Kafka`,
      fix: 'Set KAFKA_BROKERS (a broker for one machine: `node infra/kafka/broker.mjs start`), or run everything in one process with `dextape up`.',
    })
  if (command !== 'ingest' && store.kind !== 'clickhouse')
    throw new ConfigError({
      code: 'cluster_needs_clickhouse',
      what: `\`dextape ${command}\` shares its store with other processes, and the embedded one belongs to a single process`,
      fix: 'Set CLICKHOUSE_URL, or run everything in one process with `dextape up`.',
    })
}

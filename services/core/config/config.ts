/** The configuration as the program uses it: file and environment, parsed once, validated as a whole, passed down. */
import type { ChainFacts } from '../domain/chains.js'
import type { Capacity, Plans } from '../domain/plans.js'
import type { TlsFiles } from '../runtime/tls-files.js'
import type { TracingChoice } from '../runtime/tracing.js'
import { type ChainSources, describeChainSource } from './chain-sources.js'
import type { PUSH_SERVERS } from './file-schema.js'
import { withoutSecrets } from './node-source.js'
import { describeCapacity, describePlans } from './plan-settings.js'
import type { ClientTls, SaslChoice } from './secrets.js'

export { chainFacts } from './chain-facts.js'
export { withoutSecrets }

export type KafkaChoice = {
  kind: 'kafka'
  brokers: readonly string[]
  /** The URL has user and password. */
  registry: { kind: 'in_log' } | { kind: 'http'; url: string; tls?: ClientTls }
  /** Prefix of every topic and group: several installations may share a cluster. */
  prefix: string
  ssl: boolean
  /** Where `ssl` is on. */
  tls?: ClientTls
  sasl?: SaslChoice
  /** Undefined: three if the cluster has as many brokers, else one. */
  replicationFactor?: number
}

export type LogChoice = { kind: 'embedded' } | KafkaChoice

export type StoreChoice = { kind: 'embedded' } | { kind: 'clickhouse'; url: string; tls?: ClientTls; cluster?: string }

export type Config = ChainSources & {
  /** The file it came from, if any. */
  file: { kind: 'none' } | { kind: 'file'; path: string }
  /** Absolute. */
  dataDir: string
  /** Data directory of the simulated market: `dataDir` where one is configured, else a separate one. */
  simulatedDataDir: string
  /** The address every server listens on. */
  host: string
  httpPort: number
  wsPort: number
  /** Several `serve` processes of this machine listen on it. */
  wsPortShared: boolean
  pushServer: (typeof PUSH_SERVERS)[number]
  /** Pushes are compressed for clients that offer it. */
  pushCompression: boolean
  /** Certificate and key of the REST and WebSocket ports, as PEM files. None: both ports are without TLS. */
  tls: { kind: 'none' } | ({ kind: 'files' } & TlsFiles)
  /** A fixed key for development, besides those of `dextape keys`; with it no first key is created. */
  apiKey: { kind: 'none' } | { kind: 'fixed'; key: string }
  /** Signs WebSocket tokens. None: `up` keeps one in its data directory, a serve node makes one at each start. */
  wsTokenSecret: { kind: 'none' } | { kind: 'fixed'; secret: string }
  /** `spec`: an envelope where the interface shows one; `always`: around every success body. */
  envelope: 'spec' | 'always'
  /** Public base URLs of REST, all equivalent. None: not published. */
  publicUrls: readonly string[]
  /** Public URL of the WebSocket server. None: the host of the request and the port. */
  publicWsUrl: { kind: 'none' } | { kind: 'url'; url: string }
  /** Origins whose pages may call the REST API from a browser. */
  corsOrigins: { kind: 'any' } | { kind: 'none' } | { kind: 'list'; origins: readonly string[] }
  /** How long an event loop may stand still before the process is ended; 0: for ever. */
  watchdogMs: number
  logFormat: 'auto' | 'text' | 'json'
  /** Which blocks are traced, and who gets the traces. */
  tracing: TracingChoice
  log: LogChoice
  store: StoreChoice
  fold: { maxTimeBackS: number; journalBlocks: number }
  retention: { updatesMs: number; s1CandlesMs: number; deadMs: number }
  /** New blocks wait while the data directory has less free space than this. */
  disk: { reserveBytes: number }
  intervals: {
    flushMs: number
    checkpointMs: number
    progressMs: number
    /** Between two checks of the data directory for damage; 0: none. */
    checkMs: number
  }
  /** Optional topics, besides those the services need. */
  topics: { trades: boolean }
  /** The market `up` simulates when it has no other source. */
  simulator: { seed: number; swapsPerS: number; historyS: number }
  /** What a key may use, by its plan. */
  plans: Plans
  /** What all keys may hold in one serve process. */
  capacity: Capacity
  chains: ReadonlyMap<string, ChainFacts>
}

/** The configuration for display, without secrets. */
export function describeConfig(config: Config): Record<string, unknown> {
  return {
    file: config.file.kind === 'file' ? config.file.path : 'none',
    data_dir: config.dataDir,
    host: config.host,
    http_port: config.httpPort,
    ws_port: config.wsPort,
    ws_port_shared: config.wsPortShared,
    push_server: config.pushServer,
    push_compression: config.pushCompression,
    tls: config.tls.kind === 'files' ? { cert: config.tls.cert, key: config.tls.key } : 'none',
    api_key: config.apiKey.kind === 'fixed' ? '(set, hidden)' : 'none',
    ws_token_secret: config.wsTokenSecret.kind === 'fixed' ? '(set, hidden)' : 'none',
    envelope: config.envelope,
    public_urls: config.publicUrls,
    public_ws_url: config.publicWsUrl.kind === 'url' ? config.publicWsUrl.url : 'none',
    cors_origins: describeOrigins(config.corsOrigins),
    watchdog_s: config.watchdogMs / 1000,
    log_format: config.logFormat,
    tracing:
      config.tracing.kind === 'otlp'
        ? { otlp_url: withoutSecrets(config.tracing.url), every_blocks: config.tracing.everyBlocks }
        : 'none',
    log: config.log.kind === 'kafka' ? describeKafka(config.log) : config.log,
    store:
      config.store.kind === 'clickhouse' ? { ...config.store, url: withoutSecrets(config.store.url) } : config.store,
    fold: { max_time_back_s: config.fold.maxTimeBackS, journal_blocks: config.fold.journalBlocks },
    retention: {
      updates_h: config.retention.updatesMs / 3_600_000,
      s1_candles_d: config.retention.s1CandlesMs / 86_400_000,
      dead_d: config.retention.deadMs / 86_400_000,
    },
    intervals: {
      flush_ms: config.intervals.flushMs,
      checkpoint_ms: config.intervals.checkpointMs,
      progress_s: config.intervals.progressMs / 1000,
      check_s: config.intervals.checkMs / 1000,
    },
    disk: { reserve_mb: config.disk.reserveBytes / 2 ** 20 },
    topics: config.topics,
    simulator: {
      seed: config.simulator.seed,
      swaps_per_s: config.simulator.swapsPerS,
      history_h: config.simulator.historyS / 3600,
    },
    plans: describePlans(config.plans),
    capacity: describeCapacity(config.capacity),
    chains: [...config.chains.keys()],
    sources: Object.fromEntries([...config.sources].map(([chain, source]) => [chain, describeChainSource(source)])),
  }
}

function describeOrigins(origins: Config['corsOrigins']): unknown {
  return origins.kind === 'list' ? origins.origins : origins.kind === 'any' ? '*' : 'none'
}

function describeKafka({ sasl, registry, ...plain }: KafkaChoice): unknown {
  return {
    ...plain,
    registry: registry.kind === 'http' ? { ...registry, url: withoutSecrets(registry.url) } : registry,
    sasl: sasl === undefined ? 'none' : 'password' in sasl ? { ...sasl, password: '(set, hidden)' } : sasl,
  }
}

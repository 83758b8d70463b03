import type { Config } from '../core/config/config.js'
import type { ReplayStage } from '../core/coordination/service-reports.js'
import type { KeyStore } from '../core/keys/key-store.js'
import type { Codec } from '../core/log/codec.js'
import type { EventLog } from '../core/log/port.js'
import type { DiskReport } from '../core/runtime/disk-space.js'
import type { Logger } from '../core/runtime/logger.js'
import type { Metrics, MetricsText } from '../core/runtime/metrics.js'
import type { Health, UnreachableReport } from '../core/runtime/part-health.js'
import type { Tracer } from '../core/runtime/tracing.js'
import type { Store } from '../core/store/port.js'
import type { PushServerName } from './push/transport/push-transport.js'
import type { PushedPositions } from './pushed-positions.js'

/** What only ingest and aggregate know about a chain. Absent: reported as unknown. */
export type PipeChainStatus = {
  chain: string
  /** Source of the blocks: a node's name or a recording's file. */
  source: string
  /** Seconds since the source last delivered a block. */
  sourceAgeS: number | null
  /** First indexed block. */
  indexedFrom: number | null
  /** Why the chain stopped, if it did. */
  stopped?: string
}

/** A replay beside the live tables. `done` of `total` records; of updates while it is verified. */
export type ReplayReport = {
  chain: string
  /** The one it will switch to. */
  epoch: number
  stage: ReplayStage
  /** False: it was stopped or killed, and can be resumed. */
  running: boolean
  done: number
  total: number
  per_s: number
  left_s: number | null
}

export type PushReport = { server: PushServerName; fallback_reason: string | null }

/** What open sockets hold. */
export type PushUsage = {
  /** Keys with an open socket. */
  keys: number
  sockets: number
  subscriptions: number
  ids: number
  /** Approximate. */
  memoryBytes: number
  unreadBytes: number
}

/** Damage that is being repaired. `until`: the block up to which each chain must be stored again. */
export type RepairReport = {
  part: string
  what: string
  answer: string
  found: number
  until: Record<string, { block: number }>
}

/** `last_end`: why it last ended unexpectedly. */
export type ThreadReport = { thread: string; restarts: number; running: boolean; last_end: string | null }

export type ServeConfig = Pick<
  Config,
  'host' | 'httpPort' | 'wsPort' | 'apiKey' | 'envelope' | 'chains' | 'contracts'
> &
  Partial<
    Pick<
      Config,
      'tls' | 'publicUrls' | 'pushServer' | 'pushCompression' | 'plans' | 'capacity' | 'publicWsUrl' | 'corsOrigins'
    >
  >

export type PushLimits = {
  /** A socket with more unsent bytes than this is slow. */
  slowBytes: number
  /** How often unsent bytes are checked while pushes are sent. */
  slowCheckMs: number
  maxSubscriptionsPerSocket: number
  maxItemsPerSubscription: number
  maxBatch: number
  maxMessageBytes: number
  /** How much of a chain's recent pushes is kept for replay: chain time, and approximate memory. */
  ringSeconds: number
  ringBytes: number
  /** How long a client that another node pushed more to waits for this one, before it is told of a gap. */
  behindMs: number
  /** How often the keys of open sockets are checked. */
  keyCheckMs: number
}

export type ServeDeps = {
  log: EventLog
  codec: Pick<Codec, 'decodeLogRecord' | 'decodeLazily' | 'learn'>
  store: Store
  keys: Pick<KeyStore, 'lookup' | 'list' | 'spentCu' | 'addSpentCu'> & Partial<Pick<KeyStore, 'noteUse'>>
  config: ServeConfig
  /** Signs WebSocket tokens. Undefined: a random secret; its tokens are valid on this node until it stops. */
  wsTokenSecret?: string
  logger: Logger
  metrics: Metrics
  tracer?: Tracer | undefined
  /**
   * Prepares what loading needs (the store's tables, the keys). Runs while REST already listens and answers 503; retried
   * after a temporary failure.
   */
  prepare?: () => Promise<void>
  /** Stores a chain's waiting rows now, where the aggregate runs in this process; elsewhere batches are short. */
  flush?: (chain: string) => Promise<void>
  /** Its chains are served even before their first block. */
  pipeStatus?: () => readonly PipeChainStatus[]
  replays?: () => ReplayReport[]
  /** Outages this process sees, reported under `processName`. */
  health?: Health
  processName?: string
  /** Outages other processes see. */
  remoteOutages?: () => UnreachableReport[]
  /** How far was pushed, where push and REST have threads of their own. */
  pushedPositions?: PushedPositions
  /** The server of pushes and its port, where it runs in another thread. */
  pushReport?: () => PushReport | undefined
  wsPort?: () => number
  /** What sockets hold, where they are in another thread; undefined if that does not answer in time. */
  pushUsage?: () => Promise<PushUsage | undefined>
  /** The threads of this process, for /status. */
  threads?: () => ThreadReport[]
  /** Unfinished repairs: while there are any, this process is not ready. */
  repairs?: () => RepairReport[]
  /** Free space of the data directory. */
  disk?: () => DiskReport | undefined
  /** The metrics of all threads. */
  metricsText?: MetricsText
  /** The market is simulated: /status and every page say so. */
  simulated?: boolean | (() => boolean)
  push?: Partial<PushLimits>
  /** Wall clock, epoch milliseconds. */
  nowMs?: () => number
  /** Memory for the newest candles and events of requested pairs; 0: history comes from the store alone. */
  hotHistoryBytes?: number
  /** How long a token's largest holders are answered as they were read. */
  holdersHoldMs?: number
  /** How long a token or list of tokens waits for the rates of first buyers. */
  launchWaitMs?: number
  /** Memory for encoded REST answers; 0: each request is answered anew. */
  answerBytes?: number
  /** How often to poll for new chains and the store's progress. */
  pollMs?: number
  /** Slow down unknown keys from this machine too. */
  slowLoopback?: boolean
  /** How often to look for a renewed certificate. */
  certificateCheckMs?: number
}

/** Some eight hundred charts of a thousand candles, or a hundred and fifty pairs with their last trades. */
export const HOT_HISTORY_BYTES = 67_108_864

/** As often as the store is flushed for balances. */
export const HOLDERS_HOLD_MS = 1_000

/** Without its rates, the rest of a list is worth more than a late one. */
export const LAUNCH_WAIT_MS = 2_000

/** Some eight hundred answers of 300 candles. */
export const ANSWER_BYTES = 33_554_432

const DEFAULT_LIMITS: PushLimits = {
  slowBytes: 1_048_576,
  slowCheckMs: 100,
  maxSubscriptionsPerSocket: 1000,
  maxItemsPerSubscription: 1000,
  maxBatch: 100,
  maxMessageBytes: 262_144,
  ringSeconds: 300,
  ringBytes: 67_108_864,
  behindMs: 10_000,
  keyCheckMs: 10_000,
}

export function pushLimits(given: Partial<PushLimits> = {}): PushLimits {
  return { ...DEFAULT_LIMITS, ...given }
}

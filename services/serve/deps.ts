import type { Config } from '../core/config/config.js'
import type { KeyStore } from '../core/keys/key-store.js'
import type { Codec } from '../core/log/codec.js'
import type { EventLog } from '../core/log/port.js'
import type { Logger } from '../core/runtime/logger.js'
import type { Metrics } from '../core/runtime/metrics.js'
import type { Health, UnreachableReport } from '../core/runtime/part-health.js'
import type { Store } from '../core/store/port.js'

/** What only ingest and the fold know about a chain. Absent: served as unknown. */
export type PipeChainStatus = {
  chain: string
  /** Where the blocks come from: a node's name, a recording's file. */
  source: string
  /** Seconds since the source last gave something. */
  sourceAgeS: number | null
  /** First block number this installation has. */
  indexedFrom: number | null
  /** Why the chain stands still, where it does. */
  stopped?: string
}

export type ServeConfig = Pick<
  Config,
  'host' | 'httpPort' | 'wsPort' | 'apiKey' | 'envelope' | 'chains' | 'contracts'
> &
  Partial<Pick<Config, 'publicUrls' | 'pushServer'>>

export type PushLimits = {
  /** A socket with more bytes unsent than this is slow. */
  slowBytes: number
  /** How often unsent bytes are looked at while something is pushed. */
  slowCheckMs: number
  maxSubscriptionsPerSocket: number
  maxItemsPerSubscription: number
  maxBatch: number
  maxMessageBytes: number
  /** How much of a chain's last pushes is kept to be made again: chain time, and about this much memory. */
  ringSeconds: number
  ringBytes: number
  /** How often it is looked whether the keys of open sockets are still good. */
  keyCheckMs: number
}

export type ServeDeps = {
  log: EventLog
  codec: Pick<Codec, 'decodeLogRecord' | 'learn'>
  store: Store
  keys: Pick<KeyStore, 'lookup' | 'list' | 'spentCu' | 'addSpentCu'>
  config: ServeConfig
  /** Signs WebSocket tokens. Undefined: a random one, whose tokens are good on this node and until it stops. */
  wsTokenSecret?: string
  logger: Logger
  metrics: Metrics
  /**
   * What must be there before anything is loaded (the store's tables, the keys). Runs while REST listens and answers 503;
   * called again after a failure that may pass.
   */
  prepare?: () => Promise<void>
  /** Its chains are served from then on, with or without a first block. */
  pipeStatus?: () => readonly PipeChainStatus[]
  /** What this process finds away, and the name it says so under. */
  health?: Health
  where?: string
  /** What other processes find away. */
  awayElsewhere?: () => UnreachableReport[]
  /** The market is made up: /status and every page say so. */
  simulated?: boolean | (() => boolean)
  push?: Partial<PushLimits>
  /** Wall clock, epoch milliseconds. */
  nowMs?: () => number
  /** How often new chains and the store's progress are looked for. */
  pollMs?: number
}

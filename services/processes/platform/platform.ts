/**
 * What the services stand on: one data directory, or a Kafka cluster. Everything that differs between the two is here, so that
 * the services themselves do not know.
 */
import type { StateStore } from '../../aggregate/checkpoint/state-store.js'
import type { Config } from '../../core/config/index.js'
import type { Generations } from '../../core/coordination/generations.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import type { Claim } from '../../core/data-dir/origin.js'
import type { KeyStore } from '../../core/keys/key-store.js'
import type { Codec } from '../../core/log/codec.js'
import type { EventLog } from '../../core/log/port.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Health } from '../../core/runtime/part-health.js'
import type { Checkpoints } from '../../ingest/checkpoints.js'
import type { Source } from '../../ingest/source.js'

export type Platform = {
  log: EventLog
  codec: Codec
  /** This process, as others may know it. */
  instance: string
  /** Refuses data of another kind than what is there. */
  claimOrigin(claim: Claim): Promise<void>
  /** What the data is; undefined where nobody has written any yet. */
  origin(): Promise<Claim | undefined>
  checkpointsFor(source: Pick<Source, 'id'>): Promise<Checkpoints>
  generations: Generations
  openState(chain: string): Promise<StateStore>
  /** Empty until it is loaded, which may be tried again. */
  createKeys(): KeyStore & { load(): Promise<void> }
  /** Calls back with the chains this process shall fold, whenever they change, until the signal aborts. */
  followChains(onChains: (chains: readonly string[]) => void, signal: AbortSignal): Promise<void>
  /** Updates must stay this long by the clock, for serving nodes whose position nobody knows; 0 where serve tells it. */
  updatesHeldMs: number
  close(): Promise<void>
}

/** `dir` is asked for only where something stands in it. */
export type PlatformDeps = {
  config: Config
  dir: () => DataDir
  logger: Logger
  health: Health
  /** Aborts when the process shall stop: a log that is away then is waited for a few seconds. */
  signal: AbortSignal
}

export const LOG_STOP_MS = 3000

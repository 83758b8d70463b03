/**
 * What the services run on: one data directory or a Kafka cluster. Everything that differs between the two is behind this type, so
 * that the services need not know.
 */

import type { StateStore } from '../../aggregate/checkpoint/state-store.js'
import type { ReplayParts } from '../../aggregate/replay/replay-parts.js'
import type { Config } from '../../core/config/index.js'
import type { Generations } from '../../core/coordination/generations.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import type { Claim } from '../../core/data-dir/origin.js'
import type { KeyStore } from '../../core/keys/key-store.js'
import type { Codec } from '../../core/log/codec.js'
import { blocksOf, type EventLog } from '../../core/log/port.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Health } from '../../core/runtime/part-health.js'
import type { Checkpoints } from '../../ingest/checkpoints.js'
import type { Source } from '../../ingest/source.js'

export type Platform = {
  log: EventLog
  codec: Codec
  /** Name of this process, for others. */
  instance: string
  /** Throws if existing data has another origin. */
  claimOrigin(claim: Claim): Promise<void>
  /** Origin of the data; undefined: none written yet. */
  origin(): Promise<Claim | undefined>
  checkpointsFor(source: Pick<Source, 'id'>): Promise<Checkpoints>
  generations: Generations
  openState(chain: string): Promise<StateStore>
  /** Folds of a chain's log beside the live one. */
  replay: Pick<ReplayParts, 'replays' | 'openState' | 'installState' | 'dropState' | 'dropReplacedState'>
  /** Empty until loaded; loading may be retried. */
  createKeys(): KeyStore & { load(): Promise<void> }
  /** Calls back with the chains assigned to this process, whenever they change, until the signal aborts. */
  followChains(onChains: (chains: readonly string[]) => void, signal: AbortSignal): Promise<void>
  /** Minimum age of updates before deletion, for serve nodes whose position is unknown; 0 where it is known. */
  updatesHeldMs: number
  close(): Promise<void>
}

/** `dir` is called only if the platform uses a data directory. */
export type PlatformDeps = {
  config: Config
  dir: () => DataDir
  logger: Logger
  health: Health
  /** Aborts when the process is asked to stop; an unreachable log is then retried for `LOG_STOP_MS`. */
  signal: AbortSignal
  /** Several threads of this process have the platform open. */
  hasThreads?: boolean
  /** The process that has the embedded log writes to it for this one, which only reads. */
  appendThrough?: EventLog['append']
}

export const LOG_STOP_MS = 3000

/** Chains that have blocks in the log. */
export async function chainsOf(log: EventLog): Promise<string[]> {
  const topics = await log.topics()
  return [...new Set(topics.flatMap(({ topic }) => blocksOf(topic)?.chain ?? []))].sort()
}

/** What the commands that run services receive, with configuration and options already validated. */
import type { ChainSourceConfig, Config } from '../core/config/index.js'
import type { Logger } from '../core/runtime/logger.js'
import type { Output } from '../core/runtime/output.js'
import type { Speed } from '../ingest/sources/recording/recording.js'
import type { ReadConfigAgain } from './watch-config.js'

type Common = { config: Config; logger: Logger; out: Output }

/** `chains`: read from nodes; `open`: decided by the data directory and the configuration. */
export type RequestedSource =
  | { kind: 'recording'; file: string }
  | { kind: 'chains'; sources: readonly ChainSourceConfig[] }
  | { kind: 'open'; wantsSimulation: boolean }

/** `openFrom`: a module whose `openChain` replaces how the nodes of a chain are opened. */
type SourceOptions = { source: RequestedSource; speed: Speed; openFrom?: string; readAgain?: ReadConfigAgain }

/** Resolves with the exit code; undefined means 0. */
export type RunUp = (options: Common & SourceOptions) => Promise<number | undefined>
export type RunIngest = RunUp
export type RunAggregate = (options: Common) => Promise<number | undefined>
export type RunServe = RunAggregate

/** What the commands that run services are handed: configuration and options are read and checked by then. */
import type { ChainSourceConfig, Config } from '../core/config/index.js'
import type { Logger } from '../core/runtime/logger.js'
import type { Output } from '../core/runtime/output.js'
import type { Speed } from '../ingest/sources/recording/recording.js'
import type { OpenChain } from './chain-sources/open-chain.js'

type Common = { config: Config; logger: Logger; out: Output }

/** `chains`: read from nodes; `open`: whatever the data directory and the configuration suggest. */
export type AskedSource =
  | { kind: 'recording'; file: string }
  | { kind: 'chains'; sources: readonly ChainSourceConfig[] }
  | { kind: 'open'; wantsSimulation: boolean }

/** `open`: how a chain's nodes are read, where not as usual. */
type SourceAsked = { source: AskedSource; speed: Speed; open?: OpenChain }

/** Resolves with the exit code; nothing is 0. */
export type RunUp = (options: Common & SourceAsked) => Promise<number | undefined>
export type RunIngest = RunUp
export type RunAggregate = (options: Common) => Promise<number | undefined>
export type RunServe = RunAggregate
export type RunVerify = (options: Common & { chain: string | undefined }) => Promise<number | undefined>

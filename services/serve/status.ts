import { deadTopic } from '../core/log/port.js'
import type { UnreachableReport } from '../core/runtime/part-health.js'
import { VERSION } from '../core/runtime/version.js'
import type { PipeChainStatus } from './deps.js'
import { type ChainState, createChainState } from './memory/chain-state.js'
import type { Memory } from './memory/memory.js'
import type { ChosenTransport } from './push/transport/open-transport.js'
import type { PushServerName } from './push/transport/transport.js'

export type ChainStatus = {
  chain: string
  source: string
  /** Number of the last block served. */
  head: number
  /** Its chain time. */
  time: number
  lag_s: number
  source_age_s: number | null
  indexed_from: number | null
  finalized: number
  last_reorg: ChainState['lastReorg']
  dead_letters: number
  epoch: number
  seq: number
  gaps: number
  last_gap: ChainState['lastGap']
  stopped: string | null
}

export type StatusReport = {
  /** Of the program. */
  version: string
  push: { server: PushServerName; fallback_reason: string | null }
  /** The market is made up. */
  simulated: boolean
  /** What does not answer, where and since when; empty when all is well. */
  away: UnreachableReport[]
  chains: ChainStatus[]
  /** Dead letters that named no chain: lines that are no record at all. */
  dead_letters_without_chain: number
}

/** Where ingest puts what names no chain. */
const NO_CHAIN = 'unknown'

export type StatusDeps = {
  memory: Memory
  pipeStatus: () => readonly PipeChainStatus[]
  away: () => UnreachableReport[]
  simulated: boolean
  nowMs: () => number
  transport: Pick<ChosenTransport, 'server' | 'fallbackReason'>
}

/** From memory alone: it must answer when nothing else does. */
export function readStatus(deps: StatusDeps): StatusReport {
  const pipe = new Map(deps.pipeStatus().map((status) => [status.chain, status]))
  const deadLetters = (chain: string) => {
    const dead = deps.memory.topics().get(deadTopic(chain))
    return dead === undefined ? 0 : dead.end - dead.start
  }
  // A chain that stopped at its very first block has no updates, so memory does not know it.
  const unserved = [...pipe.keys()].filter((chain) => deps.memory.chain(chain) === undefined).map(createChainState)
  const chains = [...deps.memory.chains(), ...unserved].map((state) =>
    chainStatus(state, pipe.get(state.chain), deadLetters(state.chain), deps.nowMs()),
  )
  const { server, fallbackReason } = deps.transport
  return {
    version: VERSION,
    push: { server, fallback_reason: fallbackReason },
    simulated: deps.simulated,
    away: deps.away(),
    chains,
    dead_letters_without_chain: deadLetters(NO_CHAIN),
  }
}

function chainStatus(
  state: ChainState,
  pipe: PipeChainStatus | undefined,
  deadLetters: number,
  nowMs: number,
): ChainStatus {
  const sinceAppliedS = state.appliedAtMs === 0 ? null : wholeSeconds(nowMs - state.appliedAtMs)
  return {
    chain: state.chain,
    source: pipe?.source ?? '',
    head: state.head.number,
    time: state.head.timeS,
    lag_s: wholeSeconds(nowMs - state.head.timeS * 1000),
    // Where the source itself cannot be asked, the age of what it last gave.
    source_age_s: pipe?.sourceAgeS ?? sinceAppliedS,
    indexed_from: pipe?.indexedFrom ?? null,
    finalized: state.finalized,
    last_reorg: state.lastReorg,
    dead_letters: deadLetters,
    epoch: state.epoch,
    seq: state.seq,
    gaps: state.gaps,
    last_gap: state.lastGap,
    stopped: pipe?.stopped ?? state.stopped,
  }
}

function wholeSeconds(ms: number): number {
  return Math.max(0, Math.round(ms / 1000))
}

import { deadTopic } from '../core/log/port.js'
import type { DiskReport } from '../core/runtime/disk-space.js'
import type { UnreachableReport } from '../core/runtime/part-health.js'
import { VERSION } from '../core/runtime/version.js'
import type { Memory } from './memory/memory.js'
import { createServedChain, type ServedChain } from './memory/served-chain.js'
import type { PipeChainStatus, PushReport, RepairReport, ReplayReport, ThreadReport } from './serve-deps.js'
import type { BudgetStatus } from './status-budgets.js'

export type ChainStatus = {
  chain: string
  source: string
  /** Number of the last block served. */
  head: number
  /** Chain time of the last block served. */
  time: number
  lag_s: number
  source_age_s: number | null
  indexed_from: number | null
  finalized: number
  last_reorg: ServedChain['lastReorg']
  dead_letters: number
  epoch: number
  seq: number
  gaps: number
  last_gap: ServedChain['lastGap']
  stopped: string | null
}

export type StatusReport = {
  /** Version of Dextape. */
  version: string
  /** Null: the thread that pushes has not started. */
  push: PushReport | null
  /** Absent: the process has one thread. */
  threads?: ThreadReport[]
  /** The market is simulated. */
  simulated: boolean
  /** Current outages: what is unreachable, from where, since when. */
  away: UnreachableReport[]
  /** Damage of the data directory that is being repaired. */
  damage: DamageStatus[]
  /** Replays of chains that have not ended. */
  replays: ReplayReport[]
  /** Free space of the data directory; absent where there is none. */
  disk_space?: DiskReport
  /** Budgets of keys and what is in use, without naming a key. */
  budgets: BudgetStatus
  chains: ChainStatus[]
  /** Dead letters without a chain, such as lines that are not records. */
  dead_letters_without_chain: number
}

export type DamageStatus = {
  /** `log`, `state` or `store`. */
  part: string
  what: string
  answer: string
  /** Epoch seconds. */
  found: number
  /** Chains that are not stored up to these blocks again. */
  chains: { chain: string; until_block: number }[]
}

/** Chain name ingest uses for records without one. */
const NO_CHAIN = 'unknown'

export type StatusDeps = {
  memory: Memory
  pipeStatus: () => readonly PipeChainStatus[]
  outages: () => UnreachableReport[]
  repairs: readonly RepairReport[]
  replays: ReplayReport[]
  disk: DiskReport | undefined
  simulated: boolean
  nowMs: () => number
  push: PushReport | undefined
  threads: ThreadReport[] | undefined
  budgets: BudgetStatus
}

/** Reads memory only: it must answer during any outage. */
export function readStatus(deps: StatusDeps): StatusReport {
  const pipe = new Map(deps.pipeStatus().map((status) => [status.chain, status]))
  const deadLetters = (chain: string) => {
    const dead = deps.memory.topics().get(deadTopic(chain))
    return dead === undefined ? 0 : dead.end - dead.start
  }
  // A chain that stopped at its first block has no updates, so memory does not have it.
  const unserved = [...pipe.keys()].filter((chain) => deps.memory.chain(chain) === undefined)
  const chains = [...deps.memory.chains(), ...unserved.map((chain) => createServedChain(chain))].map((state) =>
    chainStatus(state, pipe.get(state.chain), deadLetters(state.chain), deps.nowMs()),
  )
  return {
    version: VERSION,
    push: deps.push ?? null,
    ...(deps.threads === undefined ? {} : { threads: deps.threads }),
    simulated: deps.simulated,
    away: deps.outages(),
    damage: deps.repairs.map(({ part, what, answer, found, until }) => ({
      ...{ part, what, answer, found },
      chains: Object.entries(until).map(([chain, { block }]) => ({ chain, until_block: block })),
    })),
    replays: deps.replays,
    ...(deps.disk === undefined ? {} : { disk_space: deps.disk }),
    budgets: deps.budgets,
    chains,
    dead_letters_without_chain: deadLetters(NO_CHAIN),
  }
}

function chainStatus(
  state: ServedChain,
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
    // Without a report from ingest: the age of the last applied update.
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

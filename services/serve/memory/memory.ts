import { type EventLog, REST_GROUP, SERVE_GROUP, type TopicRange, updatesTopic } from '../../core/log/port.js'
import { isRetryable } from '../../core/runtime/backoff.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Store } from '../../core/store/port.js'
import type { ServeMetrics } from '../serve-metrics.js'
import type { AppliedUpdate } from './apply-update.js'
import { type Follower, followChain } from './follow-chain.js'
import { loadChain, loadProgress, type ProgressRow } from './load-chain.js'
import { createPreparedEpochs } from './prepare-epochs.js'
import type { UpdateCodec } from './read-updates.js'
import type { ReplayedUpdate, ReplayLimits } from './replay-recent.js'
import { createServedChain, type Keeps, NOTHING_APPLIED, type ServedChain, trimFlushed } from './served-chain.js'

export type MemoryDeps = {
  log: EventLog
  store: Store
  codec: UpdateCodec
  /** Configured chains, with or without data; chains in the log and the store are discovered. */
  chains: () => readonly string[]
  logger: Logger
  metrics: ServeMetrics
  nowMs: () => number
  /** How much history is replayed at startup. */
  replay: ReplayLimits
  keeps: Keeps
  /** How often to poll for new chains and the store's progress. */
  pollMs?: number
}

/** `behind`: chains that have not caught up. */
export type NotReady = {
  status: 'starting' | 'catching_up' | 'repairing' | 'no_chain'
  reason: string
  behind?: string[]
}

/** The in-memory state of all chains, kept current from their updates. */
export interface Memory {
  chain(name: string): ServedChain | undefined
  chains(): ServedChain[]
  /** How many chains there are. */
  readonly size: number
  /** Called after each applied update, in order per chain. */
  onApplied(listener: (applied: AppliedUpdate) => void): void
  /** Called when a chain continues in another epoch without an update of it: everything about it may be another. */
  onAdopted(listener: (state: ServedChain) => void): void
  /** Called at startup for each recent update already in the loaded state, in order, before new ones are applied. */
  onReplayed(listener: (state: ServedChain, past: ReplayedUpdate) => void): void
  /** Why memory is behind the log; undefined when ready. */
  whyNotReady(): NotReady | undefined
  /** Resolves once each chain known at startup has caught up or stopped. */
  caughtUp(): Promise<void>
  /** The log's topics by name, as of its last answer. */
  topics(): ReadonlyMap<string, TopicRange>
  /** Drops what the store has, by its progress. */
  trimStored(progress: readonly ProgressRow[]): void
  /** Resolves once all chains are loaded. May be retried after a failure. */
  start(): Promise<void>
  stop(): Promise<void>
}

const UPDATES_PREFIX = updatesTopic('')
/** While the store's progress stands still, it is polled less and less often, down to this: rows come in large batches. */
const SLOWEST_STORE_POLL = 5

export function createMemory(deps: MemoryDeps): Memory {
  const states = new Map<string, ServedChain>()
  const opening = new Map<string, Promise<void>>()
  const followers = new Map<string, Follower>()
  const behind = new Set<string>()
  const listeners: ((applied: AppliedUpdate) => void)[] = []
  const adoptListeners: ((state: ServedChain) => void)[] = []
  const replayListeners: ((state: ServedChain, past: ReplayedUpdate) => void)[] = []
  const abort = new AbortController()
  const timers = new Set<NodeJS.Timeout>()
  const { pollMs = 1000, keeps } = deps
  /** Whoever keeps the history reports for both. */
  const isReporting = keeps.history
  const group = keeps.pushes ? SERVE_GROUP : REST_GROUP
  const prepared = createPreparedEpochs(deps)
  let topics: ReadonlyMap<string, TopicRange> = new Map()
  let started = false

  /** Loads each chain once; a failed load is retried on the next call. */
  function open(chain: string): Promise<void> {
    const known = opening.get(chain)
    if (known !== undefined) return known
    const opened = load(chain).catch((error: unknown) => {
      opening.delete(chain)
      states.delete(chain)
      throw error
    })
    opening.set(chain, opened)
    return opened
  }

  async function load(chain: string): Promise<void> {
    states.set(chain, createServedChain(chain, keeps))
    if (!started) behind.add(chain)
    const state = (await loadChain(deps.store, chain, keeps)) ?? createServedChain(chain, keeps)
    states.set(chain, state)
    const follower = followChain(
      { ...deps, group, onApplied, onReplayed: onRecalled, onGap, onAdopted, prepared },
      state,
      abort.signal,
    )
    followers.set(chain, follower)
    follower.caughtUp.then(
      () => behind.delete(chain),
      () => {},
    )
  }

  function onApplied(applied: AppliedUpdate): void {
    if (isReporting) deps.metrics.updatesApplied.add(applied.state.chain)
    for (const listener of listeners) listener(applied)
  }

  function onAdopted(state: ServedChain): void {
    deps.logger.info('a chain continues in another epoch', { chain: state.chain, epoch: state.epoch, seq: state.seq })
    for (const listener of adoptListeners) listener(state)
  }

  function onRecalled(state: ServedChain, past: ReplayedUpdate): void {
    for (const listener of replayListeners) listener(state, past)
  }

  function onGap(state: ServedChain, missing: number): void {
    if (!isReporting) return
    deps.metrics.updatesMissing.add(state.chain, missing)
    deps.logger.error('updates are missing from the log: data of this chain may be incomplete', {
      chain: state.chain,
      missing,
      ...state.lastGap,
    })
  }

  async function openNewChains(): Promise<void> {
    topics = new Map((await deps.log.topics()).map((info) => [info.topic, info]))
    const updates = [...topics.keys()].filter((topic) => topic.startsWith(UPDATES_PREFIX))
    const seen = updates.map((topic) => topic.slice(UPDATES_PREFIX.length))
    await Promise.all([...seen, ...deps.chains()].map(open))
  }

  /** In polls; 1 again after progress or a failure. */
  let storePoll = 1
  const storedVersions = new Map<string, string>()

  async function pollStored(): Promise<void> {
    const slower = Math.min(storePoll * 2, SLOWEST_STORE_POLL)
    storePoll = 1
    const rows = await loadProgress(deps.store)
    if (rows.every(({ chain, version }) => storedVersions.get(chain) === version)) storePoll = slower
    for (const row of rows) storedVersions.set(row.chain, row.version)
    trimStored(rows)
  }

  function trimStored(progress: readonly ProgressRow[]): void {
    for (const row of progress) {
      const state = states.get(row.chain)
      if (state !== undefined) trimFlushed(state, row)
    }
  }

  /** The log and the store are polled independently: an outage of one must not block the other. */
  function pollForever(what: string, look: () => Promise<void>, everyMs: () => number): void {
    const timer = setTimeout(() => {
      timers.delete(timer)
      look()
        // Outages are logged once, by health.
        .catch((error: unknown) => isRetryable(error) || deps.logger.warn(`cannot read ${what}`, { error }))
        .finally(() => !abort.signal.aborted && pollForever(what, look, everyMs))
    }, everyMs())
    timers.add(timer)
  }

  if (isReporting) {
    registerGauges(deps.metrics, states)
    deps.metrics.gauge('dextape_serve_ready', '1 if all updates of the log are applied', [], () => [
      { value: whyNotReady() === undefined ? 1 : 0 },
    ])
  }

  function whyNotReady(): NotReady | undefined {
    if (!started) return { status: 'starting', reason: 'Loading from the log and the store.' }
    const chains = [...behind].sort()
    if (chains.length > 0)
      return {
        status: 'catching_up',
        reason: `Catching up with the log: ${chains.join(', ')}.`,
        behind: chains,
      }
    if ([...states.values()].some(({ seq }) => seq !== NOTHING_APPLIED)) return undefined
    return { status: 'no_chain', reason: 'No chain has any updates yet.' }
  }

  return {
    chain: (name) => states.get(name),
    chains: () => [...states.values()].sort((a, b) => (a.chain < b.chain ? -1 : 1)),
    get size() {
      return states.size
    },
    onApplied: (listener) => listeners.push(listener),
    onAdopted: (listener) => adoptListeners.push(listener),
    onReplayed: (listener) => replayListeners.push(listener),
    async caughtUp() {
      await Promise.allSettled([...followers.values()].map(({ caughtUp }) => caughtUp))
    },
    topics: () => topics,
    trimStored,
    whyNotReady,
    async start() {
      const stored = (await loadProgress(deps.store)).map((row) => row.chain)
      await Promise.all(stored.map(open))
      await openNewChains()
      await prepared.start()
      if (started || abort.signal.aborted) return
      started = true
      pollForever('log topics', openNewChains, () => pollMs)
      if (keeps.history) pollForever('store progress', pollStored, () => storePoll * pollMs)
    },
    async stop() {
      abort.abort()
      for (const timer of timers) clearTimeout(timer)
      await prepared.stop()
      await Promise.all([...followers.values()].map((follower) => follower.done))
    },
  }
}

function registerGauges({ gauge }: ServeMetrics, states: ReadonlyMap<string, ServedChain>): void {
  const perChain = (value: (state: ServedChain) => number) => () =>
    [...states.values()].map((state) => ({ labels: { chain: state.chain }, value: value(state) }))
  gauge(
    'dextape_serve_overlay_candles',
    'Candles not flushed to the store yet',
    ['chain'],
    perChain((s) => s.candles.size),
  )
  gauge(
    'dextape_serve_overlay_blocks',
    'Blocks with events not flushed to the store yet',
    ['chain'],
    perChain((s) => s.events.size),
  )
  gauge(
    'dextape_serve_recent_trades',
    'Trades kept for the 1m and 5m windows',
    ['chain'],
    perChain((s) => s.recent.size),
  )
  gauge(
    'dextape_serve_head_time_seconds',
    'Chain time served',
    ['chain'],
    perChain((s) => s.nowS),
  )
  gauge(
    'dextape_serve_head_blocks',
    'Number of the last block served',
    ['chain'],
    perChain((s) => s.head.number),
  )
  gauge(
    'dextape_serve_applied_timestamp_seconds',
    'Wall clock of the last update applied; 0 before the first',
    ['chain'],
    perChain((s) => s.appliedAtMs / 1000),
  )
  gauge(
    'dextape_serve_chain_stopped',
    '1 if updates of the chain cannot be applied',
    ['chain'],
    perChain((s) => (s.stopped === null ? 0 : 1)),
  )
  gauge(
    'dextape_serve_pairs',
    'Pairs in memory',
    ['chain'],
    perChain((s) => s.pairs.size),
  )
}

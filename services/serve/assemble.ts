import { randomBytes } from 'node:crypto'
import { CAPACITY, PLANS } from '../core/domain/plans.js'
import { registerHealthMetrics } from '../core/runtime/part-health.js'
import { createChainDirectory } from './chain-directory.js'
import type { Duties, DutyParts } from './duties.js'
import { createBadKeys } from './keys/bad-keys.js'
import { createKeyGate } from './keys/key-gate.js'
import { createKeyQueries } from './keys/key-queries.js'
import { createSpending } from './keys/spending.js'
import { createWsTokens } from './keys/ws-tokens.js'
import { createLifecycle, type ServeState } from './lifecycle.js'
import { createMemory } from './memory/memory.js'
import { registerReplayMetrics } from './replay-metrics.js'
import { type PushReport, type PushUsage, pushLimits, type ServeDeps } from './serve-deps.js'
import { createServeMetrics } from './serve-metrics.js'
import { describeBudgets } from './status-budgets.js'
import { readStatus, type StatusReport } from './status-report.js'

export interface Serve {
  /**
   * Listens, waits until the log and the store are reachable, then loads and follows. Resolves with the ports once memory
   * has caught up with the log and sockets are accepted, or early if the signal aborts.
   */
  start(signal?: AbortSignal): Promise<{ httpPort: number; wsPort: number }>
  stop(): Promise<void>
  status(): Promise<StatusReport>
  /** The server of pushes, where it runs here. */
  readonly push: PushReport | undefined
  /** What its sockets hold. */
  pushUsage(): PushUsage | undefined
}

/** The pipe: updates → memory → REST answers and pushes. */
export function assembleServe(deps: ServeDeps, duties: Duties): Serve {
  const { config, logger, processName = 'serve' } = deps
  const { nowMs = Date.now, pipeStatus = () => [], remoteOutages = () => [], wsPort = () => config.wsPort } = deps
  const state: ServeState = { isLoaded: false, wsPort: undefined }
  const metrics = createServeMetrics(deps.metrics)
  if (deps.health !== undefined) registerHealthMetrics(deps.metrics, deps.health)
  if (deps.replays !== undefined) registerReplayMetrics(deps.metrics, deps.replays)

  const limits = pushLimits(deps.push)
  const replay = { seconds: limits.ringSeconds, bytes: limits.ringBytes }
  const configuredChains = () => pipeStatus().map(({ chain }) => chain)
  const keeps = { history: duties.rest !== undefined, pushes: duties.push !== undefined }
  const memory = createMemory({ ...deps, chains: configuredChains, metrics, nowMs, replay, keeps })
  const chains = createChainDirectory(memory, config)

  const spending = createSpending(deps.keys, nowMs, logger)
  const door = duties.rest === undefined ? 'push' : duties.push === undefined ? 'rest' : 'serve'
  const gate = createKeyGate(deps.keys, spending, config.apiKey, nowMs, ({ id, hash }) => {
    logger.info('API key first used', { key_id: id, door })
    deps.keys.noteUse?.(hash, door).catch((error: unknown) => logger.warn('cannot note the use of a key', { error }))
  })
  const tokens = createWsTokens(deps.wsTokenSecret ?? randomBytes(32).toString('hex'), randomBytes, nowMs, gate.hashOf)
  const { plans = PLANS, capacity = CAPACITY } = config
  const queries = createKeyQueries(plans, 'historyQueries')
  const badKeys = createBadKeys({ logger, metrics, nowMs, slowLoopback: deps.slowLoopback })
  const parts: DutyParts = { memory, chains, gate, tokens, queries, badKeys, metrics, nowMs }

  const pushed = duties.push?.(deps, parts)
  const pushUsage = () => pushed?.server.usage()
  const pushReport = () => pushed?.report ?? deps.pushReport?.()

  const ownOutages = () =>
    (deps.health?.report() ?? []).map(({ part, since, reason }) => ({ part, where: processName, since, reason }))
  const outages = () => [...ownOutages(), ...remoteOutages()]
  const isSimulated = () => (typeof deps.simulated === 'function' ? deps.simulated() : (deps.simulated ?? false))
  const status = async () =>
    readStatus({
      ...{ memory, pipeStatus, outages, simulated: isSimulated(), nowMs },
      ...{ push: pushReport(), threads: deps.threads?.(), repairs: deps.repairs?.() ?? [], disk: deps.disk?.() },
      replays: deps.replays?.() ?? [],
      budgets: describeBudgets({
        ...{ plans, capacity, historyQueries: queries.running() },
        push: pushUsage() ?? (await deps.pushUsage?.()),
      }),
    })

  const openPort = () => state.wsPort ?? wsPort()
  const rest = duties.rest?.(deps, parts, { isLoaded: () => state.isLoaded, wsPort: openPort, status })
  return {
    status,
    push: pushed?.report,
    pushUsage,
    ...createLifecycle(deps, { memory, rest, push: pushed?.server, spending, state }),
  }
}

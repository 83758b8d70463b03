import { randomBytes } from 'node:crypto'
import { CAPACITY, PLANS } from '../core/domain/plans.js'
import { registerHealthMetrics } from '../core/runtime/part-health.js'
import { createChainDirectory, revisionsOf } from './chain-directory.js'
import { createHotHistory } from './history/hot/hot-history.js'
import { createQueryLanes } from './history/query-lanes.js'
import { createHistoryQueries, type HistoryQueries } from './keys/history-queries.js'
import { createKeyGate } from './keys/key-gate.js'
import { createSpending } from './keys/spending.js'
import { createWsTokens } from './keys/ws-tokens.js'
import { createLifecycle, type ServeState } from './lifecycle.js'
import { createMemory, type Memory } from './memory/memory.js'
import { addPages } from './pages/page-routes.js'
import { createPushServer, type PushServer } from './push/push-server.js'
import { chooseTransport, GLIBC_FIX } from './push/transport/choose-transport.js'
import { createUntilPushed } from './pushed-positions.js'
import { createAnswerCache } from './rest/answer-cache.js'
import { addServiceRoutes, createRestServer } from './rest/rest-server.js'
import { addWsTokenRoute } from './rest/ws-token-route.js'
import {
  ANSWER_BYTES,
  HOLDERS_HOLD_MS,
  HOT_HISTORY_BYTES,
  type PushReport,
  type PushUsage,
  pushLimits,
  type ServeDeps,
} from './serve-deps.js'
import { createServeMetrics, type ServeMetrics } from './serve-metrics.js'
import { describeBudgets } from './status-budgets.js'
import { readStatus, type StatusReport } from './status-report.js'

export type { PipeChainStatus, PushLimits, ServeConfig, ServeDeps } from './serve-deps.js'

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
export function createServe(deps: ServeDeps): Serve {
  const { config, logger, processName = 'serve', duties = { rest: true, push: true } } = deps
  const { nowMs = Date.now, pipeStatus = () => [], remoteOutages = () => [], wsPort = () => config.wsPort } = deps
  const state: ServeState = { isLoaded: false, wsPort: undefined }
  const metrics = createServeMetrics(deps.metrics)
  if (deps.health !== undefined) registerHealthMetrics(deps.metrics, deps.health)

  const limits = pushLimits(deps.push)
  const replay = { seconds: limits.ringSeconds, bytes: limits.ringBytes }
  const configuredChains = () => pipeStatus().map(({ chain }) => chain)
  const keeps = { history: duties.rest, pushes: duties.push }
  const memory = createMemory({ ...deps, chains: configuredChains, metrics, nowMs, replay, keeps })
  const chains = createChainDirectory(memory, config)

  const spending = createSpending(deps.keys, nowMs, logger)
  const gate = createKeyGate(deps.keys, spending, config.apiKey, nowMs)
  const tokens = createWsTokens(deps.wsTokenSecret ?? randomBytes(32).toString('hex'), randomBytes, nowMs, gate.hashOf)
  const { plans = PLANS, capacity = CAPACITY } = config
  const queries = createHistoryQueries(plans)
  const shared: Shared = { memory, chains, gate, tokens, queries, metrics, nowMs }

  const pushed = duties.push ? createPush(deps, shared) : undefined
  const pushUsage = () => pushed?.server.usage()
  const pushReport = () => pushed?.report ?? deps.pushReport?.()

  const ownOutages = () =>
    (deps.health?.report() ?? []).map(({ part, since, reason }) => ({ part, where: processName, since, reason }))
  const outages = () => [...ownOutages(), ...remoteOutages()]
  const isSimulated = () => (typeof deps.simulated === 'function' ? deps.simulated() : (deps.simulated ?? false))
  const status = async () =>
    readStatus({
      ...{ memory, pipeStatus, outages, simulated: isSimulated(), nowMs },
      ...{ push: pushReport(), threads: deps.threads?.() },
      budgets: describeBudgets({
        ...{ plans, capacity, historyQueries: queries.running() },
        push: pushUsage() ?? (await deps.pushUsage?.()),
      }),
    })

  const openPort = () => state.wsPort ?? wsPort()
  const rest = duties.rest ? createRest(deps, shared, () => state.isLoaded, openPort, status) : undefined
  return {
    status,
    push: pushed?.report,
    pushUsage,
    ...createLifecycle(deps, { memory, rest, push: pushed?.server, spending, state }),
  }
}

/** What both duties are made of. */
type Shared = {
  memory: Memory
  chains: ReturnType<typeof createChainDirectory>
  gate: ReturnType<typeof createKeyGate>
  tokens: ReturnType<typeof createWsTokens>
  queries: HistoryQueries
  metrics: ServeMetrics
  nowMs: () => number
}

function createPush(deps: ServeDeps, shared: Shared): { server: PushServer; report: PushReport } {
  const { config, logger, pushedPositions: positions } = deps
  const { server, fallbackReason, create: createTransport } = chooseTransport(config.pushServer ?? 'auto')
  if (fallbackReason !== null)
    logger.warn('serving pushes with ws, which is slower than uWebSockets.js', {
      reason: fallbackReason,
      fix: GLIBC_FIX,
    })
  // Registered before the push server's own listener: noted before anything is sent.
  if (positions !== undefined) shared.memory.onApplied(({ state }) => positions.note(state.chain, state))
  const limits = pushLimits(deps.push)
  const { plans = PLANS, capacity = CAPACITY } = config
  return {
    server: createPushServer({ ...shared, logger, limits, plans, capacity, createTransport }),
    report: { server, fallback_reason: fallbackReason },
  }
}

function createRest(
  deps: ServeDeps,
  { memory, chains, gate, tokens, queries, metrics, nowMs }: Shared,
  isLoaded: () => boolean,
  wsPort: () => number,
  status: () => Promise<StatusReport>,
) {
  const { config, logger, store, flush = async () => {} } = deps
  const lanes = createQueryLanes(store)
  const { hotHistoryBytes: maxBytes = HOT_HISTORY_BYTES, holdersHoldMs: holdMs = HOLDERS_HOLD_MS } = deps
  const hot = createHotHistory(lanes, flush, { maxBytes, holdMs, nowMs })
  memory.onApplied(hot.apply)
  metrics.gauge('dextape_serve_hot_history_bytes', 'Memory of candles and events kept for requests', [], () => [
    { labels: {}, value: hot.bytes },
  ])
  const answers = createAnswerCache(revisionsOf(chains), deps.answerBytes ?? ANSWER_BYTES)
  metrics.gauge('dextape_serve_answers_bytes', 'Memory of encoded REST answers', [], () => [
    { labels: {}, value: answers.bytes },
  ])
  const { pushedPositions: positions } = deps
  const untilPushed = positions === undefined ? () => undefined : createUntilPushed(memory, positions)
  const rest = createRestServer({
    ...{ chains, store: lanes.cheap, hot, flush, answers, gate, queries, metrics, logger, isLoaded, untilPushed },
    ...{ envelope: config.envelope, corsOrigins: config.corsOrigins ?? { kind: 'any' } },
  })
  addServiceRoutes(rest, { memory, metrics: deps.metricsText === undefined ? metrics : deps.metricsText, status })
  const { publicUrls = [], publicWsUrl = { kind: 'none' } } = config
  addPages(rest, { ...config, publicUrls })
  addWsTokenRoute(rest, { gate, tokens, wsPort, isLoaded, publicUrls, publicWsUrl })
  return rest
}

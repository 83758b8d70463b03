import { randomBytes } from 'node:crypto'
import { registerHealthMetrics } from '../core/runtime/part-health.js'
import { createChainDirectory, revisionsOf } from './chain-directory.js'
import { createHotHistory } from './history/hot/hot-history.js'
import { createQueryLanes } from './history/query-lanes.js'
import { createKeyGate } from './keys/key-gate.js'
import { createSpending } from './keys/spending.js'
import { createWsTokens } from './keys/ws-tokens.js'
import { createLifecycle } from './lifecycle.js'
import { createMemory } from './memory/memory.js'
import { addPages } from './pages/page-routes.js'
import { createPushServer } from './push/push-server.js'
import { chooseTransport, GLIBC_FIX } from './push/transport/choose-transport.js'
import { createAnswerCache } from './rest/answer-cache.js'
import { addServiceRoutes, createRestServer } from './rest/rest-server.js'
import { addWsTokenRoute } from './rest/ws-token-route.js'
import { ANSWER_BYTES, HOLDERS_HOLD_MS, HOT_HISTORY_BYTES, pushLimits, type ServeDeps } from './serve-deps.js'
import { createServeMetrics } from './serve-metrics.js'
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
}

/** The pipe: updates → memory → REST answers and pushes. */
export function createServe(deps: ServeDeps): Serve {
  const { config, logger, store, processName = 'serve' } = deps
  const { nowMs = Date.now, pipeStatus = () => [], remoteOutages = () => [], flush = async () => {} } = deps
  const state = { isLoaded: false, wsPort: config.wsPort }
  const isLoaded = () => state.isLoaded
  const metrics = createServeMetrics(deps.metrics)
  if (deps.health !== undefined) registerHealthMetrics(deps.metrics, deps.health)

  const limits = pushLimits(deps.push)
  const replay = { seconds: limits.ringSeconds, bytes: limits.ringBytes }
  const configuredChains = () => pipeStatus().map(({ chain }) => chain)
  const memory = createMemory({ ...deps, chains: configuredChains, metrics, nowMs, replay })
  const chains = createChainDirectory(memory, config)
  const lanes = createQueryLanes(store)
  const { hotHistoryBytes: maxBytes = HOT_HISTORY_BYTES, holdersHoldMs: holdMs = HOLDERS_HOLD_MS } = deps
  const hot = createHotHistory(lanes, flush, { maxBytes, holdMs, nowMs })
  memory.onApplied(hot.apply)
  metrics.gauge('dextape_serve_hot_history_bytes', 'Memory of candles and events kept for requests', [], () => [
    { labels: {}, value: hot.bytes },
  ])

  const spending = createSpending(deps.keys, nowMs, logger)
  const gate = createKeyGate(deps.keys, spending, config.apiKey, nowMs)
  const tokens = createWsTokens(deps.wsTokenSecret ?? randomBytes(32).toString('hex'), randomBytes, nowMs, gate.hashOf)

  const transport = chooseTransport(config.pushServer ?? 'auto')
  const { fallbackReason: reason, create: createTransport } = transport
  if (reason !== null)
    logger.warn('serving pushes with ws, which is slower than uWebSockets.js', { reason, fix: GLIBC_FIX })
  const push = createPushServer({ memory, chains, gate, tokens, metrics, logger, nowMs, limits, createTransport })

  const ownOutages = () =>
    (deps.health?.report() ?? []).map(({ part, since, reason }) => ({ part, where: processName, since, reason }))
  const outages = () => [...ownOutages(), ...remoteOutages()]
  const isSimulated = () => (typeof deps.simulated === 'function' ? deps.simulated() : (deps.simulated ?? false))
  const status = async () => readStatus({ memory, pipeStatus, outages, simulated: isSimulated(), nowMs, transport })

  const answers = createAnswerCache(revisionsOf(chains), deps.answerBytes ?? ANSWER_BYTES)
  const rest = createRestServer({
    chains,
    store: lanes.cheap,
    hot,
    flush,
    answers,
    gate,
    metrics,
    logger,
    envelope: config.envelope,
    isLoaded,
  })
  metrics.gauge('dextape_serve_answers_bytes', 'Memory of encoded REST answers', [], () => [
    { labels: {}, value: answers.bytes },
  ])
  addServiceRoutes(rest, { memory, metrics, status })
  addPages(rest, { ...config, publicUrls: config.publicUrls ?? [] })
  addWsTokenRoute(rest, { gate, tokens, wsPort: () => state.wsPort, isLoaded })

  return { status, ...createLifecycle(deps, { memory, rest, push, spending, state }) }
}

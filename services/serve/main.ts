import { randomBytes } from 'node:crypto'
import { createBackoff, sleep, untilAborted, withRetry } from '../core/runtime/backoff.js'
import { registerHealthMetrics } from '../core/runtime/part-health.js'
import { createChainDirectory } from './chain-directory.js'
import type { ServeDeps } from './deps.js'
import { createKeyGate } from './keys/gate.js'
import { createSpending } from './keys/spending.js'
import { createWsTokens } from './keys/ws-tokens.js'
import { createMemory } from './memory/memory.js'
import { createServeMetrics } from './metrics.js'
import { addPages } from './pages/routes.js'
import { pushLimits } from './push/limits.js'
import { createPushServer } from './push/server.js'
import { chooseTransport, GLIBC_FIX } from './push/transport/open-transport.js'
import { createRestServer } from './rest/server.js'
import { addServiceRoutes } from './rest/service-routes.js'
import { addWsTokenRoute } from './rest/ws-token-route.js'
import { readStatus, type StatusReport } from './status.js'

export type { PipeChainStatus, PushLimits, ServeConfig, ServeDeps } from './deps.js'

export interface Serve {
  /**
   * Listens, waits for a log and a store that are not there yet, then loads and follows; resolves with the ports once memory
   * has what the log had and sockets are taken, or early where the signal ends the wait.
   */
  start(signal?: AbortSignal): Promise<{ httpPort: number; wsPort: number }>
  stop(): Promise<void>
  status(): Promise<StatusReport>
}

const LONGEST_WAIT_MS = 2000
const SAVE_WITHIN_MS = 1000

/** The serving end of the pipe: updates → memory → REST answers and pushes. */
export function createServe(deps: ServeDeps): Serve {
  const { config, logger, store, where = 'serve' } = deps
  const nowMs = deps.nowMs ?? Date.now
  const metrics = createServeMetrics(deps.metrics)
  const limits = pushLimits(deps.push)
  const recall = { seconds: limits.ringSeconds, bytes: limits.ringBytes }
  const pipeStatus = deps.pipeStatus ?? (() => [])
  const read = () => pipeStatus().map(({ chain }) => chain)
  const memory = createMemory({ ...deps, chains: read, metrics, nowMs, recall })
  const chains = createChainDirectory(memory, config)
  const away = () => [
    ...(deps.health?.report() ?? []).map(({ part, since, reason }) => ({ part, where, since, reason })),
    ...(deps.awayElsewhere?.() ?? []),
  ]
  if (deps.health !== undefined) registerHealthMetrics(deps.metrics, deps.health)
  const isSimulated = () => (typeof deps.simulated === 'function' ? deps.simulated() : (deps.simulated ?? false))
  const transport = chooseTransport(config.pushServer ?? 'auto')
  if (transport.fallbackReason !== null)
    logger.warn('pushes are served by ws, which is slower', { reason: transport.fallbackReason, fix: GLIBC_FIX })
  const status = async () => readStatus({ memory, pipeStatus, away, simulated: isSimulated(), nowMs, transport })
  let isLoaded = false
  const spending = createSpending(deps.keys, nowMs, logger)
  const gate = createKeyGate(deps.keys, spending, config.apiKey, nowMs)
  const { envelope } = config
  const rest = createRestServer({ chains, store, gate, metrics, logger, envelope, isLoaded: () => isLoaded })
  addServiceRoutes(rest, { memory, metrics, status })
  addPages(rest, { ...config, publicUrls: config.publicUrls ?? [] })
  const tokens = createWsTokens(deps.wsTokenSecret ?? randomBytes(32).toString('hex'), randomBytes, nowMs, gate.hashOf)
  let wsPort = config.wsPort
  addWsTokenRoute(rest, { gate, tokens, wsPort: () => wsPort, isLoaded: () => isLoaded })
  const push = createPushServer({
    memory,
    chains,
    gate,
    tokens,
    metrics,
    logger,
    nowMs,
    limits,
    createTransport: transport.create,
  })

  const ending = new AbortController()

  async function load(signal: AbortSignal): Promise<void> {
    const attempt = async () => {
      await deps.prepare?.()
      await memory.start()
      return true
    }
    // What is away is told by health.
    const trying = withRetry(attempt, createBackoff({ maxMs: LONGEST_WAIT_MS }), signal, () => {})
    const loaded = await untilAborted(trying, signal)
    if (loaded === undefined) return
    isLoaded = true
    // Sockets are taken once what was pushed lately can be pushed again: a client that comes back must not be told of a gap.
    if (
      (await untilAborted(
        memory.settled().then(() => true),
        signal,
      )) === undefined
    )
      return
    wsPort = await push.listen(config.host, config.wsPort)
    logger.info('serving', { httpPort: httpPort(), wsPort, chains: memory.chains().map(({ chain }) => chain) })
  }

  function httpPort(): number {
    const address = rest.server.address()
    return typeof address === 'object' && address !== null ? address.port : config.httpPort
  }

  async function close(): Promise<void> {
    ending.abort()
    push.stop()
    await rest.close()
    // A log that is away must not hold up the stop for the last second's credit units.
    const saved = new AbortController()
    await Promise.race([spending.save(), sleep(SAVE_WITHIN_MS, saved.signal)])
    saved.abort()
    await memory.stop()
  }

  let closing: Promise<void> | undefined
  const stop = () => {
    closing ??= close()
    return closing
  }

  return {
    status,
    async start(signal) {
      await rest.listen({ host: config.host, port: config.httpPort })
      try {
        await load(signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]))
      } catch (error) {
        await stop()
        throw error
      }
      return { httpPort: httpPort(), wsPort }
    },
    stop,
  }
}

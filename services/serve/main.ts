import { randomBytes } from 'node:crypto'
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
import { createRestServer } from './rest/server.js'
import { addServiceRoutes } from './rest/service-routes.js'
import { addWsTokenRoute } from './rest/ws-token-route.js'
import { readStatus, type StatusReport } from './status.js'

export type { PipeChainStatus, PushLimits, ServeConfig, ServeDeps } from './deps.js'

export interface Serve {
  /** Listens, then loads and follows; resolves with the ports once memory is loaded. `/ready` tells when it is current. */
  start(): Promise<{ httpPort: number; wsPort: number }>
  stop(): Promise<void>
  status(): Promise<StatusReport>
}

/** The serving end of the pipe: updates → memory → REST answers and pushes. */
export function createServe(deps: ServeDeps): Serve {
  const { config, logger, log, store } = deps
  const nowMs = deps.nowMs ?? Date.now
  const metrics = createServeMetrics(deps.metrics)
  const limits = pushLimits(deps.push)
  const recall = { seconds: limits.ringSeconds, bytes: limits.ringBytes }
  const memory = createMemory({ ...deps, chains: deps.chains ?? [], metrics, nowMs, recall })
  const chains = createChainDirectory(memory, config)
  const spending = createSpending(deps.keys, nowMs, logger)
  const gate = createKeyGate(deps.keys, spending, config.apiKey, nowMs)
  const status = () => readStatus({ memory, log, pipeStatus: deps.pipeStatus ?? (() => []), nowMs })
  const rest = createRestServer({ chains, store, gate, metrics, logger, envelope: config.envelope })
  addServiceRoutes(rest, { memory, metrics, status })
  addPages(rest, { ...config, publicUrls: config.publicUrls ?? [] })
  const tokens = createWsTokens(randomBytes, nowMs)
  let wsPort = config.wsPort
  addWsTokenRoute(rest, { gate, tokens, wsPort: () => wsPort })
  const push = createPushServer({ memory, chains, gate, tokens, metrics, logger, nowMs, limits })

  return {
    status,
    async start() {
      await rest.listen({ host: config.host, port: config.httpPort })
      wsPort = await push.listen(config.host, config.wsPort)
      await memory.start()
      const address = rest.server.address()
      const httpPort = typeof address === 'object' && address !== null ? address.port : config.httpPort
      logger.info('serving', { httpPort, wsPort, chains: memory.chains().map(({ chain }) => chain) })
      return { httpPort, wsPort }
    },
    async stop() {
      push.stop()
      await rest.close()
      await spending.save()
      await memory.stop()
    },
  }
}

import type { FastifyInstance } from 'fastify'
import type { Memory } from '../memory/memory.js'
import type { ServeMetrics } from '../serve-metrics.js'
import type { StatusReport } from '../status-report.js'
import { refuseOtherMethods } from './methods.js'

type ServiceDeps = { memory: Memory; metrics: ServeMetrics; status: () => Promise<StatusReport> }

/** What operators and probes read, without a key. */
export function addServiceRoutes(app: FastifyInstance, { memory, metrics, status }: ServiceDeps): void {
  app.get('/health', async () => ({ status: 'ok' }))
  app.get('/ready', async (_request, reply) => {
    const notReady = memory.whyNotReady()
    return notReady === undefined ? { status: 'ready' } : reply.code(503).header('retry-after', '1').send(notReady)
  })
  app.get('/status', async () => status())
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()))
  for (const url of ['/health', '/ready', '/status', '/metrics']) refuseOtherMethods(app, url, 'GET')
}

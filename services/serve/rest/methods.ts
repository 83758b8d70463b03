import type { FastifyInstance, HTTPMethods } from 'fastify'
import { RequestError } from './problem.js'

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** A known path asked with another method is told which ones it takes: 405, before a body is read. */
export function refuseOtherMethods(app: FastifyInstance, url: string, served: 'GET' | 'POST'): void {
  const allowed: readonly HTTPMethods[] = served === 'GET' ? ['GET', 'HEAD'] : [served]
  app.route({
    method: METHODS.filter((method) => !allowed.includes(method)),
    url,
    exposeHeadRoute: false,
    onRequest: async (request) => {
      const allow = allowed.join(', ')
      const path = request.url.split('?')[0] ?? ''
      throw new RequestError(
        405,
        'method_not_allowed',
        `${path.slice(0, 200)} takes ${allow}, not ${request.method}.`,
        {
          allow,
        },
      )
    },
    handler: async () => {},
  })
}

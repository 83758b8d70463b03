import { METHODS } from 'node:http'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { RequestError } from './problem.js'

/** Those Node reads; CONNECT never becomes a request. */
const READABLE = METHODS.filter((method) => method !== 'CONNECT')

/** The framework must know a method to route it. */
export function knowEveryMethod(app: FastifyInstance): void {
  for (const method of READABLE) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
}

/** A known path asked with another method is told which ones it takes: 405, before a body is read. */
export function refuseOtherMethods(app: FastifyInstance, url: string, served: 'GET' | 'POST'): void {
  const allowed: readonly HTTPMethods[] = served === 'GET' ? ['GET', 'HEAD'] : [served]
  app.route({
    method: READABLE.filter((method) => !allowed.includes(method)),
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

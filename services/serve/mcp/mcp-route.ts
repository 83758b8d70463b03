/**
 * `POST /mcp`: the Model Context Protocol over streamable HTTP, without sessions, so that any node of a cluster can answer.
 * A tool call is a request to the operation's own route: its rate, plan and cost apply. Loaded with the first request.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type AdmissionDeps, admitKey, keyIn } from '../rest/admission.js'
import { badRequest, nodeStarting, refusalError, refuseOtherMethods } from '../rest/problem.js'

const PATH = '/mcp'

export function addMcpRoute(app: FastifyInstance, deps: AdmissionDeps): void {
  const { gate, isLoaded } = deps
  refuseOtherMethods(app, PATH, 'POST')
  app.route({
    method: 'POST',
    url: PATH,
    // Before the body is read: without a valid key no body is accepted.
    onRequest: (request, _reply, done) => {
      if (!isLoaded()) throw nodeStarting()
      const admission = gate.identify(bearerOrKey(request))
      if (!admission.ok) throw refusalError(admission.refusal)
      done()
    },
    handler: async (request, reply) => {
      const key = bearerOrKey(request)
      // The protocol has dropped batches; one could start any number of calls at once.
      if (Array.isArray(request.body)) throw badRequest('batch_unsupported', 'Send one message per request.')
      // A tool call is counted by its operation, anything else here.
      if (!isToolCall(request.body)) admitKey(deps, key, 0, reply)
      const { answerHttp } = await import('./mcp-server.js')
      const answer = await answerHttp(request.headers, request.body, async ({ method, path, body }) => {
        const headers = { 'x-api-key': key, 'x-envelope': 'always' }
        const {
          statusCode,
          headers: sent,
          payload,
        } = await app.inject({
          ...{ method, url: path, headers },
          ...(body === undefined ? {} : { payload: body }),
        })
        return { status: statusCode, text: payload, header: (name) => textOf(sent[name]) }
      })
      return reply
        .code(answer.status)
        .headers(Object.fromEntries(answer.headers))
        .send(await answer.text())
    },
  })
}

/** Assistants send `Authorization: Bearer`, other clients the header of the REST API. */
function bearerOrKey(request: FastifyRequest): string {
  const [, bearer] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? []
  return bearer ?? keyIn(request)
}

function isToolCall(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'method' in body && body.method === 'tools/call'
}

function textOf(value: string | string[] | number | undefined): string | undefined {
  return value === undefined ? undefined : String(value)
}

import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../../core/config/config.js'
import { hashKey } from '../../core/keys/key-store.js'
import type { KeyGate } from '../keys/key-gate.js'
import type { WsTokens } from '../keys/ws-tokens.js'
import { int, text } from '../views/field-formats.js'
import { keyIn } from './admission.js'
import { envelope } from './operation.js'
import { nodeStarting, refusalError, refuseOtherMethods } from './problem.js'

type WsTokenDeps = Pick<Config, 'publicUrls' | 'publicWsUrl'> & {
  gate: KeyGate
  tokens: WsTokens
  wsPort: () => number
  isLoaded: () => boolean
}

/** Declared like an operation; served separately because it needs the request's headers. */
export const WS_TOKEN = {
  id: 'wsToken',
  method: 'POST',
  path: '/v2/ws/token',
  summary: 'One-time WebSocket token, for clients that cannot send headers',
  costCu: 0,
  data: Type.Object({
    token: text,
    expires_at: int,
    url: Type.String({ description: 'Complete WebSocket URL with the token: open it as it is' }),
  }),
} as const

export function addWsTokenRoute(app: FastifyInstance, deps: WsTokenDeps): void {
  const { gate, tokens, isLoaded } = deps
  refuseOtherMethods(app, WS_TOKEN.path, WS_TOKEN.method)
  app.post(WS_TOKEN.path, async (request, reply) => {
    if (!isLoaded()) throw nodeStarting()
    const key = keyIn(request)
    const admission = gate.admit(key, WS_TOKEN.costCu)
    if (!admission.ok) throw refusalError(admission.refusal)
    const { token, expiresAtMs } = tokens.issue(admission.access.id, hashKey(key))
    const url = `${wsUrlOf(request, deps)}/?token=${token}`
    reply.header('x-cu-cost', WS_TOKEN.costCu).header('cache-control', 'no-store')
    return envelope({ token, expires_at: Math.floor(expiresAtMs / 1000), url })
  })
}

/** Without a configured URL: the host the caller used, and the port this server listens on. */
function wsUrlOf(request: FastifyRequest, { publicUrls, publicWsUrl, wsPort }: WsTokenDeps): string {
  if (publicWsUrl.kind === 'url') return publicWsUrl.url
  const { host, hostname } = calledHost(request)
  const isSecure =
    request.protocol === 'https' ||
    isForwardedSecurely(request) ||
    publicUrls.some((url) => url.startsWith('https:') && hostIn(url) === host)
  return `${isSecure ? 'wss' : 'ws'}://${hostname}:${wsPort()}`
}

function isForwardedSecurely(request: FastifyRequest): boolean {
  const forwarded = request.headers['x-forwarded-proto']
  return forwarded === 'https' || forwarded === 'wss'
}

function calledHost(request: FastifyRequest): Pick<URL, 'host' | 'hostname'> {
  const url = `http://${request.headers.host ?? ''}`
  return URL.canParse(url) ? new URL(url) : { host: 'localhost', hostname: 'localhost' }
}

const hostIn = (url: string): string => new URL(url).host

import uWS, {
  type HttpRequest,
  type HttpResponse,
  type us_listen_socket,
  type us_socket_context_t,
} from 'uWebSockets.js'
import { ConfigError } from '../../core/domain/errors.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { ChainDirectory } from '../chain-directory.js'
import type { PushLimits } from '../deps.js'
import type { KeyGate, Refusal } from '../keys/gate.js'
import type { Memory } from '../memory/memory.js'
import type { ServeMetrics } from '../metrics.js'
import { cursorOf } from './cursor.js'
import { countPushes, createEncoder } from './encode.js'
import { createHub } from './hub.js'
import { answerFrame, errorReply, RPC } from './rpc.js'
import { callMethod, type MethodDeps, type Session, type Socket, type SocketData } from './session.js'
import { checkSlow, resumeDrained } from './slow-sockets.js'
import { TOPICS } from './topics/index.js'

export type PushDeps = {
  memory: Memory
  chains: ChainDirectory
  gate: KeyGate
  metrics: ServeMetrics
  logger: Logger
  nowMs: () => number
  limits?: Partial<PushLimits> | undefined
}

export interface PushServer {
  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number>
  stop(): void
}

export const DEFAULT_LIMITS: PushLimits = {
  slowBytes: 1_048_576,
  slowCheckMs: 100,
  maxSubscriptionsPerSocket: 1000,
  maxItemsPerSubscription: 1000,
  maxBatch: 100,
  maxMessageBytes: 262_144,
}

const CLOSE_POLICY = 1008
const CLOSE_GOING_AWAY = 1001
/** Seconds without a word from the other side; the engine pings before. */
const IDLE_TIMEOUT_S = 60

export function createPushServer(deps: PushDeps): PushServer {
  const limits = { ...DEFAULT_LIMITS, ...deps.limits }
  const app = uWS.App()
  const hub = createHub({ ...deps, broadcast: (group, text) => void app.publish(group, text) })
  const slow = { hub, metrics: deps.metrics, slowBytes: limits.slowBytes }
  const open = new Map<Socket, Session>()
  const methods: MethodDeps = { hub, topics: TOPICS, context: { chains: deps.chains, limits }, cursorAt }
  const encode = createEncoder(deps.chains, hub)
  let listening: us_listen_socket | undefined
  let checkTimer: NodeJS.Timeout | undefined

  const lastPush = new Map<string, string>()

  /** Where a chain's pushes stand. Before its first update in this process: the start of what the store last flushed. */
  function cursorAt(chain: string): string {
    const state = deps.chains.market(chain)?.state
    return lastPush.get(chain) ?? cursorOf({ chain, epoch: state?.epoch ?? 0, seq: Math.max(0, state?.seq ?? 0) })(0)
  }

  deps.memory.onApplied((applied) => {
    lastPush.set(applied.state.chain, cursorOf(applied.update)(countPushes(applied.update)))
    if (open.size === 0) return
    encode(applied)
    checkTimer ??= setTimeout(checkAll, limits.slowCheckMs)
  })

  function checkAll(): void {
    checkTimer = undefined
    for (const [socket, session] of open) checkSlow(slow, socket, session)
  }

  function upgrade(response: HttpResponse, request: HttpRequest, context: us_socket_context_t): void {
    const admission = deps.gate.identify(request.getHeader('x-api-key'))
    const data: SocketData = {
      session: admission.ok
        ? { access: admission.access, subscriptions: new Map(), isSlow: false }
        : { refusal: refusalText(admission.refusal) },
    }
    const header = (name: string) => request.getHeader(name)
    const [key, protocol] = [header('sec-websocket-key'), header('sec-websocket-protocol')]
    response.upgrade(data, key, protocol, header('sec-websocket-extensions'), context)
  }

  function onOpen(socket: Socket): void {
    const { session } = socket.getUserData()
    if ('refusal' in session) {
      socket.send(JSON.stringify({ error: { code: -1, message: session.refusal } }))
      socket.end(CLOSE_POLICY, session.refusal)
      return
    }
    open.set(socket, session)
  }

  function onMessage(socket: Socket, message: ArrayBuffer): void {
    const session = open.get(socket)
    if (session === undefined) return
    // Who asks without reading answers would fill memory with them.
    if (socket.getBufferedAmount() > limits.slowBytes * 2) {
      deps.metrics.socketsClosed.add('unread_replies')
      socket.close()
      return
    }
    const reply = safely(() =>
      answerFrame(Buffer.from(message).toString(), limits.maxBatch, (request) =>
        callMethod(methods, socket, session, request),
      ),
    )
    if (reply !== undefined) socket.send(reply)
  }

  /** A mistake of ours must not end the process, and with it every other socket. */
  function safely(answer: () => string | undefined): string | undefined {
    try {
      return answer()
    } catch (error) {
      deps.logger.error('a WebSocket request failed', { error })
      return errorReply(null, RPC.internal, 'The server could not answer. It has been logged.')
    }
  }

  app.ws<SocketData>('/*', {
    maxPayloadLength: limits.maxMessageBytes,
    // 0 is no limit: past a limit the engine skips messages while publish still says true.
    maxBackpressure: 0,
    idleTimeout: IDLE_TIMEOUT_S,
    sendPingsAutomatically: true,
    compression: uWS.DISABLED,
    upgrade,
    open: onOpen,
    message: onMessage,
    drain: (socket) => {
      const session = open.get(socket)
      if (session !== undefined) resumeDrained(slow, socket, session)
    },
    close: (socket) => {
      for (const subscription of open.get(socket)?.subscriptions.values() ?? []) hub.remove(subscription)
      open.delete(socket)
    },
  })
  app.any('/*', (response) => {
    response.writeStatus('426 Upgrade Required').end('This port speaks WebSocket.')
  })

  deps.metrics.gauge('dextape_serve_sockets', 'Open WebSockets', [], () => [{ value: open.size }])
  deps.metrics.gauge('dextape_serve_subscriptions', 'Subscriptions', ['topic'], () =>
    [...hub.counts()].map(([topic, value]) => ({ labels: { topic }, value })),
  )

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        app.listen(host, port, (socket) => {
          if (socket === false) {
            reject(cannotListen(host, port))
            return
          }
          listening = socket
          resolve(uWS.us_socket_local_port(socket))
        })
      }),
    stop() {
      clearTimeout(checkTimer)
      if (listening !== undefined) uWS.us_listen_socket_close(listening)
      listening = undefined
      for (const socket of [...open.keys()]) {
        socket.send(JSON.stringify({ jsonrpc: '2.0', result: { topic: 'bye', reason: 'The server is stopping.' } }))
        socket.end(CLOSE_GOING_AWAY, 'stopping')
      }
    },
  }
}

function refusalText(refusal: Refusal): string {
  return refusal.kind === 'missing' ? 'Missing API Key' : 'Unauthorized'
}

function cannotListen(host: string, port: number): ConfigError {
  return new ConfigError({
    code: 'ws_port_taken',
    what: `The WebSocket server cannot listen on ${host}:${port}`,
    fix: 'Set DEXTAPE_WS_PORT to a free port.',
  })
}

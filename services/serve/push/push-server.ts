import { ConfigError } from '../../core/domain/errors.js'
import type { Capacity, Plans } from '../../core/domain/plans.js'
import type { Logger } from '../../core/runtime/logger.js'
import { wallMs } from '../../core/runtime/stage-latency.js'
import type { TlsFiles } from '../../core/runtime/tls-files.js'
import type { Tracer } from '../../core/runtime/tracing.js'
import type { ChainDirectory } from '../chain-directory.js'
import type { BadKeys } from '../keys/bad-keys.js'
import type { KeyGate } from '../keys/key-gate.js'
import type { WsTokens } from '../keys/ws-tokens.js'
import type { Memory } from '../memory/memory.js'
import type { PushLimits, PushUsage } from '../serve-deps.js'
import type { ServeMetrics } from '../serve-metrics.js'
import { createBudgets } from './budgets.js'
import { createCatchUps } from './catch-up.js'
import { encodeUpdate } from './encode-update.js'
import type { FrameVerdict } from './frame-pace.js'
import { gapNotices } from './gap-notices.js'
import { createHub } from './hub.js'
import { byeText } from './notices.js'
import { createPushFeed, type MissingPushes } from './push-feed.js'
import { callMethod, type MethodDeps } from './requests.js'
import { answerFrame, errorReply, RPC } from './rpc.js'
import { endCatchUp, liveSubscriptions, openSession, resumeIfDrained, type Session } from './session.js'
import type { SmartBuySignals } from './smart-buys.js'
import { type Admitted, admit, type Refused } from './socket-access.js'
import { TOPICS } from './topics/index.js'
import type { CreateTransport, PushSocket } from './transport/push-transport.js'
import { checkUnread, unreadBytesOf } from './unread.js'

export type PushDeps = {
  memory: Memory
  chains: ChainDirectory
  gate: KeyGate
  tokens: WsTokens
  badKeys: BadKeys
  metrics: ServeMetrics
  logger: Logger
  nowMs: () => number
  limits: PushLimits
  plans: Plans
  capacity: Capacity
  createTransport: CreateTransport
  compresses: boolean
  tls?: TlsFiles | undefined
  tracer?: Tracer | undefined
  /** Absent: buys of smart wallets are not pushed. */
  smartBuys?: SmartBuySignals
}

export interface PushServer {
  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number>
  stop(): void
  /** Its certificate's files have changed. */
  renewCertificate(tls: TlsFiles): void
  /** What all sockets hold. */
  usage(): PushUsage
}

const CLOSE_POLICY = 1008
const CLOSE_GOING_AWAY = 1001
const IDLE_TIMEOUT_S = 60
/** Live pushes wait no longer than this for sockets that start to catch up. */
const START_TURN_MS = 5
/** Bytes of the reason in a close frame (RFC 6455, 5.5); ours are ASCII. */
const MAX_CLOSE_REASON = 123

export function createPushServer(deps: PushDeps): PushServer {
  const { limits, metrics, gate } = deps
  const transport = deps.createTransport(
    {
      admit: (key, token, address) => admit(deps, key, token, address),
      open: onOpen,
      message: onMessage,
      ping: closeIfUnread,
      drain: onDrain,
      close: onClose,
    },
    { maxMessageBytes: limits.maxMessageBytes, idleTimeoutS: IDLE_TIMEOUT_S, compresses: deps.compresses },
    deps.tls,
  )
  const hub = createHub({ ...deps, broadcast: transport.publish })
  const feed = createPushFeed(deps.memory, limits, hub.isWanted, deps.smartBuys)
  const slowDeps = { hub, metrics, slowBytes: limits.slowBytes, capacity: deps.capacity }
  const catchUps = createCatchUps({
    hub,
    feed,
    nowMs: deps.nowMs,
    pauseBytes: limits.slowBytes / 2,
    behindMs: limits.behindMs,
  })
  const open = new Map<PushSocket, Session>()
  const refused = new Set<PushSocket>()
  const budgets = createBudgets(deps.plans, deps.capacity, deps.nowMs)
  /** Sockets that are about to start to catch up. */
  const scheduled = new Set<PushSocket>()
  const methodsOf = ({ access }: Session): MethodDeps => ({
    ...{ hub, topics: TOPICS, headOf: feed.headOf },
    context: { chains: deps.chains, limits, access },
  })
  let checkTimer: NodeJS.Timeout | undefined
  let keyTimer: NodeJS.Timeout | undefined

  feed.onUpdate((update, missing, { arrivedMs, appendedMs, update: { hash } }) => {
    if (appendedMs !== undefined) metrics.latency.observe('observe', appendedMs)
    const { chain, number } = update
    const traced = deps.tracer?.wants(number) === true ? { chain, number, hash } : undefined
    const startedMs = wallMs()
    if (traced !== undefined && appendedMs !== undefined)
      deps.tracer?.span(traced, 'observe', appendedMs, startedMs, { seq: update.seq })
    if (open.size === 0) return
    if (missing !== undefined) notifyGap(missing)
    encodeUpdate(update, hub)
    catchUps.moved(update.chain)
    // The transport writes what was published at the end of this turn.
    setImmediate(() => {
      metrics.latency.observe('write', startedMs)
      if (arrivedMs !== undefined) metrics.latency.observe('total', arrivedMs)
      if (traced !== undefined)
        deps.tracer?.span(traced, 'push', startedMs, wallMs(), { seq: update.seq, sockets: open.size })
    })
    checkTimer ??= setTimeout(checkAll, limits.slowCheckMs)
  })

  feed.onEpoch((missing) => {
    notifyGap(missing)
    catchUps.moved(missing.to.chain)
  })

  /** Subscriptions that are catching up detect the gap themselves. */
  function notifyGap({ from, to }: MissingPushes): void {
    const range = { from, to, fromS: feed.ringOf(from.chain).timeBefore(from), toS: undefined }
    for (const [socket, session] of open) {
      for (const subscription of liveSubscriptions(session)) {
        if (!subscription.spec.chains.includes(to.chain)) continue
        for (const text of gapNotices(subscription, range)) socket.send(text)
      }
    }
  }

  function checkAll(): void {
    checkTimer = undefined
    checkUnread(slowDeps, open)
  }

  /** In a separate turn: inside the transport's callbacks the buffered amount is not up to date. */
  function scheduleCatchUp(socket: PushSocket, session: Session): void {
    if (session.catchingUp.size === 0) return
    if (scheduled.size === 0) setImmediate(startCatchUps)
    scheduled.add(socket)
  }

  /** Hundreds of sockets that reconnect at once start over several turns, so that live pushes go out in between. */
  function startCatchUps(): void {
    const endMs = performance.now() + START_TURN_MS
    for (const socket of scheduled) {
      scheduled.delete(socket)
      const session = open.get(socket)
      if (session !== undefined) catchUps.start(socket, session)
      if (performance.now() >= endMs) break
    }
    if (scheduled.size > 0) setImmediate(startCatchUps)
  }

  function checkKeys(): void {
    const good = new Map<string, boolean>()
    for (const [socket, { keyHash }] of open) {
      const isGood = good.get(keyHash) ?? gate.identifyHash(keyHash).ok
      good.set(keyHash, isGood)
      if (isGood) continue
      metrics.socketsClosed.add('key_ended')
      socket.send(byeText('API key revoked or expired.'))
      socket.end(CLOSE_POLICY, 'Unauthorized')
    }
  }

  function onOpen(socket: PushSocket, admitted: Admitted | Refused): void {
    const session = openSession(budgets, admitted)
    if ('refusal' in session) {
      refuse(socket, session)
      return
    }
    open.set(socket, session)
    keyTimer ??= setInterval(checkKeys, limits.keyCheckMs).unref()
  }

  /** A refused socket stays silent while it waits, and may be gone before its answer. */
  function refuse(socket: PushSocket, { code, refusal: message, data, waitMs = 0 }: Refused): void {
    const answer = () => {
      if (!refused.delete(socket)) return
      socket.send(JSON.stringify({ error: { code, message, data } }))
      socket.end(CLOSE_POLICY, message.slice(0, MAX_CLOSE_REASON))
    }
    refused.add(socket)
    if (waitMs === 0) answer()
    else setTimeout(answer, waitMs).unref()
  }

  /** A client that sends without reading would fill memory with replies. */
  function closeIfUnread(socket: PushSocket): boolean {
    if (socket.getBufferedAmount() <= limits.slowBytes * 2) return false
    metrics.socketsClosed.add('unread_replies')
    socket.close()
    return true
  }

  function onMessage(socket: PushSocket, text: string | undefined): void {
    const session = open.get(socket)
    if (session === undefined || closeIfUnread(socket)) return
    const verdict = session.budget.countFrame()
    if (verdict === 'flooding') {
      metrics.socketsClosed.add('too_many_frames')
      socket.send(byeText(session.budget.frameError().message))
      socket.end(CLOSE_POLICY, 'too many frames')
      return
    }
    catchUps.flush(socket, session)
    const reply = logFailure(() => (text === undefined ? NOT_TEXT : answer(socket, session, text, verdict)))
    if (reply !== undefined) socket.send(reply)
    scheduleCatchUp(socket, session)
  }

  function answer(socket: PushSocket, session: Session, text: string, verdict: FrameVerdict): string | undefined {
    const methods = methodsOf(session)
    return answerFrame(text, limits.maxBatch, (request) => {
      if (verdict === 'refused') throw session.budget.frameError()
      return callMethod(methods, socket, session, request)
    })
  }

  /** An unexpected error must not end the process and every other socket. */
  function logFailure(work: () => string | undefined): string | undefined {
    try {
      return work()
    } catch (error) {
      deps.logger.error('WebSocket request failed', { error })
      return errorReply(null, RPC.internal, 'Internal error; see the server log.')
    }
  }

  function onClose(socket: PushSocket): void {
    refused.delete(socket)
    const session = open.get(socket)
    open.delete(socket)
    if (session === undefined) return
    for (const subscription of liveSubscriptions(session)) hub.remove(subscription)
    for (const subscription of session.catchingUp.keys()) endCatchUp(session, subscription)
    session.isClosed = true
    session.budget.close()
  }

  function onDrain(socket: PushSocket): void {
    const session = open.get(socket)
    if (session === undefined) return
    resumeIfDrained(slowDeps, socket, session)
    scheduleCatchUp(socket, session)
  }

  metrics.gauge('dextape_serve_sockets', 'Open WebSockets', [], () => [{ value: open.size }])
  metrics.gauge('dextape_serve_ring_bytes', 'Approximate size of the pushes kept for replay', [], () => [
    { value: feed.bytes },
  ])
  metrics.gauge('dextape_serve_subscriptions', 'Subscriptions', ['topic'], () =>
    [...hub.counts()].map(([topic, value]) => ({ labels: { topic }, value })),
  )
  metrics.gauge('dextape_serve_catching_up', 'Subscriptions that are being sent what they missed', [], () => [
    { value: [...open.values()].reduce((sum, { catchingUp }) => sum + catchingUp.size, 0) },
  ])
  metrics.gauge('dextape_serve_slow_sockets', 'Sockets that get no pushes until they have read what waits', [], () => [
    { value: [...open.values()].reduce((sum, { isSlow }) => sum + Number(isSlow), 0) },
  ])
  metrics.gauge('dextape_serve_unread_bytes', 'Bytes that clients have not read', [], () => [
    { value: unreadBytesOf(open) },
  ])
  metrics.gauge('dextape_serve_capacity_used_ratio', 'Share of the capacity of all keys in use', ['budget'], () => {
    const used = { ...budgets.usage(), unreadBytes: unreadBytesOf(open) }
    return CAPACITIES.map(([budget, key]) => ({ labels: { budget }, value: used[key] / deps.capacity[key] }))
  })
  metrics.gauge('dextape_serve_subscribed_ids', 'Subscribed ids', [], () => [{ value: budgets.usage().ids }])
  metrics.gauge('dextape_serve_push_memory_bytes', 'Approximate memory of sockets and subscriptions', [], () => [
    { value: budgets.usage().memoryBytes },
  ])

  return {
    listen: (host, port) =>
      transport.listen(host, port).catch((cause: unknown) => {
        throw cannotListen(host, port, cause)
      }),
    stop() {
      clearTimeout(checkTimer)
      clearInterval(keyTimer)
      transport.stopListening()
      for (const socket of [...open.keys()]) {
        socket.send(byeText('Server is shutting down.'))
        socket.end(CLOSE_GOING_AWAY, 'stopping')
      }
    },
    renewCertificate: transport.renew,
    usage: () => ({ ...budgets.usage(), unreadBytes: unreadBytesOf(open) }),
  }
}

const CAPACITIES = [
  ['sockets', 'sockets'],
  ['ids', 'ids'],
  ['unread', 'unreadBytes'],
  ['memory', 'memoryBytes'],
] as const

const NOT_TEXT = errorReply(null, RPC.invalidRequest, 'Requests must be text frames.')

function cannotListen(host: string, port: number, cause: unknown): ConfigError {
  return new ConfigError({
    code: 'ws_port_taken',
    what: `Cannot listen for WebSockets on ${host}:${port}`,
    fix: 'Set DEXTAPE_WS_PORT to a free port.',
    cause,
  })
}

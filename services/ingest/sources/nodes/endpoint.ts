/** One node: its transport, rate, learned limits and health. */

import { createHealth, type Health } from './endpoint-health.js'
import { createAdaptiveRate, createLearnedLimits, type LearnedLimits } from './endpoint-limits.js'
import type { EndpointName } from './endpoint-name.js'
import { NodeFault } from './node-fault.js'
import { createSlots, type Pace } from './request-queue.js'
import type { SocketTransport } from './socket-transport.js'
import type { Outcome, RpcRequest, Transport } from './transport.js'

export type Sending = { signal: AbortSignal; urgent: boolean; timeoutMs: number; maxBatch?: number }

export interface Endpoint {
  readonly name: string
  readonly health: Health
  readonly limits: LearnedLimits
  /** The last head it reported. */
  head: { number: number; atMs: number } | null
  /** Outcomes in order, faults among them. Rejects only when the signal aborts. */
  send(requests: readonly RpcRequest[], sending: Sending): Promise<Outcome[]>
  /** Undefined over HTTP. */
  readonly socket: SocketTransport | undefined
  /** 0 if it may be used now. */
  waitMs(): number
  /** How good a choice it is for the next request; smaller is better. */
  score(): number
  readonly requests: number
  readonly bytesReceived: number
  readonly perS: number
  close(): void
}

export type EndpointOptions = {
  name: EndpointName
  transport: Transport
  socket?: SocketTransport
  /** Of the whole chain. */
  chainPace: Pace
  maxInFlight: number
  nowMs: () => number
  random: () => number
}

/** A timeout of a batch this small is not due to its size. */
const SMALL_BATCH = 10

export function createEndpoint(options: EndpointOptions): Endpoint {
  const { name, transport, chainPace, nowMs } = options
  const health = createHealth(nowMs, options.random)
  const limits = createLearnedLimits()
  const rate = createAdaptiveRate(nowMs)
  const slots = createSlots(options.maxInFlight)
  let sent = 0
  /** Requests in flight or waiting. */
  let open = 0

  /** A batch that uses up a second's allowance would delay requests about the head. */
  function batchSize({ maxBatch = limits.batch }: Sending): number {
    const perS = Math.min(chainPace.perS, rate.pace.perS)
    return Math.max(1, Math.min(limits.batch, maxBatch, Math.floor(perS / 2)))
  }

  async function send(requests: readonly RpcRequest[], sending: Sending): Promise<Outcome[]> {
    const size = batchSize(sending)
    if (requests.length <= size) return sendBatch(requests, sending)
    const batches: Promise<Outcome[]>[] = []
    for (let first = 0; first < requests.length; first += size)
      batches.push(sendBatch(requests.slice(first, first + size), sending))
    const outcomes = await Promise.all(batches)
    return outcomes.flat()
  }

  async function sendBatch(requests: readonly RpcRequest[], sending: Sending): Promise<Outcome[]> {
    open += requests.length
    try {
      return await takeTurn(requests, sending)
    } finally {
      open -= requests.length
    }
  }

  async function takeTurn(requests: readonly RpcRequest[], sending: Sending): Promise<Outcome[]> {
    const { signal, urgent, timeoutMs } = sending
    const count = requests.length
    // The slot is taken last: a request that waits for its rate must not block others.
    await rate.pace.take(count, urgent, signal)
    await chainPace.take(count, urgent, signal)
    await slots.enter(urgent, signal)
    let outcomes: Outcome[]
    let startedMs: number
    try {
      sent += count
      rate.sent(count)
      startedMs = nowMs()
      outcomes = await exchange(requests, { signal, timeoutMs })
    } finally {
      slots.leave()
    }
    signal.throwIfAborted()
    const refused = count > 1 ? outcomes.find(isBatchRefusal) : undefined
    if (refused !== undefined) {
      health.failed(refused.fault, startedMs)
      limits.batchRefused(count, refused.fault.limit)
      return send(requests, sending)
    }
    learn(outcomes, startedMs)
    return outcomes
  }

  async function exchange(
    requests: readonly RpcRequest[],
    options: { signal: AbortSignal; timeoutMs: number },
  ): Promise<Outcome[]> {
    try {
      return await transport.exchange(requests, options)
    } catch (error) {
      if (!(error instanceof NodeFault)) throw error
      const fault = requests.length > 1 && isTooMuch(error, requests.length) ? asBatchRefusal(error) : error
      return requests.map(() => ({ ok: false, fault }))
    }
  }

  function learn(outcomes: readonly Outcome[], startedMs: number): void {
    const faults = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.fault]))
    const limited = faults.find(({ kind }) => kind === 'rate_limited')
    if (limited !== undefined) rate.limited(limited.retryAfterMs)
    else rate.succeeded()
    if (faults.length < outcomes.length) {
      health.succeeded(nowMs() - startedMs)
      limits.batchWorked(outcomes.length)
    }
    for (const fault of new Set(faults)) health.failed(fault, startedMs)
  }

  return {
    name: name.name,
    health,
    limits,
    head: null,
    send,
    socket: options.socket,
    waitMs: () => Math.max(health.waitMs(), rate.pace.pausedMs()),
    score: () => health.score(slots.inFlight, Number.isFinite(rate.pace.perS) ? (open * 1000) / rate.pace.perS : 0),
    get requests() {
      return sent
    },
    get bytesReceived() {
      return transport.bytesReceived
    },
    get perS() {
      return rate.pace.perS
    },
    close: () => transport.close(),
  }
}

function isBatchRefusal(outcome: Outcome): outcome is { ok: false; fault: NodeFault } {
  return !outcome.ok && outcome.fault.kind === 'batch_refused'
}

/** A batch whose response is too large or too slow is split in halves. */
const isTooMuch = ({ kind }: NodeFault, count: number): boolean =>
  kind === 'too_wide' || (kind === 'timeout' && count > SMALL_BATCH)

function asBatchRefusal({ endpoint, detail }: NodeFault): NodeFault {
  return new NodeFault({ kind: 'batch_refused', endpoint, detail })
}

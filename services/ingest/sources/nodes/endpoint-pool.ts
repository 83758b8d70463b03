/**
 * A chain's endpoints: the best one is used, failed requests go to another, and callers see an error only when retries
 * are exhausted.
 */

import type { Sleep } from '../../../core/runtime/backoff.js'
import type { Endpoint } from './endpoint.js'
import { NodeFault } from './node-fault.js'
import type { RpcRequest } from './transport.js'

export type Asking = {
  signal: AbortSignal
  /** About the head: goes before history. */
  urgent: boolean
  timeoutMs?: number
  patience?: PatienceOptions
  /** Smaller batches than the endpoint allows, for large responses. */
  maxBatch?: number
  /** Used only if no other is left. */
  avoid?: Iterable<Endpoint>
}

/** Validates and converts a result. Throws a `NodeFault` if it cannot be true. */
export type Accept<T> = (result: unknown, place: number, endpoint: Endpoint) => T
/** Converts a fault that is a valid answer; undefined if it is not. */
export type Settle<T> = (fault: NodeFault, place: number) => T | undefined

export interface EndpointPool {
  readonly endpoints: readonly Endpoint[]
  /** Every request's accepted answer, in order, from any endpoint. */
  ask<T>(requests: readonly RpcRequest[], accept: Accept<T>, asking: Asking, settle?: Settle<T>): Promise<T[]>
  /** Runs work that must stay on one endpoint; retries on another if it fails. */
  attempt<T>(asking: Asking, work: (endpoint: Endpoint) => Promise<T>): Promise<T>
  timeoutMs(asking: Asking): number
}

export type PoolOptions = {
  chain: string
  endpoints: readonly Endpoint[]
  patience: PatienceOptions
  timeoutMs: number
  nowMs: () => number
  random: () => number
  sleep: Sleep
}

const LONGEST_WAIT_MS = 1000

export function createEndpointPool(options: PoolOptions): EndpointPool {
  const { chain, endpoints, nowMs, random, sleep } = options
  const timeoutMs = (asking: Asking) => asking.timeoutMs ?? options.timeoutMs

  /** `last`: the previous endpoint's fault, thrown if no endpoint is ready in time. */
  async function choose(
    avoid: ReadonlySet<Endpoint>,
    signal: AbortSignal,
    untilMs: number,
    last: NodeFault | undefined,
  ): Promise<Endpoint> {
    for (;;) {
      signal.throwIfAborted()
      const usable = endpoints.filter(({ health }) => health.usable)
      if (usable.length === 0) throw noEndpoint(chain, endpoints)
      const ready = usable.filter((endpoint) => endpoint.waitMs() === 0)
      const best = bestOf(ready, avoid)
      if (best !== undefined) return best
      if (nowMs() >= untilMs) throw last ?? noEndpoint(chain, endpoints)
      const soonestMs = Math.min(...usable.map((endpoint) => endpoint.waitMs()))
      await sleep(Math.min(LONGEST_WAIT_MS, Math.max(5, soonestMs)), signal)
    }
  }

  async function attempt<T>(asking: Asking, work: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    const patienceOptions = asking.patience ?? options.patience
    const patience = createPatience(patienceOptions, nowMs, random)
    const startedMs = nowMs()
    const avoid = new Set<Endpoint>(asking.avoid)
    let last: NodeFault | undefined
    for (;;) {
      const endpoint = await choose(avoid, asking.signal, startedMs + patienceOptions.ms, last)
      try {
        return await work(endpoint)
      } catch (error) {
        asking.signal.throwIfAborted()
        if (!(error instanceof NodeFault)) throw error
        last = error
        avoid.add(endpoint)
        const everyOne = endpoints.every((one) => avoid.has(one) || !one.health.usable)
        if (everyOne && !isWorthRepeating(error)) throw error
        patience.failed(error)
        if (!everyOne) continue
        avoid.clear()
        // Rate-limited requests wait for the endpoint's rate instead.
        if (error.kind !== 'rate_limited') await sleep(patience.pauseMs(), asking.signal)
      }
    }
  }

  async function ask<T>(
    requests: readonly RpcRequest[],
    accept: Accept<T>,
    asking: Asking,
    settle?: Settle<T>,
  ): Promise<T[]> {
    const answers = new Array<T>(requests.length)
    let pending = requests.map((_, place) => place)
    while (pending.length > 0) {
      await attempt(asking, async (endpoint) => {
        const startedMs = nowMs()
        const before = pending.length
        const outcomes = await endpoint.send(
          pending.map((place) => requests[place] as RpcRequest),
          { ...asking, timeoutMs: timeoutMs(asking) },
        )
        const left: number[] = []
        let first: NodeFault | undefined
        for (const [index, outcome] of outcomes.entries()) {
          const place = pending[index] as number
          try {
            if (outcome.ok) answers[place] = accept(outcome.result, place, endpoint)
            else {
              const settled = settle?.(outcome.fault, place)
              if (settled === undefined) throw outcome.fault
              answers[place] = settled
            }
          } catch (error) {
            if (!(error instanceof NodeFault)) throw error
            // Faults returned by the node were already counted.
            if (outcome.ok) endpoint.health.failed(error, startedMs)
            left.push(place)
            first ??= error
          }
        }
        pending = left
        // Some were answered: the rest starts with fresh retries.
        if (first !== undefined && left.length === before) throw first
      })
    }
    return answers
  }

  return { endpoints, ask, attempt, timeoutMs }
}

function bestOf(ready: readonly Endpoint[], avoid: ReadonlySet<Endpoint>): Endpoint | undefined {
  const rank = (endpoint: Endpoint): number => (avoid.has(endpoint) ? 2 : 0) + (endpoint.health.lagging ? 1 : 0)
  let best: Endpoint | undefined
  for (const endpoint of ready) {
    if (best === undefined) best = endpoint
    else if (rank(endpoint) !== rank(best)) best = rank(endpoint) < rank(best) ? endpoint : best
    else if (endpoint.score() < best.score()) best = endpoint
  }
  return best
}

/** False for answers that will not change once every endpoint has given them. */
const isWorthRepeating = ({ kind }: NodeFault): boolean =>
  kind !== 'pruned' && kind !== 'unsupported' && kind !== 'invalid' && kind !== 'reverted'

function noEndpoint(chain: string, endpoints: readonly Endpoint[]): NodeFault {
  const detail = endpoints
    .map(({ name, health }) => `${name}: ${health.reason ?? 'backing off after errors'}`)
    .join('; ')
  return new NodeFault({ kind: 'unavailable', endpoint: endpoints.map(({ name }) => name).join(', '), detail, chain })
}

export type PatienceOptions = { attempts: number; ms: number }

export interface Patience {
  /** Throws the fault if retries are exhausted. */
  failed(fault: NodeFault): void
  progressed(): void
  /** How long to wait before all endpoints are tried again. */
  pauseMs(): number
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5_000

export function createPatience(options: PatienceOptions, nowMs: () => number, random: () => number): Patience {
  let attempts = 0
  let rounds = 0
  let startedMs = nowMs()
  return {
    failed(fault) {
      // A rate limit is not an answer: it does not count as an attempt.
      if (fault.kind !== 'rate_limited') attempts++
      if (attempts >= options.attempts || nowMs() - startedMs >= options.ms) throw fault
    },
    progressed() {
      attempts = 0
      rounds = 0
      startedMs = nowMs()
    },
    pauseMs() {
      const ceilingMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(rounds++, 20))
      return ceilingMs * (0.5 + random() / 2)
    },
  }
}

/** What every route with a key does: identifies it, counts the request, and charges what it answered. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access, Door, KeyGate } from '../keys/key-gate.js'
import type { ServeMetrics } from '../serve-metrics.js'
import { nodeStarting, refusalError } from './problem.js'

export type AdmissionDeps = {
  gate: KeyGate
  metrics: ServeMetrics
  /** False until the data is loaded. */
  isLoaded: () => boolean
}

export function keyIn({ headers }: FastifyRequest): string {
  const key = headers['x-api-key']
  return typeof key === 'string' ? key : ''
}

/** Throws the refusal. */
export function admitKey(
  { gate, isLoaded }: Pick<AdmissionDeps, 'gate' | 'isLoaded'>,
  key: string,
  costCu: number,
  reply: FastifyReply,
  door?: Door,
): Access {
  if (!isLoaded()) throw nodeStarting()
  const admission = gate.admit(key, costCu, door)
  if (!admission.ok) throw refusalError(admission.refusal)
  const { access } = admission
  const remaining = gate.remainingInSecond(access)
  if (remaining !== null) {
    reply.header('ratelimit-policy', `"default";q=${access.ratePerS};w=1`)
    reply.header('ratelimit', `"default";r=${remaining};t=1`)
  }
  return access
}

/** Errors cost nothing: call it once there is an answer. */
export function charge(
  { gate, metrics }: Pick<AdmissionDeps, 'gate' | 'metrics'>,
  access: Access,
  { id, costCu }: { id: string; costCu: number },
  reply: FastifyReply,
): void {
  gate.spend(access, costCu)
  metrics.cu.add(id, costCu)
  reply.header('x-cu-cost', costCu)
  const remaining = gate.remainingCu(access)
  if (remaining !== null) reply.header('x-cu-remaining', remaining)
}

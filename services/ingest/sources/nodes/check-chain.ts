/** Checks before anything is read that every endpoint serves this chain. */
import { ConfigError, DextapeError } from '../../../core/domain/errors.js'
import { createBackoff, type Sleep } from '../../../core/runtime/backoff.js'
import type { Logger } from '../../../core/runtime/logger.js'
import type { Endpoint } from './endpoint.js'
import { NodeFault } from './node-fault.js'
import type { RpcRequest } from './transport.js'

/** How to identify a chain. */
export type Identity = {
  /** Display name: `chain id`, `genesis hash`. */
  name: string
  /** Undefined: the first answer counts, and all others must match it. */
  expected: string | undefined
  request: RpcRequest
  /** Null if the result is not valid. */
  read(result: unknown): string | null
}

export type ChainCheckOptions = {
  chain: string
  identity: Identity
  endpoints: readonly Endpoint[]
  timeoutMs: number
  logger: Logger
  random: () => number
  sleep: Sleep
}

const ATTEMPTS = 4
/** A hanging node must not delay the others. */
const ANSWERS_WITHIN_MS = 5_000

/** Resolves once all have answered, or some have and the others were retried; those are retried further until `closing` aborts. */
export async function checkChain(options: ChainCheckOptions, signal: AbortSignal, closing: AbortSignal): Promise<void> {
  const { chain, endpoints, logger } = options
  const backoff = createBackoff({ firstMs: 200, random: options.random, sleep: options.sleep })
  const faults = new Map<Endpoint, unknown>()
  let { expected } = options.identity
  let silent = [...endpoints]
  for (let attempt = 1; attempt <= ATTEMPTS && silent.length > 0; attempt++) {
    if (attempt > 1) await backoff.wait(signal)
    const ids = await Promise.all(silent.map((endpoint) => idOf(endpoint, options, signal, faults)))
    signal.throwIfAborted()
    for (const [place, endpoint] of silent.entries()) {
      const id = ids[place]
      if (id === undefined) continue
      expected ??= id
      if (id !== expected) throw otherChain(options, endpoint, expected, id)
    }
    silent = silent.filter((_, place) => ids[place] === undefined)
    // One working node is enough to start.
    if (attempt >= 2 && silent.length < endpoints.length) break
  }
  if (silent.length === endpoints.length) throw nobodyAnswers(chain, silent, faults)
  for (const endpoint of silent) {
    // An unverified node may serve another chain: do not use it.
    const reason = saidBy(endpoint, faults)
    endpoint.health.disable(`its chain could not be verified: ${reason}`)
    logger.warn('node does not respond; retrying', { chain, endpoint: endpoint.name, reason })
    void keepAsking(endpoint, expected, options, closing)
  }
}

async function idOf(
  endpoint: Endpoint,
  { timeoutMs, identity }: ChainCheckOptions,
  signal: AbortSignal,
  faults: Map<Endpoint, unknown>,
): Promise<string | undefined> {
  const sending = { signal, urgent: true, timeoutMs: Math.min(timeoutMs, ANSWERS_WITHIN_MS) }
  const [outcome] = await endpoint.send([identity.request], sending)
  const id = outcome?.ok ? identity.read(outcome.result) : null
  if (id !== null) return id
  const fault = outcome !== undefined && !outcome.ok ? outcome.fault : null
  faults.set(
    endpoint,
    fault ?? new NodeFault({ kind: 'lies', endpoint: endpoint.name, detail: `invalid ${identity.name}` }),
  )
  return undefined
}

async function keepAsking(
  endpoint: Endpoint,
  expected: string | undefined,
  options: ChainCheckOptions,
  closing: AbortSignal,
): Promise<void> {
  const { chain, logger } = options
  const backoff = createBackoff({ firstMs: 1_000, maxMs: 60_000, random: options.random, sleep: options.sleep })
  while (!closing.aborted) {
    await backoff.wait(closing)
    const id = await idOf(endpoint, options, closing, new Map()).catch(() => undefined)
    if (id === undefined) continue
    if (id === expected) {
      endpoint.health.enable()
      return logger.info('node responds again', { chain, endpoint: endpoint.name })
    }
    endpoint.health.disable(`its ${options.identity.name} is ${id}, not ${expected}`)
    return logger.error('node belongs to another chain and is not used', {
      chain,
      endpoint: endpoint.name,
      got: id,
      expected,
    })
  }
}

function saidBy(endpoint: Endpoint, faults: ReadonlyMap<Endpoint, unknown>): string {
  const fault = faults.get(endpoint)
  return fault instanceof NodeFault ? fault.detail : 'no answer'
}

function otherChain(
  { chain, identity }: ChainCheckOptions,
  endpoint: Endpoint,
  expected: string,
  got: string,
): ConfigError {
  return new ConfigError({
    code: 'other_chain',
    what: `endpoint ${endpoint.name} serves another chain`,
    where: { chain },
    expected: `${identity.name} ${expected}`,
    got: `${identity.name} ${got}`,
    fix: `Use an endpoint of ${chain}, or move this one to the chain it serves.`,
  })
}

function nobodyAnswers(
  chain: string,
  silent: readonly Endpoint[],
  faults: ReadonlyMap<Endpoint, unknown>,
): DextapeError {
  const said = silent.map((endpoint) => `${endpoint.name}: ${saidBy(endpoint, faults)}`)
  return new DextapeError({
    code: 'no_node_answers',
    what: silent.length === 1 ? 'the node does not respond' : 'none of the nodes responds',
    where: { chain },
    got: said.join('; '),
    fix: 'Check the endpoint URLs and keys, and that this machine can reach them.',
    retry: true,
  })
}

/** View calls at a block: many in one request where the node supports it, else one by one. */
import type { Call } from '../../../decode/evm/protocol.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import type { NodeFault } from '../../nodes/node-fault.js'
import type { Outcome } from '../../nodes/transport.js'
import type { Header } from '../chain-reader.js'
import { createAtBlock, explained, VANISHED_PATIENCE } from './at-block.js'
import { type CallAnswer, decodeAnswers, encodeCalls, groupCalls } from './call-program.js'
import { isBytes } from './hex.js'

export interface CallFetcher {
  call(calls: readonly Call[], at: Header, asking: Asking): Promise<(string | null)[]>
}

/** After this many failed groups whose calls work alone, the node is taken not to support groups. */
const REFUSED_AFTER = 2

export function createCallFetcher(pool: EndpointPool, chain: string): CallFetcher {
  const failedGroups = new WeakMap<Endpoint, number>()

  const asker = createAtBlock(pool, chain)
  const atBlock = (endpoint: Endpoint, calls: readonly object[], at: Header, asking: Asking): Promise<Outcome[]> =>
    asker(endpoint, (block) => calls.map((call) => ({ method: 'eth_call', params: [call, block] })), at, asking)

  async function oneByOne(
    endpoint: Endpoint,
    calls: readonly Call[],
    at: Header,
    asking: Asking,
  ): Promise<(string | null)[]> {
    const outcomes = await atBlock(endpoint, calls, at, asking)
    return outcomes.map((outcome) => {
      if (outcome.ok) return isBytes(outcome.result) && outcome.result !== '0x' ? outcome.result.toLowerCase() : null
      if (outcome.fault.kind === 'reverted') return null
      throw explained(outcome.fault, endpoint, at, chain)
    })
  }

  async function group(
    endpoint: Endpoint,
    calls: readonly Call[],
    at: Header,
    asking: Asking,
  ): Promise<(string | null)[]> {
    const { limits } = endpoint
    if (limits.deployless === false || calls.length === 1) return oneByOne(endpoint, calls, at, asking)
    const [outcome] = await atBlock(endpoint, [{ data: encodeCalls(calls) }], at, asking)
    if (outcome === undefined) throw new Error('an outcome is missing')
    const answers =
      outcome.ok && isBytes(outcome.result) ? decodeAnswers(outcome.result.toLowerCase(), calls.length) : null
    if (answers !== null) {
      limits.deployless = true
      return withLongOnes(endpoint, calls, answers, at, asking)
    }
    if (!outcome.ok && !isAboutTheCall(outcome.fault)) throw explained(outcome.fault, endpoint, at, chain)
    if (limits.deployless === true) {
      // The node supports groups, but not this one: too much gas, or too long an answer.
      const middle = Math.ceil(calls.length / 2)
      const halves = [calls.slice(0, middle), calls.slice(middle)]
      return (await Promise.all(halves.map((half) => group(endpoint, half, at, asking)))).flat()
    }
    const found = await oneByOne(endpoint, calls, at, asking)
    const failed = (failedGroups.get(endpoint) ?? 0) + 1
    failedGroups.set(endpoint, failed)
    if (failed >= REFUSED_AFTER) limits.deployless = false
    return found
  }

  async function withLongOnes(
    endpoint: Endpoint,
    calls: readonly Call[],
    answers: readonly CallAnswer[],
    at: Header,
    asking: Asking,
  ): Promise<(string | null)[]> {
    const long = calls.filter((_, place) => answers[place] === 'too_long')
    const found = long.length === 0 ? [] : await oneByOne(endpoint, long, at, asking)
    return answers.map((answer) => (answer === 'too_long' ? (found.shift() ?? null) : answer))
  }

  return {
    async call(calls, at, asking) {
      const patient = { ...asking, patience: VANISHED_PATIENCE }
      const groups = groupCalls(calls).map((some) =>
        pool.attempt(patient, (endpoint) => group(endpoint, some, at, patient)),
      )
      return (await Promise.all(groups)).flat()
    },
  }
}

/** Faults that another form of the same call may avoid. */
const isAboutTheCall = ({ kind }: NodeFault): boolean =>
  kind === 'reverted' || kind === 'invalid' || kind === 'unsupported' || kind === 'too_wide' || kind === 'node_error'

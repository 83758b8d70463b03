/** View calls at a block: many in one request where the node supports it, else one by one. */
import type { Call } from '../../../decode/evm/protocol.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { blameOn, NodeFault } from '../../nodes/node-fault.js'
import type { Outcome, RpcRequest } from '../../nodes/transport.js'
import type { Header } from '../chain-reader.js'
import { type CallAnswer, decodeAnswers, encodeCalls, groupCalls } from './call-program.js'
import { readHeader } from './fetch-headers.js'
import { isBytes, toQuantity } from './hex.js'

export interface CallFetcher {
  call(calls: readonly Call[], at: Header, asking: Asking): Promise<(string | null)[]>
}

/** Nodes keep the state of at least this many blocks (geth: 128). A missing block older than that was pruned. */
const RECENT_BLOCKS = 120
const VANISHED_PATIENCE = { attempts: 6, ms: 5_000 }
/** After this many failed groups whose calls work alone, the node is taken not to support groups. */
const REFUSED_AFTER = 2

export function createCallFetcher(pool: EndpointPool, chain: string): CallFetcher {
  const failedGroups = new WeakMap<Endpoint, number>()

  async function send(endpoint: Endpoint, requests: readonly RpcRequest[], asking: Asking): Promise<Outcome[]> {
    const { signal, urgent } = asking
    return endpoint.send(requests, { signal, urgent, timeoutMs: pool.timeoutMs(asking) })
  }

  /** Calls at the block's hash; by number if the node does not accept a hash, and then verifies the number's hash. */
  async function atBlock(endpoint: Endpoint, calls: readonly object[], at: Header, asking: Asking): Promise<Outcome[]> {
    const { limits } = endpoint
    if (limits.callByHash !== false) {
      const block = { blockHash: at.hash }
      const requests = calls.map((call) => ({ method: 'eth_call', params: [call, block] }))
      const outcomes = await send(endpoint, requests, asking)
      if (outcomes.some(({ ok }) => ok)) limits.callByHash = true
      if (limits.callByHash === true || !outcomes.every(isRefusal)) return outcomes
    }
    const block = toQuantity(at.number)
    const requests = calls.map((call) => ({ method: 'eth_call', params: [call, block] }))
    const outcomes = await send(endpoint, requests, asking)
    if (outcomes.some(({ ok }) => ok)) {
      limits.callByHash = false
      await checkNumber(endpoint, at, asking)
    }
    return outcomes
  }

  async function checkNumber(endpoint: Endpoint, at: Header, asking: Asking): Promise<void> {
    const request = { method: 'eth_getBlockByNumber', params: [toQuantity(at.number), false] }
    const [outcome] = await send(endpoint, [request], asking)
    if (outcome === undefined || !outcome.ok) throw outcome?.fault ?? new Error('an outcome is missing')
    const blame = blameOn(endpoint, chain)
    const { hash } = readHeader(outcome.result, { number: at.number }, blame)
    if (hash !== at.hash) throw blame('unknown_block', `block ${at.number} is ${hash}, not ${at.hash}`, at.number)
  }

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

const isRefusal = (outcome: Outcome): boolean =>
  !outcome.ok && (outcome.fault.kind === 'invalid' || outcome.fault.kind === 'unsupported')

/** Faults that another form of the same call may avoid. */
const isAboutTheCall = ({ kind }: NodeFault): boolean =>
  kind === 'reverted' || kind === 'invalid' || kind === 'unsupported' || kind === 'too_wide' || kind === 'node_error'

function explained(fault: NodeFault, endpoint: Endpoint, at: Header, chain: string): NodeFault {
  const { kind, detail } = fault
  const isOld = endpoint.head !== null && at.number < endpoint.head.number - RECENT_BLOCKS
  if (kind !== 'pruned' && !(kind === 'unknown_block' && isOld)) return fault
  return new NodeFault({ kind: 'pruned', endpoint: endpoint.name, detail, chain, block: at.number })
}

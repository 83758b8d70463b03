/** Reads an EVM chain through its endpoints: composes the parts of this folder. */

import type { Identity } from '../../nodes/check-chain.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, PatienceOptions } from '../../nodes/endpoint-pool.js'
import type { EndpointStatus } from '../../nodes/endpoint-status.js'
import { orNull } from '../../nodes/node-fault.js'
import { type NodesOptions, openNodes } from '../../nodes/open-nodes.js'
import type { ChainReader, Header } from '../chain-reader.js'
import { createBlockFetcher } from './fetch-blocks.js'
import { createCallFetcher } from './fetch-calls.js'
import { createHeaderFetcher } from './fetch-headers.js'
import { createLogFetcher } from './fetch-logs.js'
import { createSenderFetcher } from './fetch-senders.js'
import { createStateFetcher } from './fetch-state.js'
import { createHeadTracker, followHeads } from './heads.js'
import { quantity, toQuantity } from './hex.js'
import { createLogEvidence, createReceiptWitness } from './log-evidence.js'
import { compileFilter } from './log-filter.js'
import { readError } from './read-error.js'
import { createListedSenders } from './sender-ways.js'

export type ChainReaderOptions = NodesOptions & {
  /** Undefined: the endpoints only have to agree with each other. */
  chainId: number | undefined
}

export type RpcChainReader = ChainReader & {
  /** Checks that every endpoint serves this chain. */
  start(signal: AbortSignal): Promise<void>
  status(): EndpointStatus[]
  /** Finds the limits of every reachable endpoint, for its status. */
  probe(head: Header, signal: AbortSignal): Promise<void>
}

const MAX_IN_FLIGHT = 16
/** Requests about blocks this close to the head go before history. */
const NEAR_HEAD_BLOCKS = 64
/** Retries before "no such block" is believed: less than a second, unless the nodes fail in other ways too. */
const GONE_PATIENCE: PatienceOptions = { attempts: 5, ms: 10_000 }

export function createChainReader(options: ChainReaderOptions): RpcChainReader {
  const { chain } = options
  const nodes = openNodes(options, { readError, maxInFlight: MAX_IN_FLIGHT })
  const { endpoints, pool, timeoutMs, nowMs, random, sleep, live } = nodes
  const listed = createListedSenders()
  const headers = createHeaderFetcher(pool, chain, listed, nowMs, sleep)
  const logs = createLogFetcher(pool, chain, nowMs)
  const senders = createSenderFetcher(pool, chain, {
    isRationed: () => options.maxRps !== undefined || endpoints.some(({ perS }) => Number.isFinite(perS)),
    txCountOf: headers.txCountOf,
    listed,
    nowMs,
  })
  const blocks = createBlockFetcher({
    ...{ chain, headers, logs, listed, nowMs, sleep },
    wantsWhole: () => listed.isDense && senders.prefersBlocks,
    witness: createReceiptWitness(pool, chain),
    evidence: createLogEvidence(pool, chain, nowMs),
  })
  const calls = createCallFetcher(pool, chain)
  const states = createStateFetcher(pool, chain)
  const tracker = createHeadTracker(pool, headers, nowMs)

  const urgently = (signal: AbortSignal): Asking => ({ signal: live(signal), urgent: true })
  const briefly = (signal: AbortSignal): Asking => ({ ...urgently(signal), patience: GONE_PATIENCE })
  function about(number: number, signal: AbortSignal): Asking {
    const { highest } = tracker
    return { signal: live(signal), urgent: highest !== null && number > highest - NEAR_HEAD_BLOCKS }
  }

  return {
    start: (signal) => nodes.start(chainIdentity(options.chainId), signal),
    status: nodes.status,
    async probe(head, signal) {
      const ready = endpoints.filter((endpoint) => endpoint.health.healthy && endpoint.waitMs() === 0)
      await Promise.all(ready.map((one) => probeLimits(one, head.number, { signal: live(signal), timeoutMs })))
    },
    head: async (signal) => plain(await tracker.head(live(signal))),
    heads: (signal) =>
      followHeads({ chain, pool, tracker, timeoutMs, maxRps: options.maxRps, nowMs, random, sleep }, live(signal)),
    headerByHash: (hash, signal) => known(headers.byHash(hash, briefly(signal))),
    headerByNumber: (number, signal) => known(headers.byNumber(number, briefly(signal))),
    async finalized(signal) {
      const asking = briefly(signal)
      const asked = pool.attempt(asking, (endpoint) => headers.byTag('finalized', endpoint, asking))
      return (await orNull(asked, ['unsupported', 'invalid', 'unknown_block']))?.number ?? null
    },
    blocks: (from, to, filter, signal) => blocks.range(from, to, compileFilter(filter), about(from, signal)),
    block: (hash, filter, signal) => blocks.byHash(hash, compileFilter(filter), urgently(signal)),
    async logs(from, to, filter, signal) {
      const pieces = await logs.range(from, to, compileFilter(filter), { signal: live(signal), urgent: false })
      return pieces.flatMap((piece) => piece.logs)
    },
    senders: (wanted, signal) => senders.senders(wanted, about(wanted[0]?.block.number ?? 0, signal)),
    call: (all, at, signal) => calls.call(all, at, about(at.number, signal)),
    state: (requests, at, signal) => states.state(requests, at, about(at.number, signal)),
    async close() {
      nodes.close()
    },
  }
}

function chainIdentity(chainId: number | undefined): Identity {
  return {
    name: 'chain id',
    expected: chainId?.toString(),
    request: { method: 'eth_chainId', params: [] },
    read: (result) => quantity(result)?.toString() ?? null,
  }
}

const plain = ({ number, hash, parentHash, timeS }: Header): Header => ({ number, hash, parentHash, timeS })

async function known(asked: Promise<Header>): Promise<Header | null> {
  const header = await orNull(asked, ['unknown_block'])
  return header === null ? null : plain(header)
}

/** An address without logs. */
const UNUSED_ADDRESS = '0x00000000000000000000000000000000000c0ffe'
const ATTEMPTS = 6

export async function probeLimits(
  endpoint: Endpoint,
  head: number,
  options: { signal: AbortSignal; timeoutMs: number },
): Promise<void> {
  const sending = { ...options, urgent: false }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { limits } = endpoint
    const asked = Math.min(limits.span, head)
    const blocks = { fromBlock: toQuantity(head - asked + 1), toBlock: toQuantity(head) }
    const [outcome] = await endpoint.send(
      [{ method: 'eth_getLogs', params: [{ ...blocks, address: UNUSED_ADDRESS }] }],
      sending,
    )
    if (outcome === undefined || outcome.ok || outcome.fault.kind !== 'too_wide' || asked <= 1) break
    const { span, fault } = outcome
    limits.tooWide(asked, fault.limit, span === undefined ? undefined : span.to - span.from + 1)
  }
  const batch = Array.from({ length: endpoint.limits.batch }, () => ({ method: 'eth_chainId', params: [] }))
  await endpoint.send(batch, sending)
}

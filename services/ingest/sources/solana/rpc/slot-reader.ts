/** Reads Solana through its RPC endpoints. */
import type { Head, Header } from '../../following/chain-nodes.js'
import type { Identity } from '../../nodes/check-chain.js'
import type { Asking, PatienceOptions } from '../../nodes/endpoint-pool.js'
import type { EndpointStatus } from '../../nodes/endpoint-status.js'
import { type FaultKind, NodeFault, orNull } from '../../nodes/node-fault.js'
import { type NodesOptions, openNodes } from '../../nodes/open-nodes.js'
import type { LiveBlocks } from '../live-blocks.js'
import { RecentMap } from '../recent-map.js'
import type { Commitment, SlotBlock, SlotReader } from '../slot-block.js'
import { fetchAccounts, fetchListed } from './fetch-accounts.js'
import { createBlockFetcher, fetchFirstFrom, MAX_IN_FLIGHT } from './fetch-blocks.js'
import { fetchRange, type HeldBlocks, type RangeParts } from './fetch-range.js'
import { createSlotLists, planRange } from './range-plan.js'
import { readError } from './read-error.js'
import { genesisRequest, isCount, slotRequest } from './rpc-messages.js'
import { createSlotTracker, followSlots } from './slot-heads.js'
import { createKnownLinks, createSharedHeaders } from './slot-links.js'

/** Blocks pushed by streams. */
export type LiveSlots = Pick<LiveBlocks, 'take' | 'forget' | 'onSlot'>

export type SlotReaderOptions = NodesOptions & {
  /** Undefined: the endpoints only have to agree with each other. */
  genesisHash: string | undefined
  commitment: Commitment
  live?: LiveSlots | undefined
}

export type RpcSlotReader = SlotReader & {
  /** Checks that every endpoint is a node of this cluster. */
  start(signal: AbortSignal): Promise<void>
  status(): EndpointStatus[]
}

/** Requests for these slots take precedence over history. Older blocks are neither late nor orphaned, whatever the reported finality. */
const NEAR_HEAD_SLOTS = 64
/** A parsed block of a busy chain takes about 10 MB. */
const RECENT_BLOCKS = 8
/** Outside an outage, fewer slots than this are skipped between a block and its child. */
const FURTHEST_CHILD_SLOTS = 64
/** Accept "no such block" after this many attempts: under a second, unless the nodes also fail otherwise. */
const GONE_PATIENCE: PatienceOptions = { attempts: 5, ms: 10_000 }
const LIST_PATIENCE: PatienceOptions = { attempts: 2, ms: 3000 }
/** Nodes that did not list accounts are not asked again for this long: every check would wait for them. */
const UNLISTED_MS = 60_000
const UNKNOWN: readonly FaultKind[] = ['unknown_block']
/** Faults of nodes that do not report finality. */
const NO_FINALITY: readonly FaultKind[] = ['unsupported', 'invalid']

export function createSlotReader(options: SlotReaderOptions): RpcSlotReader {
  const { chain, commitment, live: stream } = options
  const nodes = openNodes(options, { readError, maxInFlight: MAX_IN_FLIGHT })
  const { pool, timeoutMs, nowMs, random, sleep, live } = nodes
  const fetcher = createBlockFetcher(pool, chain, commitment)
  const lists = createSlotLists(pool, chain, commitment)
  /** Blocks read near the head, which are often needed again. */
  const recent = new RecentMap<number, SlotBlock>(RECENT_BLOCKS)
  /** The last slot reported as final. */
  let finalSlot = -1

  const urgently = (signal: AbortSignal): Asking => ({ signal: live(signal), urgent: true })
  const briefly = (signal: AbortSignal): Asking => ({ ...urgently(signal), patience: GONE_PATIENCE })
  const isNearHead = (slot: number): boolean => slot > (tracker.highest ?? 0) - NEAR_HEAD_SLOTS
  const about = (slot: number, signal: AbortSignal): Asking => ({ signal: live(signal), urgent: isNearHead(slot) })
  function settledTo(): number {
    const highest = tracker.highest ?? 0
    return Math.max(Math.min(finalSlot, highest), highest - NEAR_HEAD_SLOTS)
  }

  const tracker = createSlotTracker({
    ...{ chain, pool, commitment, nowMs },
    isThere: async (slot, signal) => (await orNull(fetcher.header(slot, briefly(signal)), UNKNOWN)) !== null,
  })
  const held: HeldBlocks = {
    at: (slot) => stream?.take(slot) ?? recent.get(slot),
    keep: (block) => {
      if (isNearHead(block.number)) recent.set(block.number, block)
    },
    forget(slot) {
      stream?.forget(slot)
      recent.delete(slot)
    },
  }
  const parts: RangeParts = {
    ...{ chain, pool, fetcher, held, sleep },
    known: createKnownLinks(),
    shared: createSharedHeaders(),
    isKnownHead: tracker.isKnownHead,
  }

  /** Accounts are not listed again before. */
  let unlistedUntilMs = 0

  /** The highest slot returned: a node asked for accounts must have reached it. Not the head, which one node may have made up. */
  let lastReturned = 0

  /** Children of a block that no endpoint has were orphaned with it or never existed. */
  function forgetChildren(hash: string, number: number): void {
    for (let slot = number + 1; slot <= number + FURTHEST_CHILD_SLOTS; slot++)
      if (held.at(slot)?.parentHash === hash) held.forget(slot)
  }

  function noteReturned(blocks: SlotBlock[]): SlotBlock[] {
    lastReturned = Math.max(lastReturned, blocks.at(-1)?.number ?? 0)
    return blocks
  }

  async function exactBlock({ number, hash, parentHash }: Header, asking: Asking): Promise<SlotBlock> {
    const there = [stream?.take(number), recent.get(number)].find((block) => block?.hash === hash)
    if (there !== undefined) return there
    const block = await fetcher.insist(number, asking, { hash, parentHash })
    held.keep(block)
    return block
  }

  return {
    start: (signal) => nodes.start(clusterIdentity(options.genesisHash), signal),
    status: nodes.status,
    head: async (signal): Promise<Head> => ({ number: await tracker.head(live(signal)) }),
    heads: (signal) =>
      followSlots(
        {
          ...{ pool, tracker, timeoutMs, nowMs, random, sleep },
          onBlock: stream?.onSlot,
          maxRps: options.maxRps,
        },
        live(signal),
      ),
    async headerByHash(hash, number, signal) {
      // Not from the cache: the question is whether the chain still has it.
      const header = await orNull(fetcher.header(number, briefly(signal), { hash }), [...UNKNOWN, 'pruned'])
      if (header === null) forgetChildren(hash, number)
      return header
    },
    headerByNumber: (number, signal) => orNull(fetcher.header(number, briefly(signal)), UNKNOWN),
    headerFrom: (slot, signal) => fetchFirstFrom({ pool, chain, commitment, fetcher }, slot, urgently(signal)),
    async finalized(signal) {
      const asked = pool.ask([slotRequest('finalized')], readSlot, briefly(signal))
      const [slot = null] = (await orNull(asked, NO_FINALITY)) ?? []
      finalSlot = slot ?? finalSlot
      return slot
    },
    async range(from, to, signal) {
      const asking = about(from, signal)
      return noteReturned(
        await fetchRange(parts, await planRange({ fetcher, lists, settledTo }, from, to, asking), asking),
      )
    },
    async blocks(headers, signal) {
      const asking = { ...about(headers[0]?.number ?? 0, signal), patience: GONE_PATIENCE }
      return noteReturned(await Promise.all(headers.map((header) => exactBlock(header, asking))))
    },
    accounts: (addresses, signal) =>
      fetchAccounts(pool, chain, { addresses, minSlot: lastReturned }, { signal: live(signal), urgent: true }),
    async listed(list, signal) {
      if (nowMs() < unlistedUntilMs) return null
      const asking = { ...urgently(signal), patience: LIST_PATIENCE, timeoutMs: LIST_PATIENCE.ms }
      try {
        return await fetchListed(pool, chain, { list, minSlot: lastReturned }, asking)
      } catch (error) {
        // Many services do not list accounts, or not those of large programs. A block does not wait for them.
        if (!(error instanceof NodeFault)) throw error
        unlistedUntilMs = nowMs() + UNLISTED_MS
        return null
      }
    },
    async close() {
      nodes.close()
    },
  }

  function readSlot(result: unknown, _: number, endpoint: { name: string }): number {
    if (isCount(result)) return result
    throw new NodeFault({ kind: 'lies', endpoint: endpoint.name, detail: 'returned an invalid slot', chain })
  }
}

export function clusterIdentity(genesisHash: string | undefined): Identity {
  return {
    name: 'genesis hash',
    expected: genesisHash,
    request: genesisRequest,
    read: (result) => (typeof result === 'string' && result !== '' ? result : null),
  }
}

/** Reads Solana through its endpoints: the parts of this folder put together. */
import type { Head, Header } from '../../following/chain-nodes.js'
import type { Identity } from '../../nodes/check-chain.js'
import type { Asking, PatienceOptions } from '../../nodes/endpoint-pool.js'
import type { EndpointStatus } from '../../nodes/endpoint-status.js'
import { type FaultKind, NodeFault, orNull } from '../../nodes/node-fault.js'
import { type NodesOptions, openNodes } from '../../nodes/open-nodes.js'
import type { LiveBlocks } from '../live-blocks.js'
import { RecentMap } from '../recent-map.js'
import type { Commitment, SlotBlock, SlotReader } from '../slot-block.js'
import { isCount } from './check-block.js'
import { fetchAccounts } from './fetch-accounts.js'
import { createBlockFetcher, MAX_IN_FLIGHT } from './fetch-blocks.js'
import { fetchRange, type HeldBlocks, type RangeParts } from './fetch-range.js'
import { fetchFirstFrom } from './first-from.js'
import { createKnownLinks } from './known-links.js'
import { planRange } from './range-plan.js'
import { readError } from './read-error.js'
import { genesisRequest, slotRequest } from './requests.js'
import { createSharedHeaders } from './shared-headers.js'
import { followSlots } from './slot-heads.js'
import { createSlotLists } from './slot-lists.js'
import { createSlotTracker } from './slot-tracker.js'

/** Blocks that came by themselves. */
export type LiveSlots = Pick<LiveBlocks, 'take' | 'forget' | 'onSlot'>

export type SlotReaderOptions = NodesOptions & {
  /** Undefined: the endpoints must only agree with each other. */
  genesisHash: string | undefined
  commitment: Commitment
  live?: LiveSlots | undefined
}

export type RpcSlotReader = SlotReader & {
  /** Checks that every endpoint is a node of this cluster. */
  start(signal: AbortSignal): Promise<void>
  status(): EndpointStatus[]
}

/** What is asked about these goes before history. Below them nothing comes late or dies, whatever was told of finality. */
const NEAR_HEAD_SLOTS = 64
/** A block of a busy chain takes some ten MB once it is parsed. */
const RECENT_BLOCKS = 8
/** More slots are not skipped between a block and its child, but for an outage. */
const FURTHEST_CHILD_SLOTS = 64
/** So often the same "no such block" is believed: less than a second, unless the nodes fail in other ways too. */
const GONE_PATIENCE: PatienceOptions = { attempts: 5, ms: 10_000 }
const UNKNOWN: readonly FaultKind[] = ['unknown_block']
/** Nodes that have no word for it. */
const UNTOLD: readonly FaultKind[] = ['unsupported', 'invalid']

export function createSlotReader(options: SlotReaderOptions): RpcSlotReader {
  const { chain, commitment, live: stream } = options
  const nodes = openNodes(options, { readError, maxInFlight: MAX_IN_FLIGHT })
  const { pool, timeoutMs, nowMs, random, sleep, live } = nodes
  const fetcher = createBlockFetcher(pool, chain, commitment)
  const lists = createSlotLists(pool, chain, commitment)
  /** Read near the head, so that what is asked again there is not fetched again. */
  const recent = new RecentMap<number, SlotBlock>(RECENT_BLOCKS)
  /** The last that was told as final. */
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
    isTold: tracker.isTold,
  }

  /** Of the blocks that were given: what they tell of must be there for whoever is asked about it. Not the head, which one node may have made up. */
  let lastGiven = 0

  /** Blocks with a parent that nobody has died with it, or never were. */
  function forgetChildren(hash: string, number: number): void {
    for (let slot = number + 1; slot <= number + FURTHEST_CHILD_SLOTS; slot++)
      if (held.at(slot)?.parentHash === hash) held.forget(slot)
  }

  function given(blocks: SlotBlock[]): SlotBlock[] {
    lastGiven = Math.max(lastGiven, blocks.at(-1)?.number ?? 0)
    return blocks
  }

  async function theVeryBlock({ number, hash, parentHash }: Header, asking: Asking): Promise<SlotBlock> {
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
      // Not from what is held: whether the chain still has it is the question.
      const header = await orNull(fetcher.header(number, briefly(signal), { hash }), [...UNKNOWN, 'pruned'])
      if (header === null) forgetChildren(hash, number)
      return header
    },
    headerByNumber: (number, signal) => orNull(fetcher.header(number, briefly(signal)), UNKNOWN),
    headerFrom: (slot, signal) => fetchFirstFrom({ pool, chain, commitment, fetcher }, slot, urgently(signal)),
    async finalized(signal) {
      const asked = pool.ask([slotRequest('finalized')], readSlot, briefly(signal))
      const [slot = null] = (await orNull(asked, UNTOLD)) ?? []
      finalSlot = slot ?? finalSlot
      return slot
    },
    async range(from, to, signal) {
      const asking = about(from, signal)
      return given(await fetchRange(parts, await planRange({ fetcher, lists, settledTo }, from, to, asking), asking))
    },
    async blocks(headers, signal) {
      const asking = { ...about(headers[0]?.number ?? 0, signal), patience: GONE_PATIENCE }
      return given(await Promise.all(headers.map((header) => theVeryBlock(header, asking))))
    },
    accounts: (addresses, signal) =>
      fetchAccounts(pool, chain, { addresses, minSlot: lastGiven }, { signal: live(signal), urgent: true }),
    async close() {
      nodes.close()
    },
  }

  function readSlot(result: unknown, _: number, endpoint: { name: string }): number {
    if (isCount(result)) return result
    throw new NodeFault({ kind: 'lies', endpoint: endpoint.name, detail: 'a slot that is none', chain })
  }
}

function clusterIdentity(genesisHash: string | undefined): Identity {
  return {
    name: 'genesis hash',
    expected: genesisHash,
    request: genesisRequest,
    read: (result) => (typeof result === 'string' && result !== '' ? result : null),
  }
}

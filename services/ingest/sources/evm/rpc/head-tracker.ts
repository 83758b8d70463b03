/** The newest block of the endpoints that can be trusted to know it: who is behind is marked, and a lower head is not obeyed at once. */

import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { NodeFault, orNull } from '../../nodes/node-fault.js'
import { createAskEvery } from '../../nodes/watch-heads.js'
import type { FullHeader, HeaderFetcher } from './fetch-headers.js'
import { toQuantity } from './hex.js'

export interface HeadTracker {
  head(signal: AbortSignal): Promise<FullHeader>
  /** A head an endpoint told of by itself: new, known, or lower than what was there, or far above it, which is to be looked into. */
  told(endpoint: Endpoint, header: FullHeader): 'new' | 'known' | 'looked_into'
  /** The highest number seen; null: none yet. */
  readonly highest: number | null
  /** Milliseconds between blocks, by their own times; null: not known yet. */
  readonly blockMs: number | null
}

const LAG_BLOCKS = 5
const LAG_MS = 30_000
/** Blocks' times are whole seconds: those of a quick chain (Arbitrum: four a second) mostly share one. */
const SHORTEST_MS = 250
/** The middle one of the last few: a pause, or a burst of blocks, must not decide. */
const SPACINGS = 9
/** A head so far above all that was seen is obeyed only where its teller has the block below it too. */
const FAR_BLOCKS = 100

export function createHeadTracker(pool: EndpointPool, headers: HeaderFetcher, nowMs: () => number): HeadTracker {
  let highest: FullHeader | null = null
  const spacings: number[] = []

  function note(endpoint: Endpoint, header: FullHeader): void {
    endpoint.head = { number: header.number, atMs: nowMs() }
    if (highest !== null && header.number > highest.number && header.timeS >= highest.timeS) {
      spacings.push(((header.timeS - highest.timeS) * 1000) / (header.number - highest.number))
      if (spacings.length > SPACINGS) spacings.shift()
    }
  }

  const blockMs = (): number | null =>
    spacings.toSorted((one, other) => one - other)[Math.floor((spacings.length - 1) / 2)] ?? null

  async function askOne(endpoint: Endpoint, asking: Asking): Promise<FullHeader> {
    const header = await headers.byTag('latest', endpoint, asking)
    if (header === null) throw new NodeFault({ kind: 'lags', endpoint: endpoint.name, detail: 'no latest block' })
    if (highest === null || isFar(header)) await refuseAlone(endpoint, header, asking)
    note(endpoint, header)
    return header
  }

  const isFar = ({ number }: FullHeader): boolean => highest !== null && number > highest.number + FAR_BLOCKS

  async function refuseAlone(endpoint: Endpoint, { number, parentHash }: FullHeader, asking: Asking): Promise<void> {
    const startedMs = nowMs()
    if (number === 0 || (await headers.byTag(toQuantity(number - 1), endpoint, asking))?.hash === parentHash) return
    const detail = `head ${number} without its parent block`
    const fault = new NodeFault({ kind: 'lies', endpoint: endpoint.name, detail, block: number })
    endpoint.health.failed(fault, startedMs)
    throw fault
  }

  const askEvery = createAskEvery(pool, askOne)

  /** The highest of all that answer; null: they were not asked, or none did. */
  async function highestOfAll(asking: Asking): Promise<FullHeader | null> {
    const told = await askEvery(asking)
    const top = told.reduce<FullHeader | null>(
      (best, { answer }) => (best === null || answer.number > best.number ? answer : best),
      null,
    )
    if (top === null) return null
    const spacingMs = blockMs()
    const allowed = Math.max(LAG_BLOCKS, spacingMs === null ? 0 : LAG_MS / Math.max(SHORTEST_MS, spacingMs))
    for (const { endpoint, answer } of told) {
      const behind = top.number - answer.number
      endpoint.health.setLagging(behind > allowed ? behind : null)
    }
    return top
  }

  return {
    async head(signal) {
      const asking = { signal, urgent: true }
      const found = (await highestOfAll(asking)) ?? (await pool.attempt(asking, (endpoint) => askOne(endpoint, asking)))
      if (highest === null || found.number >= highest.number) {
        highest = found
        return found
      }
      // Lower than what was there: a node behind, or a chain that really is shorter now.
      const known = await stillThere(headers, highest, asking)
      if (!known) highest = found
      return highest
    },
    told(endpoint, header) {
      if (isFar(header)) return 'looked_into'
      note(endpoint, header)
      if (highest !== null && header.number < highest.number) return endpoint.health.lagging ? 'known' : 'looked_into'
      if (header.hash === highest?.hash) return 'known'
      highest = header
      return 'new'
    },
    get highest() {
      return highest?.number ?? null
    },
    get blockMs() {
      return blockMs()
    },
  }
}

async function stillThere(headers: HeaderFetcher, header: FullHeader, asking: Asking): Promise<boolean> {
  // A node may still have the orphans of a reorg: what counts is which block has the number.
  const asked = headers.byNumber(header.number, { ...asking, patience: { attempts: 2, ms: 2_000 } })
  return (await orNull(asked, ['unknown_block']))?.hash === header.hash
}

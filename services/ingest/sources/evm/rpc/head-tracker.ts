/** The newest block of the endpoints that can be trusted to know it: who is behind is marked, and a lower head is not obeyed at once. */

import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { NodeFault } from '../../nodes/node-fault.js'
import type { FullHeader } from './check-headers.js'
import type { HeaderFetcher } from './fetch-headers.js'

export interface HeadTracker {
  head(signal: AbortSignal): Promise<FullHeader>
  /** A head an endpoint told of by itself: new, known, or lower than what was there, which is to be looked into. */
  told(endpoint: Endpoint, header: FullHeader): 'new' | 'known' | 'lower'
  /** The highest number seen; null: none yet. */
  readonly highest: number | null
  /** Milliseconds between blocks, by their own times; null: not known yet. */
  readonly blockMs: number | null
}

/** Every so many questions all endpoints are asked, else the best alone. */
const ASK_ALL_EVERY = 8
const LAG_BLOCKS = 5
const LAG_MS = 30_000
const ASK_ALL_TIMEOUT_MS = 3_000
/** The middle one of the last few: a pause, or a burst of blocks, must not decide. */
const SPACINGS = 9

export function createHeadTracker(pool: EndpointPool, headers: HeaderFetcher, nowMs: () => number): HeadTracker {
  let highest: FullHeader | null = null
  let asked = 0
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
    note(endpoint, header)
    return header
  }

  /** The highest of all that answer. */
  async function askAll(asking: Asking): Promise<FullHeader | null> {
    const ready = pool.endpoints.filter((endpoint) => endpoint.health.usable && endpoint.waitMs() === 0)
    const answers = await Promise.allSettled(
      ready.map((endpoint) => askOne(endpoint, { ...asking, timeoutMs: ASK_ALL_TIMEOUT_MS })),
    )
    asking.signal.throwIfAborted()
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    if (found.length === 0) return null
    const top = found.reduce((best, header) => (header.number > best.number ? header : best))
    const spacingMs = blockMs() ?? 0
    const allowed = Math.max(LAG_BLOCKS, spacingMs <= 0 ? 0 : LAG_MS / spacingMs)
    for (const [place, endpoint] of ready.entries()) {
      const answer = answers[place]
      if (answer?.status !== 'fulfilled') continue
      const behind = top.number - answer.value.number
      endpoint.health.setLagging(behind > allowed ? behind : null)
    }
    return top
  }

  return {
    async head(signal) {
      const asking = { signal, urgent: true }
      const all = pool.endpoints.length > 1 && asked++ % ASK_ALL_EVERY === 0
      const found =
        (all ? await askAll(asking) : null) ?? (await pool.attempt(asking, (endpoint) => askOne(endpoint, asking)))
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
      note(endpoint, header)
      if (highest !== null && header.number < highest.number) return endpoint.health.lagging ? 'known' : 'lower'
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
  try {
    // A node may still have the orphans of a reorg: what counts is which block has the number.
    const there = await headers.byNumber(header.number, { ...asking, patience: { attempts: 2, ms: 2_000 } })
    return there.hash === header.hash
  } catch (error) {
    if (error instanceof NodeFault && error.kind === 'unknown_block') return false
    throw error
  }
}

/**
 * A subscription as an async iterator. Its queue is bounded: when the consumer is slower than the pushes, the subscription is
 * paused at the server and resumes from its cursor once the queue is half empty. Nothing is dropped and nothing is repeated.
 */
import type { Connection, Feed } from './connection.js'
import { type Delivered, type Event, factsOf, type RefillDeps, type RefillItem, readRefill } from './refill.js'
import { chainOfCursor, type Gap, type Item, type Started, type SubscribeParams, type Topic } from './topics.js'

export type SubscribeOptions = {
  /** Resume after these positions: the `cursor` of an earlier subscription. */
  since?: string | readonly string[] | undefined
  /** Push the current state first (candles and prices). */
  snapshot?: boolean
  /** What the server does when the network is slow: merge pushes, or close the socket so that the client resumes. */
  onSlow?: 'conflate' | 'disconnect'
  /** Items that wait for the consumer before the subscription pauses (1,000). */
  maxQueued?: number
  /** Read gaps by REST (true); otherwise they are all delivered as `gap`. */
  refill?: boolean
  signal?: AbortSignal
}

export type Subscription<Name extends Topic = Topic> = {
  [Symbol.asyncIterator](): Subscription<Name>
  next(): Promise<IteratorResult<Item<Name>, undefined>>
  /** Ends it, as leaving a loop does. */
  return(): Promise<IteratorResult<Item<Name>, undefined>>
  /** Resolves when the server has accepted the subscription. */
  readonly started: Promise<Started>
  /** Position of the last delivered item, one per chain: store it, and pass it as `since` to resume. */
  readonly cursor: string[]
  /** Items that wait for the consumer. */
  readonly queued: number
  readonly isPaused: boolean
  close(): void
}

const MAX_QUEUED = 1000
/** Delivered events kept per pair, at least: where a refill begins, also after a reorg. */
const MAX_DELIVERED = 100
/** Ids of a refill whose pushes may still arrive; the newest count. */
const MAX_REFILLED = 50_000
/** Chain time after which none of them can. */
const REFILLED_KEPT_S = 3600

type Result = Record<string, unknown>
type Pushed = Event & { time: number; pair_address: string; chain: string }

export function createSubscription<Name extends Topic>(
  params: SubscribeParams,
  options: SubscribeOptions,
  connection: Connection,
  deps: Omit<RefillDeps, 'signal'>,
): { feed: Feed; subscription: Subscription<Name> } {
  const { since = [], snapshot = false, onSlow, maxQueued = MAX_QUEUED, refill: canRefill = true, signal } = options
  const queue: Result[] = []
  const received = new Map([since].flat().map((cursor) => [chainOfCursor(cursor), cursor]))
  const consumed = new Map(received)
  const delivered = new Map<string, Delivered[]>()
  const refilled = new Set<string>()
  let refilledUntilS = 0
  const isWholeChain = params[1] === '*'
  const ending = new AbortController()
  let isStarted = false
  let isPaused = false
  let failure: { error: unknown } | undefined
  let wake = () => {}
  let refill: { pages: AsyncGenerator<RefillItem>; gap: Gap } | undefined
  let start: { resolve(started: Started): void; reject(error: unknown): void } | undefined
  const started = new Promise<Started>((resolve, reject) => {
    start = { resolve, reject }
  })
  // Whoever only iterates gets the error there.
  started.catch(() => {})

  const feed: Feed = {
    params,
    request() {
      const asked = {
        ...(received.size === 0 ? {} : { since: [...received.values()] }),
        ...(snapshot && !isStarted ? { snapshot } : {}),
        ...(onSlow === undefined ? {} : { on_slow: onSlow }),
      }
      return Object.keys(asked).length === 0 ? params : [...params, asked]
    },
    isWanted: () => !isPaused,
    isStarted: () => isStarted,
    acknowledge({ cursor = [], unknown = [] }) {
      isStarted = true
      for (const one of cursor) {
        const chain = chainOfCursor(one)
        if (!received.has(chain)) received.set(chain, one)
        if (!consumed.has(chain)) consumed.set(chain, one)
      }
      start?.resolve({ cursor, unknown })
    },
    receive(result) {
      if (isPaused) return
      if (queue.length >= maxQueued) {
        isPaused = true
        connection.pause(feed)
        return
      }
      const cursor = result.topic === 'gap' ? result.to : result.cursor
      if (typeof cursor === 'string') received.set(chainOfCursor(cursor), cursor)
      queue.push(result)
      wake()
    },
    fail(error) {
      failure = { error }
      start?.reject(error)
      wake()
    },
    end,
  }

  function end(): void {
    if (ending.signal.aborted) return
    ending.abort()
    signal?.removeEventListener('abort', end)
    queue.length = 0
    start?.reject(new Error('The subscription was closed before it started.'))
    connection.detach(feed)
    wake()
  }
  signal?.addEventListener('abort', end)
  if (signal?.aborted) queueMicrotask(end)

  async function nextPage(): Promise<Item | undefined> {
    if (refill === undefined) return undefined
    const { pages, gap } = refill
    try {
      const { done, value } = await pages.next()
      if (!done) {
        noteRefill(value)
        return value as Item
      }
      consumed.set(gap.chain, gap.to)
      refill = undefined
      return undefined
    } catch (error) {
      consumed.set(gap.chain, gap.to)
      refill = undefined
      return ending.signal.aborted ? undefined : { ...gap, error: error as Error }
    }
  }

  async function next(): Promise<IteratorResult<Item<Name>, undefined>> {
    for (;;) {
      const page = await nextPage()
      if (page !== undefined) return { done: false, value: page as Item<Name> }
      if (ending.signal.aborted) return { done: true, value: undefined }
      const result = queue.shift()
      if (result === undefined) {
        if (failure !== undefined) {
          const { error } = failure
          end()
          throw error
        }
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      if (isPaused && queue.length <= maxQueued / 2) {
        isPaused = false
        connection.resume(feed)
      }
      const item = deliver(result)
      if (item !== undefined) return { done: false, value: item as Item<Name> }
    }
  }

  /** Undefined if there is nothing to deliver: a push that a refill had, or a gap that is read first. */
  function deliver(result: Result): Item | undefined {
    if (result.topic === 'gap') {
      const { chain, from, to, refill: path } = result as unknown as Gap
      const gap: Gap = { topic: 'gap', chain, from, to, refill: path }
      if (!canRefill || path === null || isUnpaged(path)) {
        consumed.set(chain, to)
        return gap
      }
      refill = { gap, pages: readRefill({ ...deps, signal: ending.signal }, gap, (id) => delivered.get(id) ?? []) }
      return undefined
    }
    if (typeof result.cursor === 'string') consumed.set(chainOfCursor(result.cursor), result.cursor)
    if (result.topic === 'retract' && !isWholeChain) forget(`${result.id}-${result.chain}`, result.ids as string[])
    if (result.tx !== undefined && isRepeated(result.tx as Pushed)) return undefined
    if (result.topic === 'conflated') return { topic: 'conflated', count: Number(result.count) }
    if (result.topic !== undefined) return result as Item
    return { ...(result.data as object), topic: 'switch_main_pair', cursor: result.cursor } as Item
  }

  function isRepeated(event: Pushed): boolean {
    if (event.time > refilledUntilS + REFILLED_KEPT_S) refilled.clear()
    const pair = `${event.pair_address}-${event.chain}`
    if (refilled.delete(`${pair} ${event.id}`)) return true
    if (!isWholeChain) noteDelivered(pair, [event])
    return false
  }

  function noteDelivered(pair: string, events: readonly Event[]): void {
    const last = delivered.get(pair) ?? []
    for (const event of events) last.push({ id: event.id, facts: factsOf(event) })
    delivered.set(pair, last.length > 2 * MAX_DELIVERED ? last.slice(-MAX_DELIVERED) : last)
  }

  function forget(pair: string, ids: readonly string[]): void {
    for (const id of ids) refilled.delete(`${pair} ${id}`)
    const gone = new Set(ids)
    const last = delivered.get(pair) ?? []
    delivered.set(
      pair,
      last.filter(({ id }) => !gone.has(id)),
    )
  }

  /** Pushes after the gap can be in the answer too: those before the request was answered, or of the last second of its range. */
  function noteRefill({ of, id: pair, items, retracted }: RefillItem): void {
    if (of !== 'swaps' && of !== 'liquidity') return
    forget(pair, retracted)
    noteDelivered(pair, items)
    for (const { id, tx_time } of items) {
      refilled.add(`${pair} ${id}`)
      refilledUntilS = Math.max(refilledUntilS, tx_time)
    }
    for (const oldest of refilled) {
      if (refilled.size <= MAX_REFILLED) break
      refilled.delete(oldest)
    }
  }

  let turn: Promise<unknown> = Promise.resolve()
  const subscription: Subscription<Name> = {
    started,
    get cursor() {
      return [...consumed.values()]
    },
    get queued() {
      return queue.length
    },
    get isPaused() {
      return isPaused
    },
    close: end,
    next() {
      const item = turn.then(next, next)
      turn = item
      return item
    },
    async return() {
      end()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => subscription,
  }
  return { feed, subscription }
}

/** Swaps or signals of many pairs: nothing that the items of one pair can be compared with. */
const isUnpaged = (path: string): boolean => path.startsWith('/v2/address/') || path.startsWith('/v2/signals/')

/** Reads by REST what a gap notice says is missing, page by page. */
import { pauseFor } from './connection.js'
import { DextapeError } from './errors.js'
import type { Candle, LiquidityEvent, PairDetail, Swap, TokenDetail } from './generated/interface.js'
import type { Gap, Refill } from './topics.js'

export type RefillItem =
  | Refill<'swaps', Swap>
  | Refill<'liquidity', LiquidityEvent>
  | Refill<'candles', Candle>
  | Refill<'pair', PairDetail>
  | Refill<'token', TokenDetail>

export type RefillDeps = {
  get(path: string): Promise<unknown>
  minBackoffMs: number
  maxBackoffMs: number
  signal: AbortSignal
}

/** A swap or liquidity event, as pushed or as REST answers it. */
export type Event = {
  id: string
  block_number: number
  tx_time?: number
  time?: number
  amount_usd: string | null
}

/** An id alone does not name an event: after a reorg the same transaction comes again, in another block. */
export type Delivered = { id: string; facts: string }

export const factsOf = ({ id, block_number, tx_time, time, amount_usd }: Event): string =>
  [id, block_number, tx_time ?? time, amount_usd ?? ''].join(' ')

/** More than the delivered items that are kept. */
const EVENTS_PER_PAGE = 300
const CANDLES_PER_PAGE = 1000

/** `delivered`: the last items delivered of a pair, oldest first. */
export async function* readRefill(
  deps: RefillDeps,
  gap: Gap,
  delivered: (id: string) => readonly Delivered[],
): AsyncGenerator<RefillItem> {
  const { pathname, searchParams } = new URL(gap.refill ?? '', 'http://server')
  const id = decodeURIComponent(pathname.split('/').at(-1) ?? '')
  const place = {
    topic: 'refill' as const,
    chain: gap.chain,
    from: gap.from,
    to: gap.to,
    id,
    retracted: [] as string[],
  }
  const read = (query: URLSearchParams) => withRetries(deps, () => deps.get(`${pathname}?${query}`))
  if (pathname.startsWith('/v2/txs/')) {
    const of = pathname.startsWith('/v2/txs/swap/') ? 'swaps' : 'liquidity'
    for await (const page of eventPages(read, searchParams, delivered(id)))
      yield { ...place, of, ...page } as RefillItem
  } else if (pathname.startsWith('/v2/klines/')) {
    for await (const items of candlePages(read, searchParams)) yield { ...place, of: 'candles', items }
  } else {
    const found = await read(searchParams)
    if (pathname.startsWith('/v2/pairs/'))
      yield { ...place, of: 'pair', items: found === null ? [] : [found as PairDetail] }
    else yield { ...place, of: 'token', items: found === null ? [] : [found as TokenDetail] }
  }
}

type Read = (query: URLSearchParams) => Promise<unknown>
type Page = { items: Event[]; retracted: string[] }

/**
 * From the oldest delivered item that is kept, so that the answer also shows which of the later ones a reorg removed or
 * replaced; by time if none was delivered.
 */
async function* eventPages(read: Read, range: URLSearchParams, delivered: readonly Delivered[]): AsyncGenerator<Page> {
  const query = new URLSearchParams(range)
  query.set('sort', 'asc')
  query.set('limit', String(EVENTS_PER_PAGE))
  let { items, expected } = await firstPage(read, query, delivered)
  let count = items.length
  const found = new Set(items.map(factsOf))
  const known = new Set(expected.map(({ facts }) => facts))
  const retracted = expected.filter(({ facts }) => !found.has(facts)).map(({ id }) => id)
  const first = { items: items.filter((item) => !known.has(factsOf(item))), retracted }
  if (first.items.length > 0 || retracted.length > 0) yield first
  while (count === EVENTS_PER_PAGE) {
    query.delete('from_time')
    query.set('after', items.at(-1)?.id ?? '')
    items = await eventsOf(read, query)
    count = items.length
    if (count > 0) yield { items, retracted: [] }
  }
}

async function firstPage(read: Read, query: URLSearchParams, delivered: readonly Delivered[]) {
  const [oldest, ...later] = delivered
  if (oldest === undefined && !query.has('from_time')) {
    throw new DextapeError('gap_unbounded', 'The server does not know where the gap begins.')
  }
  if (oldest === undefined) return { items: await eventsOf(read, query), expected: [] }
  const after = new URLSearchParams(query)
  after.delete('from_time')
  after.set('after', oldest.id)
  try {
    return { items: await eventsOf(read, after), expected: later }
  } catch (error) {
    const isRemoved = error instanceof DextapeError && error.code === 'after_unknown'
    if (!isRemoved || !query.has('from_time')) throw error
    return { items: await eventsOf(read, query), expected: delivered }
  }
}

const eventsOf = async (read: Read, query: URLSearchParams): Promise<Event[]> =>
  ((await read(query)) as { txs: Event[] }).txs

/** A range with only its start is read forward. */
async function* candlePages(read: Read, range: URLSearchParams): AsyncGenerator<Candle[]> {
  const query = new URLSearchParams(range)
  query.set('limit', String(CANDLES_PER_PAGE))
  if (!query.has('from_time')) {
    yield ((await read(query)) as { points: Candle[] }).points
    return
  }
  const lastTime = Number(query.get('to_time') ?? Number.POSITIVE_INFINITY)
  query.delete('to_time')
  for (;;) {
    const { points } = (await read(query)) as { points: Candle[] }
    const items = points.filter(({ time }) => time <= lastTime)
    if (items.length > 0) yield items
    if (items.length < CANDLES_PER_PAGE) return
    query.set('from_time', String((items.at(-1)?.time ?? 0) + 1))
  }
}

async function withRetries<T>({ minBackoffMs, maxBackoffMs, signal }: RefillDeps, read: () => Promise<T>): Promise<T> {
  for (let delayMs = minBackoffMs; ; delayMs = Math.min(maxBackoffMs, delayMs * 2)) {
    try {
      return await read()
    } catch (error) {
      if (signal.aborted || !(error instanceof DextapeError && error.isRetryable)) throw error
      await pauseFor(Math.max(delayMs, error.retryAfterMs ?? 0), signal)
    }
  }
}

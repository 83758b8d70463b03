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

const EVENTS_PER_PAGE = 300
const CANDLES_PER_PAGE = 1000

/** `deliveredOf`: ids of a pair's last delivered items, oldest first; those that no longer exist are removed from it. */
export async function* readRefill(
  deps: RefillDeps,
  gap: Gap,
  deliveredOf: (id: string) => string[] | undefined,
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
    for await (const page of eventPages(read, searchParams, deliveredOf(id)))
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
type Event = { id: string }

/** After the last delivered item, so that none is repeated; by time if there was none. */
async function* eventPages(
  read: Read,
  range: URLSearchParams,
  delivered: string[] | undefined,
): AsyncGenerator<{ items: Event[]; retracted: string[] }> {
  if (delivered === undefined && !range.has('from_time')) {
    throw new DextapeError('gap_unbounded', 'The server does not know where the gap begins.')
  }
  const query = new URLSearchParams(range)
  query.set('sort', 'asc')
  query.set('limit', String(EVENTS_PER_PAGE))
  let retracted: string[] = []
  let after = delivered?.at(-1)
  for (;;) {
    if (after !== undefined) {
      query.set('after', after)
      query.delete('from_time')
    }
    let items: Event[]
    try {
      items = ((await read(query)) as { txs: Event[] }).txs
    } catch (error) {
      // A reorg removes the newest items: the first one that still exists is where reading resumes.
      const isRemoved = error instanceof DextapeError && error.code === 'after_unknown'
      const removed = isRemoved ? delivered?.pop() : undefined
      if (removed === undefined || delivered?.length === 0) throw error
      retracted.push(removed)
      after = delivered?.at(-1)
      continue
    }
    if (items.length > 0 || retracted.length > 0) yield { items, retracted }
    if (items.length < EVENTS_PER_PAGE) return
    retracted = []
    delivered = undefined
    after = items.at(-1)?.id
  }
}

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

import { DextapeError } from '../../core/domain/errors.js'
import type { QueryLimits, Store } from '../../core/store/port.js'
import type { ServeMetrics } from '../serve-metrics.js'

/** Only queries: what history needs of the store. */
export type Queries = Pick<Store, 'query'>

/** Lanes of queries that do not wait for each other. */
export type QueryLanes = {
  /** A range of one pair's rows. */
  cheap: Queries
  /** Sums over many rows. */
  dear: Queries
}

type Lane = {
  /** Queries at once: both lanes together are the three sessions in which an embedded engine reads. */
  atOnce: number
  /** More waiting ones are refused: they would time out. */
  mostWaiting: number
}

const CHEAP: Lane = { atOnce: 2, mostWaiting: 500 }
const DEAR: Lane = { atOnce: 1, mostWaiting: 50 }

/** Of the turns of a lane, for /metrics. */
export type LaneMeter = { waiting: () => number; onWaited: (ms: number) => void }

export function createQueryLanes(
  store: Queries,
  metrics?: Pick<ServeMetrics, 'gauge' | 'storeWaitSeconds'>,
): QueryLanes {
  const meters = new Map<string, LaneMeter>()
  const meterOf = (lane: string): LaneMeter => {
    const onWaited = (ms: number) => metrics?.storeWaitSeconds.add(lane, ms / 1000)
    const meter = { waiting: () => 0, onWaited }
    meters.set(lane, meter)
    return meter
  }
  metrics?.gauge('dextape_serve_waiting_queries', 'Queries of requests that wait for the store', ['lane'], () =>
    [...meters].map(([lane, { waiting }]) => ({ labels: { lane }, value: waiting() })),
  )
  return { cheap: createLane(store, CHEAP, meterOf('cheap')), dear: createLane(store, DEAR, meterOf('dear')) }
}

export function createLane(store: Queries, lane: Lane, meter?: LaneMeter): Queries {
  const inTurn = createTurns(lane, meter)
  return {
    query: <Row>(sql: string, params?: Record<string, unknown>, limits?: QueryLimits) =>
      inTurn(() => store.query<Row>(sql, params, limits)),
  }
}

/** Runs work of a lane in turn. */
export function createTurns(
  { atOnce, mostWaiting }: Lane,
  meter?: LaneMeter,
): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = []
  if (meter !== undefined) meter.waiting = () => waiting.length
  let running = 0

  async function takeTurn(): Promise<void> {
    if (running < atOnce) {
      running += 1
      return
    }
    if (waiting.length >= mostWaiting) {
      throw new DextapeError({
        ...{ code: 'store_busy', what: `${waiting.length} queries are waiting for the store`, retry: true },
        fix: 'Send fewer requests at once',
      })
    }
    // Whoever ends hands its turn on.
    const sinceMs = performance.now()
    await new Promise<void>((resolve) => waiting.push(resolve))
    meter?.onWaited(performance.now() - sinceMs)
  }

  function endTurn(): void {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }

  return async (work) => {
    await takeTurn()
    try {
      return await work()
    } finally {
      endTurn()
    }
  }
}

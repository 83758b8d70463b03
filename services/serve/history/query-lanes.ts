import { DextapeError } from '../../core/domain/errors.js'
import type { QueryLimits, Store } from '../../core/store/port.js'

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

export function createQueryLanes(store: Queries): QueryLanes {
  return { cheap: createLane(store, CHEAP), dear: createLane(store, DEAR) }
}

export function createLane(store: Queries, lane: Lane): Queries {
  const inTurn = createTurns(lane)
  return {
    query: <Row>(sql: string, params?: Record<string, unknown>, limits?: QueryLimits) =>
      inTurn(() => store.query<Row>(sql, params, limits)),
  }
}

/** Runs work of a lane in turn. */
export function createTurns({ atOnce, mostWaiting }: Lane): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = []
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
    await new Promise<void>((resolve) => waiting.push(resolve))
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

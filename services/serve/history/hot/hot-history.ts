import { INTERVAL_SECONDS } from '../../../core/domain/buckets.js'
import { INTERVALS } from '../../../core/domain/chains.js'
import type { Store } from '../../../core/store/port.js'
import type { AppliedUpdate } from '../../memory/apply-update.js'
import type { ServedChain } from '../../memory/served-chain.js'
import type { EventQuery, Ordered } from '../event-order.js'
import { type Order, readStoredBars, type Segment, type StoredCandles } from '../stored-candles.js'
import { type EventTable, readStoredEvents } from '../stored-events.js'
import { readMainPairSwitches } from '../stored-main-pairs.js'
import { HotCandles, keptCandles } from './hot-candles.js'
import { HotEvents, KEPT_EVENTS } from './hot-events.js'
import { HotMainPairs } from './hot-main-pairs.js'
import { createHotSeries, type SeriesKind } from './hot-series.js'

/** Where history comes from: memory first, the store for what it does not hold. */
export type HistorySources = { store: Store; hot: HotHistory }

type Found<Series> = Promise<Series | undefined> | Series | undefined

/** The newest candles and events of the pairs that are asked for, kept current from updates. */
export interface HotHistory {
  /** Undefined: not kept, or the segment is older than what would be kept. */
  candles(state: ServedChain, candles: StoredCandles, segment: Segment, order: Order): Found<HotCandles>
  /** Without a query, only if they are kept already. */
  events<Event extends Ordered>(
    state: ServedChain,
    pair: string,
    table: EventTable<Event>,
    query?: EventQuery,
  ): Found<HotEvents<Event>>
  mainPairs(state: ServedChain, token: string): Found<HotMainPairs>
  apply(applied: AppliedUpdate): void
  readonly bytes: number
  readonly size: number
}

/** Events older than this are not worth loading the newest for. */
const RECENT_EVENTS_S = 3600
const EVERYTHING = { fromS: 0, toS: Number.MAX_SAFE_INTEGER }

/** `maxBytes` 0: nothing is kept. */
export function createHotHistory(store: Store, maxBytes: number): HotHistory {
  const series = createHotSeries(maxBytes)
  return {
    candles(state, candles, segment, order) {
      const { interval, category } = candles
      const name = `${interval}${category}`
      const kind = () => candleKind(store, state, candles, segment.pair, name)
      return series.of<HotCandles>(
        state,
        segment.pair,
        name,
        isRecent(state, candles, segment, order) ? kind : undefined,
      )
    },
    events<Event extends Ordered>(state: ServedChain, pair: string, table: EventTable<Event>, query?: EventQuery) {
      const kind = () => eventKind(store, state, pair, table)
      const mayLoad = query !== undefined && isAboutRecent(state, query)
      return series.of<HotEvents<Event>>(state, pair, table.name, mayLoad ? kind : undefined)
    },
    mainPairs: (state, token) =>
      series.of<HotMainPairs>(state, token, MAIN_PAIRS, () => mainPairKind(store, state, token)),
    apply: series.apply,
    get bytes() {
      return series.bytes
    },
    get size() {
      return series.size
    },
  }
}

function isRecent({ nowS }: ServedChain, { interval }: StoredCandles, { fromS, toS }: Segment, order: Order): boolean {
  const seconds = INTERVAL_SECONDS[INTERVALS.indexOf(interval)] ?? 1
  return (order === 'latest' ? toS : fromS) >= nowS - keptCandles(interval) * seconds
}

function isAboutRecent({ nowS }: ServedChain, { fromS = nowS, toS = nowS, after }: EventQuery): boolean {
  return after === undefined && Math.min(fromS, toS) >= nowS - RECENT_EVENTS_S
}

function candleKind(
  store: Store,
  state: ServedChain,
  candles: StoredCandles,
  pair: string,
  name: string,
): SeriesKind<HotCandles> {
  const { interval, category } = candles
  return {
    name,
    async load() {
      const whole = [{ pair, ...EVERYTHING }]
      const { bars, isAll } = await readStoredBars(store, state, candles, whole, 'latest', keptCandles(interval))
      return new HotCandles(interval, category, bars, isAll)
    },
    apply: (series, { entry }) => entry !== undefined && series.apply(entry.candles),
    bytesOf: (series) => series.bytes,
  }
}

function eventKind<Event extends Ordered>(
  store: Store,
  state: ServedChain,
  pair: string,
  table: EventTable<Event>,
): SeriesKind<HotEvents<Event>> {
  const query = { pair, limit: KEPT_EVENTS, fromS: undefined, toS: undefined, sort: 'asc', after: undefined } as const
  return {
    name: table.name,
    async load() {
      const { events, isAll } = await readStoredEvents(store, state, query, table)
      return new HotEvents<Event>(events, isAll)
    },
    apply(series, { update, entry }) {
      if (update.kind === 'retract') series.removeAbove(update.number)
      else if (entry !== undefined) series.add(table.published(entry), update)
    },
    bytesOf: (series) => series.bytes,
  }
}

const MAIN_PAIRS = 'mainPairs'

function mainPairKind(store: Store, state: ServedChain, token: string): SeriesKind<HotMainPairs> {
  return {
    name: MAIN_PAIRS,
    load: async () => new HotMainPairs(await readMainPairSwitches(store, state, token)),
    apply: (series, { update }) => series.apply(token, update),
    bytesOf: (series) => series.bytes,
  }
}

import { intervalSeconds } from '../../../core/domain/buckets.js'
import type { AppliedUpdate } from '../../memory/apply-update.js'
import type { ServedChain } from '../../memory/served-chain.js'
import type { EventQuery, Ordered } from '../event-order.js'
import { firstPair } from '../first-pair.js'
import type { Order } from '../near-rows.js'
import type { Queries, QueryLanes } from '../query-lanes.js'
import { readStoredBars, type Segment, type StoredCandles } from '../stored-candles.js'
import { type EventTable, readStoredEvents } from '../stored-events.js'
import { readMainPairSwitches } from '../stored-main-pairs.js'
import type { Flush } from '../top-holders.js'
import { HotCandles, keptCandles } from './hot-candles.js'
import { HotEvents, KEPT_EVENTS } from './hot-events.js'
import { createHotHolders, type HoldersHold, type HotHolders } from './hot-holders.js'
import { entriesOf, type HotLaunch } from './hot-launch.js'
import { HotMainPairs } from './hot-main-pairs.js'
import { createHotSeries, type Found, type SeriesKind } from './hot-series.js'

/** Where history comes from: memory first, the store for what it does not hold. */
export type HistorySources = { store: Queries; hot: HotHistory }

/** The newest candles and events of the pairs that are asked for, kept current from updates. */
export interface HotHistory extends HotHolders {
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
  /** What the first buyers of a token kept. `load` has every update that was applied when it reads memory, whenever that is. */
  launch(state: ServedChain, token: string, load: () => Promise<HotLaunch>): Found<HotLaunch>
  apply(applied: AppliedUpdate): void
  readonly bytes: number
  readonly size: number
}

/** Events older than this are not worth loading the newest for. */
const RECENT_EVENTS_S = 3600
const EVERYTHING = { fromS: 0, toS: Number.MAX_SAFE_INTEGER }

/** `maxBytes` 0: nothing is kept. */
export function createHotHistory(
  lanes: QueryLanes,
  flush: Flush,
  { maxBytes, ...hold }: HoldersHold & { maxBytes: number },
): HotHistory {
  const { cheap: store } = lanes
  const series = createHotSeries(maxBytes)
  return {
    ...createHotHolders(lanes, flush, series, hold),
    candles: (state, candles, segment, order) =>
      series.of(
        state,
        segment.pair,
        candleKind(store, state, candles, segment.pair),
        isRecent(state, candles, segment, order),
      ),
    events: (state, pair, table, query) =>
      series.of(state, pair, eventKind(store, state, pair, table), query !== undefined && isAboutRecent(state, query)),
    mainPairs: (state, token) => series.of(state, token, mainPairKind(store, state, token)),
    launch: (state, token, load) => series.of(state, token, launchKind(state, token, load)),
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
  return (order === 'latest' ? toS : fromS) >= nowS - keptCandles(interval) * intervalSeconds(interval)
}

function isAboutRecent({ nowS }: ServedChain, { fromS = nowS, toS = nowS, after }: EventQuery): boolean {
  return after === undefined && Math.min(fromS, toS) >= nowS - RECENT_EVENTS_S
}

function candleKind(store: Queries, state: ServedChain, candles: StoredCandles, pair: string): SeriesKind<HotCandles> {
  const { interval, category } = candles
  return {
    name: `${interval}${category}`,
    async load() {
      const whole = [{ pair, ...EVERYTHING }]
      const { bars, isAll } = await readStoredBars(store, state, candles, whole, 'latest', keptCandles(interval))
      return new HotCandles(interval, category, bars, isAll)
    },
    apply(series, { entry }) {
      if (entry !== undefined) series.apply(entry.candles)
      return true
    },
    bytesOf: (series) => series.bytes,
  }
}

function eventKind<Event extends Ordered>(
  store: Queries,
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
      return true
    },
    bytesOf: (series) => series.bytes,
  }
}

function mainPairKind(store: Queries, state: ServedChain, token: string): SeriesKind<HotMainPairs> {
  return {
    name: 'mainPairs',
    load: async () => new HotMainPairs(await readMainPairSwitches(store, state, token)),
    apply(series, { update }) {
      series.apply(token, update)
      return true
    },
    bytesOf: (series) => series.bytes,
  }
}

function launchKind(state: ServedChain, token: string, load: () => Promise<HotLaunch>): SeriesKind<HotLaunch> {
  return {
    name: 'launch',
    load,
    apply: (launch, { update }) => launch.apply(update, entriesOf(state, update, token)),
    isCurrent: (launch) => launch.isOfFirst(state.targetPairs.of(token), () => firstPair(state, token)),
    bytesOf: ({ bytes }) => bytes,
  }
}

/** The events of the last day that are signals, newest first, read from the store and kept for some seconds. */
import { type ServedChain, targetToken } from '../memory/served-chain.js'
import {
  graduatedTo,
  LIQUIDITY_USD,
  type SignalType,
  signalOfLiquidity,
  signalOfTrade,
  WHALE_USD,
} from '../signals/signal-rules.js'
import type { UntilStored } from '../sql/stored-positions.js'
import { readBreakouts } from './breakouts.js'
import { inOrder } from './event-order.js'
import type { HoldersHold } from './hot/hot-holders.js'
import type { QueryLanes } from './query-lanes.js'
import { type SignalAction, type SignalEvent, tradeAction } from './signal-events.js'
import { readSmartBuys } from './smart-buys.js'
import type { SmartWallets } from './smart-wallets.js'
import { LIQUIDITY_COLUMNS, liquidityOf, type StoredRow, TRADE_COLUMNS, tradeOf } from './stored-rows.js'

export type ListedSignals = {
  signals: readonly SignalEvent[]
  /** False: the ranking of smart wallets failed, and rules that need it were left out. */
  isRanked: boolean
}

export interface StoredSignals {
  of(state: ServedChain, money: readonly string[]): Promise<ListedSignals>
}

const DAY_S = 86_400
const KEPT_MS = 5_000

export function createStoredSignals(
  { dear }: QueryLanes,
  untilStored: UntilStored,
  smart: Pick<SmartWallets, 'at'>,
  { nowMs }: Pick<HoldersHold, 'nowMs'>,
): StoredSignals {
  type Kept = { listed: ListedSignals; untilMs: number; reorg: ServedChain['lastReorg'] }
  const kept = new Map<ServedChain, Promise<Kept>>()

  async function read(state: ServedChain, money: readonly string[]): Promise<Kept> {
    const { lastReorg: reorg } = state
    const startMs = nowMs()
    await untilStored()
    const params = { chain: state.chain, from: Math.max(0, state.nowS - DAY_S), upTo: state.events.storedUpToBlock }
    const trades = await dear.query<StoredRow>(
      newestRows('trade_rows', TRADE_COLUMNS, `amount_usd >= ${WHALE_USD}`),
      params,
    )
    const pools = graduatedPools(state, params.from)
    const liquidity = await dear.query<StoredRow>(
      newestRows(
        'liquidity_rows',
        LIQUIDITY_COLUMNS,
        `amount_usd >= ${LIQUIDITY_USD} OR (t.kind = 'create' AND has({pools:Array(String)}, t.pair))`,
      ),
      { ...params, pools: [...pools] },
    )
    const ofDeposits = liquidity.flatMap((row) => ofLiquidity(row, pools.has(String(row.pair))))
    const breakouts = await readBreakouts(dear, params)
    const bought = await readSmartBuys(dear, params, { state, smart, money }).catch(() => undefined)
    const all = [...trades.flatMap(ofTrade), ...ofDeposits, ...breakouts, ...(bought ?? [])]
    const listed = { signals: all.sort((a, b) => inOrder(b, a)), isRanked: bought !== undefined }
    return { listed, untilMs: nowMs() + Math.max(KEPT_MS, 20 * (nowMs() - startMs)), reorg }
  }

  return {
    async of(state, money) {
      const known = await kept.get(state)?.catch(() => undefined)
      if (known !== undefined && nowMs() < known.untilMs && known.reorg === state.lastReorg) return known.listed
      const next = read(state, money)
      kept.set(state, next)
      return (await next).listed
    },
  }
}

/** Pools created since then that tokens graduated to. */
function graduatedPools({ tokens, pairs }: ServedChain, fromS: number): Set<string> {
  const pools = new Set<string>()
  for (const { token, info } of tokens.values()) {
    const pair = info.launch_pool === null ? undefined : pairs.get(info.launch_pool)
    if (pair === undefined || pair.info.created_at <= fromS || !graduatedTo(info, pair.pair)) continue
    if (targetToken(pair.info) === token) pools.add(pair.pair)
  }
  return pools
}

/**
 * Without FINAL, which would read every row of the month: the few rows that fit are compared with their tombstones. A row is only
 * ever replaced after a tombstone.
 */
function newestRows(table: string, columns: readonly string[], fits: string): string {
  const key = ['pair', 'time', 'block_number', 'tx_index', 'log_index', 'sub']
  const others = columns.filter((name) => !key.includes(name))
  return `SELECT pair, toUInt32(time) AS time_s, block_number, tx_index, log_index, sub,
      ${others.map((name) => `argMax(t.${name}, t.version) AS ${name}`).join(', ')}
    FROM ${table} AS t
    WHERE t.chain = {chain:String} AND t.time > toDateTime({from:UInt32}, 'UTC') AND t.block_number <= {upTo:UInt64}
      AND (t.is_deleted = 1 OR t.${fits})
    GROUP BY ${key.join(', ')} HAVING argMax(t.is_deleted, t.version) = 0`
}

function ofTrade(row: StoredRow): SignalEvent[] {
  const type = signalOfTrade(tradeOf(row))
  return type === undefined ? [] : [alone(type, tradeAction(row))]
}

function ofLiquidity(row: StoredRow, isGraduated: boolean): SignalEvent[] {
  const event = liquidityOf(row)
  const type = signalOfLiquidity(event, isGraduated)
  if (type === undefined) return []
  const figures = { amountUsd: event.amount_usd, priceUsd: Number.NaN, quoteRaw: null, isSell: false }
  return [alone(type, { ...event, ...figures, pair: String(row.pair) })]
}

function alone(type: SignalType, action: SignalAction): SignalEvent {
  return { ...action, type, earlier: [], totalUsd: action.amountUsd }
}

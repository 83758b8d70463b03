/** The most profitable wallets of a chain over the last days, computed in the engine and kept for a while. */
import { isRetryable } from '../../core/runtime/backoff.js'
import { EVERYTHING } from '../memory/event-overlay.js'
import type { LastReorg, ServedChain } from '../memory/served-chain.js'
import type { UntilStored } from '../sql/stored-positions.js'
import type { HoldersHold } from './hot/hot-holders.js'
import type { QueryLanes } from './query-lanes.js'
import { notOrphaned } from './wallet-trades.js'

/** Lower bounds of a token's profit in percent of its cost; the last takes everything below. */
export const PROFIT_BUCKETS = [
  { name: 'profit_above_900_percent_num', from: 9, to: Number.POSITIVE_INFINITY },
  { name: 'profit_500_900_percent_num', from: 5, to: 9 },
  { name: 'profit_300_500_percent_num', from: 3, to: 5 },
  { name: 'profit_100_300_percent_num', from: 1, to: 3 },
  { name: 'profit_10_100_percent_num', from: 0.1, to: 1 },
  { name: 'profit_neg10_10_percent_num', from: -0.1, to: 0.1 },
  { name: 'profit_neg50_neg10_percent_num', from: -0.5, to: -0.1 },
  { name: 'profit_neg100_neg50_percent_num', from: Number.NEGATIVE_INFINITY, to: -0.5 },
] as const

export type ProfitBucket = (typeof PROFIT_BUCKETS)[number]['name']

export type SmartWallet = {
  wallet: string
  profitUsd: number
  /** Of the cost of what was sold. */
  profitRate: number
  boughtUsd: number
  soldUsd: number
  buys: number
  sells: number
  /** Tokens bought and sold in the window, and those of them with a profit. */
  closed: number
  wins: number
  lastTradeS: number
} & Record<ProfitBucket, number>

export type SmartRanking = { wallets: readonly SmartWallet[]; asOfS: number }

export interface SmartWallets {
  of(state: ServedChain, days: number, money: readonly string[]): Promise<SmartRanking>
  /** The same up to a past time: it changes only with a reorg of blocks before it. */
  at(state: ServedChain, toS: number, days: number, money: readonly string[]): Promise<SmartRanking>
}

const MOST_WALLETS = 5_000
/** One token may be luck. */
const LEAST_CLOSED = 2
/** Beyond them the request fails: some ten million trades in the window. */
const LIMITS = { maxSeconds: 60, maxBytes: 2_000_000_000 }
const KEPT_MS = 60_000
/** The engine spends at most one part in so many on a ranking. */
const REST_FACTOR = 20

/** So long after a past time, a ranking up to it has only blocks that a reorg of later ones leaves alone. */
const SETTLED_S = 3_600
const DAY_S = 86_400

type Kept = { ranking: SmartRanking; untilMs: number; epoch: number; lastReorg: LastReorg | null }

export function createSmartWallets(
  { dear }: QueryLanes,
  untilStored: UntilStored,
  { nowMs }: Pick<HoldersHold, 'nowMs'>,
): SmartWallets {
  const kept = new Map<string, Kept>()
  const coming = new Map<string, Promise<Kept>>()

  async function compute(
    state: ServedChain,
    days: number,
    money: readonly string[],
    nowS: number = state.nowS,
  ): Promise<Kept> {
    const { epoch, lastReorg } = state
    const startMs = nowMs()
    await untilStored()
    const { storedUpToBlock: upTo } = state.events
    const rows = await dear.query<Record<string, string | number>>(
      rankingSql(),
      {
        chain: state.chain,
        from: Math.max(0, nowS - days * DAY_S),
        to: nowS,
        money,
        upTo,
      },
      LIMITS,
    )
    const wallets = rows.map(({ wallet, ...numbers }) => ({
      wallet: String(wallet),
      ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)])),
    })) as SmartWallet[]
    const tookMs = nowMs() - startMs
    const keptMs = Math.max(upTo === EVERYTHING ? KEPT_MS : 0, REST_FACTOR * tookMs)
    const untilMs = nowMs() + keptMs
    return { ranking: { wallets, asOfS: nowS }, untilMs, epoch, lastReorg }
  }

  type Past = { chain: string; toS: number; madeAtS: number; made: Promise<Kept> }
  const past = new Map<string, Past>()

  async function isStillTrue({ toS, madeAtS, made }: Past, { epoch, lastReorg }: ServedChain): Promise<boolean> {
    const known = await made.catch(() => undefined)
    if (known?.epoch !== epoch) return false
    return known.lastReorg === lastReorg || (madeAtS >= toS + SETTLED_S && (lastReorg?.time ?? 0) >= toS)
  }

  return {
    async at(state, toS, days, money) {
      const { chain, nowS: madeAtS } = state
      const key = `${chain}/${days}/${toS}`
      const known = past.get(key)
      if (known !== undefined && (await isStillTrue(known, state))) return (await known.made).ranking
      for (const [name, one] of past) if (one.chain === chain && one.toS < toS - DAY_S) past.delete(name)
      const made = compute(state, days, money, toS)
      past.set(key, { chain, toS, madeAtS, made })
      return (await made).ranking
    },
    async of(state, days, money) {
      const key = `${state.chain}/${days}`
      const known = kept.get(key)
      const isOfThisChain = known?.epoch === state.epoch && known.lastReorg === state.lastReorg
      if (known !== undefined && isOfThisChain && nowMs() < known.untilMs) return known.ranking
      let next = coming.get(key)
      if (next === undefined) {
        next = compute(state, days, money).finally(() => coming.delete(key))
        coming.set(key, next)
      }
      try {
        const made = await next
        kept.set(key, made)
        return made.ranking
      } catch (error) {
        // An older ranking says as of when it is.
        if (known !== undefined && isOfThisChain && isRetryable(error)) return known.ranking
        throw error
      }
    },
  }
}

/**
 * What is left out (docs/data.md): trades with a flag; buys and sells of one token in one block; pairs whose liquidity the wallet
 * moved; pairs of which the wallet is behind more than half of the volume; the chain's money.
 */
export function rankingSql(): string {
  const buckets = PROFIT_BUCKETS.map(({ name, from, to }) => {
    const bounds = [Number.isFinite(from) ? `rate >= ${from}` : '', Number.isFinite(to) ? `rate < ${to}` : '']
    return `countIf(${bounds.filter((bound) => bound !== '').join(' AND ')}) AS ${name}`
  })
  const inWindow = `t.chain = {chain:String} AND t.time > toDateTime({from:UInt32}, 'UTC') AND t.time <= toDateTime({to:UInt32}, 'UTC')
      AND t.block_number <= {upTo:UInt64} AND t.flags = 0`
  // Pairs and tokens are grouped by a hash of 128 bits: half the time of their text.
  return `
  WITH by_block AS (
    SELECT t.wallet AS wallet, sipHash128(t.pair) AS pair, t.block_number AS block_number, max(t.time) AS last,
      countIf(t.sell = 0) AS buys, countIf(t.sell = 1) AS sells,
      sumIf(toFloat64OrZero(t.amount_out), t.sell = 0) AS bought, sumIf(toFloat64OrZero(t.amount_in), t.sell = 1) AS sold,
      sumIf(t.amount_usd, t.sell = 0) AS bought_usd, sumIf(t.amount_usd, t.sell = 1) AS sold_usd
    FROM wallet_trade_rows AS t FINAL
    WHERE ${inWindow} AND ${notOrphaned('block_number IN (SELECT block_number FROM orphaned_block_rows WHERE chain = {chain:String})')}
    GROUP BY wallet, pair, block_number
  ), by_pair AS (
    SELECT b.wallet AS wallet, b.pair AS pair, max(b.last) AS last, sum(b.bought_usd + b.sold_usd) AS own_usd,
      sumIf(b.buys, NOT b.round_trip) AS buys, sumIf(b.sells, NOT b.round_trip) AS sells,
      sumIf(b.bought, NOT b.round_trip) AS bought, sumIf(b.sold, NOT b.round_trip) AS sold,
      sumIf(b.bought_usd, NOT b.round_trip) AS bought_usd, sumIf(b.sold_usd, NOT b.round_trip) AS sold_usd
    FROM (SELECT *, buys > 0 AND sells > 0 AS round_trip FROM by_block) AS b GROUP BY wallet, pair
  ), by_token AS (
    SELECT b.wallet AS wallet, p.token AS token, max(b.last) AS last, sum(b.buys) AS buys, sum(b.sells) AS sells,
      sum(b.bought) AS bought, sum(b.sold) AS sold, sum(b.bought_usd) AS bought_usd, sum(b.sold_usd) AS sold_usd
    FROM by_pair AS b
    INNER JOIN (
      SELECT sipHash128(r.pair) AS pair, sipHash128(if(r.target = 0, r.token0, r.token1)) AS token, v.usd AS usd
      FROM pair_rows AS r FINAL
      INNER JOIN (SELECT t.pair AS pair, sum(t.amount_usd) AS usd FROM trade_rows AS t FINAL WHERE ${inWindow} GROUP BY pair) AS v
        ON v.pair = r.pair
      WHERE r.chain = {chain:String} AND NOT has({money:Array(String)}, if(r.target = 0, r.token0, r.token1))
    ) AS p ON p.pair = b.pair
    WHERE b.own_usd <= p.usd / 2
      AND (b.wallet, b.pair) NOT IN (SELECT wallet, sipHash128(pair) FROM liquidity_rows FINAL WHERE chain = {chain:String})
    GROUP BY wallet, token
  ), profits AS (
    SELECT *, bought > 0 AND sold > 0 AS is_closed, least(bought, sold) AS matched,
      if(is_closed, matched * bought_usd / bought, 0) AS cost,
      if(is_closed, matched * sold_usd / sold - cost, 0) AS profit,
      if(is_closed AND cost > 0, profit / cost, nan) AS rate
    FROM by_token
  )
  SELECT f.wallet AS wallet, sum(f.profit) AS profitUsd, sum(f.profit) / sum(f.cost) AS profitRate,
    sum(f.bought_usd) AS boughtUsd, sum(f.sold_usd) AS soldUsd, sum(f.buys) AS buys, sum(f.sells) AS sells,
    countIf(f.is_closed) AS closed, countIf(f.profit > 0) AS wins, toUInt32(max(f.last)) AS lastTradeS, ${buckets.join(', ')}
  FROM profits AS f
  GROUP BY wallet HAVING closed >= ${LEAST_CLOSED} AND profitUsd > 0
  ORDER BY profitUsd DESC, wallet LIMIT ${MOST_WALLETS}`
}

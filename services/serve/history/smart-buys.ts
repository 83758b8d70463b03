/** Tokens that several smart wallets bought within minutes, with those buys. */
import { type ServedChain, targetToken } from '../memory/served-chain.js'
import { SMART_BUYS, smartBuys } from '../signals/signal-rules.js'
import { inOrder } from './event-order.js'
import type { Queries } from './query-lanes.js'
import { type SignalAction, type SignalEvent, type SignalRange, tradeAction } from './signal-events.js'
import type { SmartWallets } from './smart-wallets.js'
import type { StoredRow } from './stored-rows.js'
import { notOrphaned } from './wallet-trades.js'

const DAY_S = 86_400

export type Ranks = { state: ServedChain; smart: Pick<SmartWallets, 'at'>; money: readonly string[] }

/** A wallet counts as smart for a whole day (UTC), by its trades before that day: an answer of later gives the same signals. */
export async function readSmartBuys(store: Queries, range: SignalRange, ranks: Ranks): Promise<SignalEvent[]> {
  const { state, money } = ranks
  const buys: (SignalAction & { token: string })[] = []
  const firstS = Math.max(0, range.from - SMART_BUYS.withinS)
  for (let dayS = firstS - (firstS % DAY_S); dayS <= state.nowS; dayS += DAY_S) {
    const wallets = await smartWalletsOf(ranks, dayS)
    // A ranking up to a time has that second: the day is what comes after it.
    const day = { from: Math.max(firstS, dayS), to: dayS + DAY_S }
    for (const row of await readBuys(store, { ...range, ...day }, wallets)) {
      const info = state.pairs.get(String(row.pair))?.info
      const token = info && targetToken(info)
      if (token !== undefined && !money.includes(token)) buys.push({ ...tradeAction(row), token })
    }
  }
  return smartBuys(buys.sort(inOrder)).flatMap(({ last, earlier }) => {
    if (last.timeS <= range.from) return []
    const totalUsd = [...earlier, last].reduce((sum, { amountUsd }) => sum + amountUsd, 0)
    return [{ ...last, type: 'smart_buys' as const, earlier, totalUsd }]
  })
}

/** Who is smart on a day; nobody if there are too few. */
export async function smartWalletsOf({ state, smart, money }: Ranks, dayS: number): Promise<string[]> {
  const asOfS = Math.max(0, dayS - SMART_BUYS.rankedBeforeS)
  const { wallets } = await smart.at(state, asOfS, SMART_BUYS.rankedDays, money)
  return wallets.length < SMART_BUYS.leastWallets
    ? []
    : wallets.slice(0, SMART_BUYS.rankedWallets).map(({ wallet }) => wallet)
}

/** Good buys of these wallets. */
export async function readBuys(
  store: Queries,
  range: SignalRange & { to: number },
  wallets: readonly string[],
): Promise<StoredRow[]> {
  return wallets.length === 0 ? [] : store.query<StoredRow>(BUYS, { ...range, wallets })
}

const COLUMNS = [
  ...['tx_index', 'log_index', 'sub', 'tx_hash', 'id', 'tx_seq', 'sell', 'sender', 'recipient', 'wallet'],
  ...['amount_in', 'amount_out', 'price_usd', 'quote_usd', 'amount_usd', 'flags'],
]

const BUYS = `
  SELECT t.pair AS pair, toUInt32(t.time) AS time_s, t.block_number AS block_number,
    ${COLUMNS.map((name) => `t.${name} AS ${name}`).join(', ')}
  FROM wallet_trade_rows AS t FINAL
  WHERE t.chain = {chain:String} AND t.wallet IN {wallets:Array(String)} AND t.sell = 0 AND t.flags = 0
    AND t.time > toDateTime({from:UInt32}, 'UTC') AND t.time <= toDateTime({to:UInt32}, 'UTC')
    AND t.block_number <= {upTo:UInt64} AND ${notOrphaned('wallet IN {wallets:Array(String)}')}`

import type { Trade } from '../../core/domain/records.js'
import type { Placed } from '../memory/event-overlay.js'
import type { ServedChain } from '../memory/served-chain.js'
import { inChainOrder, type Place } from './event-order.js'
import type { Queries } from './query-lanes.js'
import { clampS, type StoredRow, TRADE_COLUMNS, tradeOf } from './stored-rows.js'

/** Most pools traded shortly before: the whole history is searched last. */
const LOOK_BACK_S = [3600, 90_000, Number.POSITIVE_INFINITY]
/** A block's time may be this far behind an earlier one's. */
const TIME_BACK_S = 3600

/** The trade that set a pool's price as it was right before a place in the chain. */
export async function lastGoodTrade(
  store: Queries,
  state: ServedChain,
  pair: string,
  before: Place,
): Promise<Placed<Trade> | undefined> {
  const kept = state.events
    .trades(pair)
    .filter((trade) => trade.flags === 0 && inChainOrder(trade, before) < 0)
    .sort(inChainOrder)
    .at(-1)
  if (kept !== undefined) return kept
  for (const backS of LOOK_BACK_S) {
    const [row] = await store.query<StoredRow>(
      `SELECT toUInt32(time) AS time_s, block_number, ${TRADE_COLUMNS.join(', ')} FROM trade_rows FINAL
       WHERE chain = {chain:String} AND pair = {pair:String} AND flags = 0
         AND time >= toDateTime({from:UInt32}, 'UTC') AND time <= toDateTime({to:UInt32}, 'UTC')
         AND block_number <= {upTo:UInt64}
         AND (block_number, tx_index, log_index, sub) < ({block:UInt64}, {tx:UInt32}, {log:UInt32}, {sub:UInt32})
       ORDER BY block_number DESC, tx_index DESC, log_index DESC, sub DESC LIMIT 1`,
      {
        ...{ chain: state.chain, pair, upTo: state.events.storedUpToBlock },
        ...{ from: clampS(before.timeS - backS - TIME_BACK_S), to: clampS(before.timeS + TIME_BACK_S) },
        ...{ block: before.blockNumber, tx: before.tx_index, log: before.log_index, sub: before.sub },
      },
    )
    if (row !== undefined) return tradeOf(row)
  }
  return undefined
}

/** The optional topic of trades: one record per trade in chain order. A reorg retracts them, newest first. */
import type { BlockUpdate, PairUpdate, Trade, TradeRecord } from '../core/domain/records.js'
import type { Codec } from '../core/log/codec.js'
import { type EventLog, type LogEntry, tradesTopic } from '../core/log/port.js'
import { lastRecord } from '../core/log/topic-records.js'
import type { FoldResult } from './fold/block-changes.js'
import { pairInfo } from './fold/update-entries.js'
import type { FoldState } from './state/fold-state.js'
import type { EventKey } from './state/journal.js'
import { TOKEN } from './state/tokens.js'

/** `publishTrades`: trades are also published one by one. */
export type TopicSettings = { publishTrades?: boolean }

export type TradesTopic = {
  readonly topic: string
  /** The trades of an update that the topic does not have yet; `state` is the one after that update. */
  encode(result: FoldResult, state: FoldState): LogEntry[]
}

export async function openTradesTopic(log: EventLog, codec: Codec, chain: string): Promise<TradesTopic> {
  const topic = tradesTopic(chain)
  await codec.prepare(topic, ['trade'])
  const newest = await lastRecord(log, codec, topic)
  const last = newest?.kind === 'trade' ? newest.trade : undefined

  /** After a crash the trades since the checkpoint are produced again. */
  const isPublished = ({ epoch, seq, n }: TradeRecord): boolean =>
    last !== undefined && epoch === last.epoch && (seq < last.seq || (seq === last.seq && n <= last.n))

  return {
    topic,
    encode(result, state) {
      const timestampMs = result.update.time * 1000
      const missing = tradeRecords(result, state).filter((trade) => !isPublished(trade))
      return missing.map((trade) => ({ key: trade.pair, value: codec.encodeTrade(topic, trade), timestampMs }))
    },
  }
}

export function tradeRecords({ update, goneEvents }: FoldResult, state: FoldState): TradeRecord[] {
  if (update.kind === 'retract') {
    const gone = goneEvents.filter(({ table }) => table === 'trade_rows').sort((a, b) => byPlace(b, a))
    return gone.map((event, n) => retracted(update, n, event))
  }
  const trades = update.pairs.flatMap((entry) => entry.trades.map((trade) => ({ entry, trade })))
  trades.sort((a, b) => byIndexes(a.trade, b.trade))
  return trades.map(({ entry, trade }, n) => inserted(update, n, entry, trade, state))
}

function byIndexes(a: Trade, b: Trade): number {
  return a.tx_index - b.tx_index || a.log_index - b.log_index || a.sub - b.sub
}

function byPlace(a: EventKey, b: EventKey): number {
  return a.block - b.block || a.txIndex - b.txIndex || a.logIndex - b.logIndex || a.sub - b.sub
}

function inserted(update: BlockUpdate, n: number, { pair }: PairUpdate, trade: Trade, state: FoldState): TradeRecord {
  const { profile: _profile, ...fields } = trade
  return {
    ...{ op: 'insert', chain: update.chain, epoch: update.epoch, seq: update.seq, n, pair },
    ...{ block_number: update.number, block_hash: update.hash, time: update.time },
    ...fields,
    ...sidesOf(state, pair),
    price_usd: known(trade.price_usd),
    price_native: known(trade.price_native),
    price_quote: known(trade.price_quote),
    quote_usd: known(trade.quote_usd),
    quote_native: known(trade.quote_native),
    amount_usd: known(trade.amount_usd),
    amount_native: known(trade.amount_native),
  }
}

type Sides = Pick<TradeRecord, 'amm' | 'target_token' | 'target_decimals' | 'quote_token' | 'quote_decimals'>

function sidesOf(state: FoldState, pair: string): Sides {
  const id = state.pairs.find(pair)
  if (id === undefined) throw new Error(`pair ${pair} has a trade but no pool event`)
  const decimals = (token: number): number | null => known(state.tokens.rows.get(token, TOKEN.decimals))
  const { amm, token0, token1, target } = pairInfo(state, id)
  return {
    amm,
    target_token: target === 0 ? token0 : token1,
    target_decimals: decimals(state.pairs.targetToken(id)),
    quote_token: target === 0 ? token1 : token0,
    quote_decimals: decimals(state.pairs.quoteToken(id)),
  }
}

/** Only the trade's position: the journal does not keep the other fields of what it undoes. */
function retracted(update: BlockUpdate, n: number, event: EventKey): TradeRecord {
  return {
    ...{ op: 'retract', chain: update.chain, epoch: update.epoch, seq: update.seq, n, pair: event.pair, id: event.id },
    ...{ block_number: event.block, block_hash: null, time: event.timeS },
    ...{ tx_index: event.txIndex, log_index: event.logIndex, sub: event.sub },
    ...NO_OTHER_FIELDS,
  }
}

const NO_OTHER_FIELDS = {
  ...{ tx_hash: null, tx_seq: null, amm: null },
  ...{ target_token: null, target_decimals: null, quote_token: null, quote_decimals: null },
  ...{ sell: null, sender: null, recipient: null, wallet: null },
  ...{ amount_in: null, amount_out: null, reserve0: null, reserve1: null },
  ...{ price_usd: null, price_native: null, price_quote: null, quote_usd: null, quote_native: null },
  ...{ amount_usd: null, amount_native: null, flags: null, quote_path: null },
}

function known(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

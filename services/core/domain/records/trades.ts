// Generated from schemas/avro by `npm run generate`; a test fails when it differs.

export type TradeOp = 'insert' | 'retract'

/** One trade that came (insert) or never was (retract), for readers who want trades alone */
export interface TradeRecord {
  op: TradeOp
  chain: string
  epoch: number
  /** of the update that told it */
  seq: number
  /** its place among the records of that update, from 0 */
  n: number
  pair: string
  /** block number and in-block index */
  id: string
  block_number: number
  /** null in a retract, like all that follows `sub` */
  block_hash: string | null
  /** of its block, epoch seconds */
  time: number
  tx_index: number
  log_index: number
  /** tells apart several events of one log */
  sub: number
  tx_hash: string | null
  /** position in the pair's trade order, from 1 */
  tx_seq: number | null
  amm: string | null
  target_token: string | null
  /** as known at the block's end; null: unknown */
  target_decimals: number | null
  quote_token: string | null
  quote_decimals: number | null
  /** it sells the target token */
  sell: boolean | null
  sender: string | null
  recipient: string | null
  wallet: string | null
  /** raw integer */
  amount_in: string | null
  amount_out: string | null
  /** raw, after the trade; null: unknown */
  reserve0: string | null
  reserve1: string | null
  /** of the target, executed; null: unknown */
  price_usd: number | null
  price_native: number | null
  price_quote: number | null
  /** the quote's price before the trade */
  quote_usd: number | null
  quote_native: number | null
  amount_usd: number | null
  amount_native: number | null
  /** 1 dust, 2 outlier, 4 unpriced; 0: it makes a price */
  flags: number | null
  /** how the quote was priced */
  quote_path: string | null
}

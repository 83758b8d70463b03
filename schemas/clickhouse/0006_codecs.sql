-- Addresses and hashes are hexadecimal text: LZ4 finds few repeats in it, ZSTD halves it. Numbers that rise slowly are stored as
-- differences. Parts written before keep their form until they are merged.
ALTER TABLE trade_rows
  MODIFY COLUMN pair String CODEC(ZSTD(1)),
  MODIFY COLUMN time DateTime('UTC') CODEC(Delta, ZSTD(1)),
  MODIFY COLUMN block_number UInt64 CODEC(Delta, ZSTD(1)),
  MODIFY COLUMN tx_index UInt32 CODEC(ZSTD(1)),
  MODIFY COLUMN log_index UInt32 CODEC(ZSTD(1)),
  MODIFY COLUMN tx_hash String CODEC(ZSTD(1)),
  MODIFY COLUMN id String CODEC(ZSTD(1)),
  MODIFY COLUMN tx_seq UInt64 CODEC(Delta, ZSTD(1)),
  MODIFY COLUMN sender String CODEC(ZSTD(1)),
  MODIFY COLUMN recipient String CODEC(ZSTD(1)),
  MODIFY COLUMN wallet String CODEC(ZSTD(1)),
  MODIFY COLUMN amount_in String CODEC(ZSTD(1)),
  MODIFY COLUMN amount_out String CODEC(ZSTD(1)),
  MODIFY COLUMN reserve0 String CODEC(ZSTD(1)),
  MODIFY COLUMN reserve1 String CODEC(ZSTD(1)),
  MODIFY COLUMN price_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN price_native Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN price_quote Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN quote_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN quote_native Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN amount_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN amount_native Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN version UInt64 CODEC(Delta, ZSTD(1));

ALTER TABLE liquidity_rows
  MODIFY COLUMN pair String CODEC(ZSTD(1)),
  MODIFY COLUMN tx_hash String CODEC(ZSTD(1)),
  MODIFY COLUMN id String CODEC(ZSTD(1)),
  MODIFY COLUMN sender String CODEC(ZSTD(1)),
  MODIFY COLUMN wallet String CODEC(ZSTD(1)),
  MODIFY COLUMN amount0 String CODEC(ZSTD(1)),
  MODIFY COLUMN amount1 String CODEC(ZSTD(1)),
  MODIFY COLUMN reserve0 String CODEC(ZSTD(1)),
  MODIFY COLUMN reserve1 String CODEC(ZSTD(1)),
  MODIFY COLUMN version UInt64 CODEC(Delta, ZSTD(1));

ALTER TABLE candle_rows
  MODIFY COLUMN pair String CODEC(ZSTD(1)),
  MODIFY COLUMN time DateTime('UTC') CODEC(Delta, ZSTD(1)),
  MODIFY COLUMN open_u Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN first_u Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN high_u Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN low_u Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN close_u Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN volume_u Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN open_m Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN first_m Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN high_m Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN low_m Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN close_m Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN volume_m Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN open_r Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN first_r Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN high_r Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN low_r Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN close_r Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN volume_r Float64 DEFAULT nan CODEC(ZSTD(1)),
  MODIFY COLUMN version UInt64 CODEC(Delta, ZSTD(1));

ALTER TABLE holder_rows
  MODIFY COLUMN token String CODEC(ZSTD(1)),
  MODIFY COLUMN holder String CODEC(ZSTD(1)),
  MODIFY COLUMN balance String CODEC(ZSTD(1)),
  MODIFY COLUMN version UInt64 CODEC(Delta, ZSTD(1));

-- Rows are absolute states: the highest version of a sort key counts, is_deleted = 1 takes it away. Each partition key is a
-- function of the sort key, so a replayed row always meets its older self. No TTL: time is the chain's.
-- Raw integers are text: exact at any size, and no value can make a batch unstorable. An unknown number is NaN, an unknown
-- raw integer ''. Compact parts up to 64 MB: an insert touches few files.
CREATE TABLE IF NOT EXISTS trade_rows (
  chain LowCardinality(String),
  pair String,
  time DateTime('UTC'),
  block_number UInt64,
  tx_index UInt32,
  log_index UInt32,
  sub UInt32,
  tx_hash String,
  id String,
  tx_seq UInt64,
  sell UInt8,
  sender String,
  recipient String,
  wallet String,
  amount_in String,
  amount_out String,
  reserve0 String,
  reserve1 String,
  price_usd Float64 DEFAULT nan,
  price_native Float64 DEFAULT nan,
  price_quote Float64 DEFAULT nan,
  quote_usd Float64 DEFAULT nan,
  quote_native Float64 DEFAULT nan,
  amount_usd Float64 DEFAULT nan,
  amount_native Float64 DEFAULT nan,
  flags UInt8,
  quote_path LowCardinality(String),
  version UInt64,
  is_deleted UInt8 DEFAULT 0
) ENGINE = ReplacingMergeTree(version, is_deleted)
PARTITION BY toYYYYMM(time)
ORDER BY (chain, pair, time, block_number, tx_index, log_index, sub)
SETTINGS min_bytes_for_wide_part = 67108864;

CREATE TABLE IF NOT EXISTS liquidity_rows (
  chain LowCardinality(String),
  pair String,
  time DateTime('UTC'),
  block_number UInt64,
  tx_index UInt32,
  log_index UInt32,
  sub UInt32,
  tx_hash String,
  id String,
  kind LowCardinality(String),
  sender String,
  wallet String,
  amount0 String,
  amount1 String,
  reserve0 String,
  reserve1 String,
  amount_usd Float64 DEFAULT nan,
  amount_native Float64 DEFAULT nan,
  price0_usd Float64 DEFAULT nan,
  price1_usd Float64 DEFAULT nan,
  version UInt64,
  is_deleted UInt8 DEFAULT 0
) ENGINE = ReplacingMergeTree(version, is_deleted)
PARTITION BY toYYYYMM(time)
ORDER BY (chain, pair, time, block_number, tx_index, log_index, sub)
SETTINGS min_bytes_for_wide_part = 67108864;

CREATE TABLE IF NOT EXISTS candle_rows (
  chain LowCardinality(String),
  pair String,
  interval LowCardinality(String),
  time DateTime('UTC'),
  open_u Float64 DEFAULT nan,
  first_u Float64 DEFAULT nan,
  high_u Float64 DEFAULT nan,
  low_u Float64 DEFAULT nan,
  close_u Float64 DEFAULT nan,
  volume_u Float64 DEFAULT nan,
  open_m Float64 DEFAULT nan,
  first_m Float64 DEFAULT nan,
  high_m Float64 DEFAULT nan,
  low_m Float64 DEFAULT nan,
  close_m Float64 DEFAULT nan,
  volume_m Float64 DEFAULT nan,
  open_r Float64 DEFAULT nan,
  first_r Float64 DEFAULT nan,
  high_r Float64 DEFAULT nan,
  low_r Float64 DEFAULT nan,
  close_r Float64 DEFAULT nan,
  volume_r Float64 DEFAULT nan,
  version UInt64,
  is_deleted UInt8 DEFAULT 0
) ENGINE = ReplacingMergeTree(version, is_deleted)
PARTITION BY toYYYYMM(time)
ORDER BY (chain, pair, interval, time)
SETTINGS min_bytes_for_wide_part = 67108864;

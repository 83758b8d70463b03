CREATE TABLE IF NOT EXISTS pair_rows (
  chain LowCardinality(String),
  pair String,
  amm LowCardinality(String),
  token0 String,
  token1 String,
  target UInt8,
  decimals0 Int16 DEFAULT -1,
  decimals1 Int16 DEFAULT -1,
  fee Float64 DEFAULT nan,
  creator String,
  created_at DateTime('UTC'),
  created_block UInt64,
  price_usd Float64 DEFAULT nan,
  price_native Float64 DEFAULT nan,
  price_quote Float64 DEFAULT nan,
  reserve0 String,
  reserve1 String,
  tvl Float64 DEFAULT nan,
  tx_count UInt64,
  last_trade_at DateTime('UTC'),
  volume_24h Float64 DEFAULT nan,
  state String CODEC(ZSTD(1)),
  version UInt64,
  is_deleted UInt8 DEFAULT 0
) ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (chain, pair)
SETTINGS min_bytes_for_wide_part = 67108864;

CREATE TABLE IF NOT EXISTS token_rows (
  chain LowCardinality(String),
  token String,
  name Nullable(String),
  symbol Nullable(String),
  decimals Int16 DEFAULT -1,
  total_supply String,
  price_usd Float64 DEFAULT nan,
  main_pair String,
  tvl Float64 DEFAULT nan,
  holders Int64,
  volume_24h Float64 DEFAULT nan,
  created_at DateTime('UTC'),
  launch_platform LowCardinality(String),
  launch_stage LowCardinality(String),
  state String CODEC(ZSTD(1)),
  version UInt64,
  is_deleted UInt8 DEFAULT 0
) ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (chain, token)
SETTINGS min_bytes_for_wide_part = 67108864;

CREATE TABLE IF NOT EXISTS holder_rows (
  chain LowCardinality(String),
  token String,
  holder String,
  balance String,
  updated_at DateTime('UTC'),
  version UInt64,
  is_deleted UInt8 DEFAULT 0
) ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (chain, token, holder)
SETTINGS min_bytes_for_wide_part = 67108864;

CREATE TABLE IF NOT EXISTS main_pair_rows (
  chain LowCardinality(String),
  token String,
  block_number UInt64,
  time DateTime('UTC'),
  old_pair String,
  new_pair String,
  version UInt64,
  is_deleted UInt8 DEFAULT 0
) ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (chain, token, block_number)
SETTINGS min_bytes_for_wide_part = 67108864;

CREATE TABLE IF NOT EXISTS progress_rows (
  chain String,
  epoch UInt64,
  seq UInt64,
  number UInt64,
  hash String,
  now UInt64,
  final_now UInt64,
  version UInt64
) ENGINE = ReplacingMergeTree(version)
ORDER BY chain;

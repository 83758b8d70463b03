-- Every trade once more, in the order of its wallet. Filled by the engine from trade_rows, with every insert.
CREATE TABLE IF NOT EXISTS wallet_trade_rows (
  chain LowCardinality(String),
  wallet String CODEC(ZSTD(1)),
  time DateTime('UTC') CODEC(Delta, ZSTD(1)),
  block_number UInt64 CODEC(Delta, ZSTD(1)),
  tx_index UInt32 CODEC(ZSTD(1)),
  log_index UInt32 CODEC(ZSTD(1)),
  sub UInt32 CODEC(ZSTD(1)),
  pair String CODEC(ZSTD(1)),
  tx_hash String CODEC(ZSTD(1)),
  id String CODEC(ZSTD(1)),
  tx_seq UInt64 CODEC(ZSTD(1)),
  sell UInt8,
  sender String CODEC(ZSTD(1)),
  recipient String CODEC(ZSTD(1)),
  amount_in String CODEC(ZSTD(1)),
  amount_out String CODEC(ZSTD(1)),
  price_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  quote_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  amount_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  flags UInt8,
  version UInt64 CODEC(Delta, ZSTD(1))
) ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(time)
ORDER BY (chain, wallet, time, block_number, tx_index, log_index, sub)
SETTINGS min_bytes_for_wide_part = 67108864;

-- Blocks that a reorg orphaned, with the version of its retract: what they wrote before it never happened. A tombstone of
-- trade_rows has no wallet, so rows by wallet are undone by their block.
CREATE TABLE IF NOT EXISTS orphaned_block_rows (
  chain LowCardinality(String),
  block_number UInt64,
  version UInt64
) ENGINE = ReplacingMergeTree(version)
ORDER BY (chain, block_number);

CREATE MATERIALIZED VIEW IF NOT EXISTS wallet_trade_rows_fill TO wallet_trade_rows AS SELECT
  chain, wallet, time, block_number, tx_index, log_index, sub, pair, tx_hash, id, tx_seq, sell, sender, recipient, amount_in, amount_out,
  price_usd, quote_usd, amount_usd, flags, version
FROM trade_rows
WHERE is_deleted = 0 AND wallet != '';

CREATE MATERIALIZED VIEW IF NOT EXISTS orphaned_block_rows_fill TO orphaned_block_rows AS SELECT
  chain, block_number, max(version) AS version
FROM trade_rows
WHERE is_deleted = 1
GROUP BY chain, block_number;

-- What was stored before: replaced by itself if this runs again.
INSERT INTO wallet_trade_rows SELECT
  chain, wallet, time, block_number, tx_index, log_index, sub, pair, tx_hash, id, tx_seq, sell, sender, recipient, amount_in, amount_out,
  price_usd, quote_usd, amount_usd, flags, version
FROM trade_rows FINAL
WHERE wallet != ''
SETTINGS max_partitions_per_insert_block = 0;

INSERT INTO orphaned_block_rows SELECT chain, block_number, max(version) AS version
FROM trade_rows
WHERE is_deleted = 1
GROUP BY chain, block_number;

-- What a wallet holds: all versions of a row have the same holder, so the index leaves out nothing that counts.
ALTER TABLE holder_rows ADD INDEX IF NOT EXISTS by_holder holder TYPE bloom_filter(0.01) GRANULARITY 1;

-- Swaps by wallet: a filter on chain and wallet is a primary-key lookup.
CREATE OR REPLACE VIEW wallet_trades AS SELECT
  t.chain AS chain,
  t.wallet AS wallet,
  t.time AS time,
  t.block_number AS block_number,
  t.tx_index AS tx_index,
  t.log_index AS log_index,
  t.sub AS sub,
  t.tx_hash AS tx_hash,
  t.id AS id,
  t.pair AS pair,
  nullIf(p.token, '') AS token,
  if(t.sell, 'sell', 'buy') AS side,
  toFloat64OrNull(if(t.sell, t.amount_in, t.amount_out)) / p.scale AS amount,
  if(t.sell, t.amount_in, t.amount_out) AS amount_raw,
  if(isNaN(t.price_usd), NULL, t.price_usd) AS price_usd,
  if(isNaN(t.amount_usd), NULL, t.amount_usd) AS amount_usd,
  t.flags = 0 AS good
FROM wallet_trade_rows AS t FINAL
LEFT JOIN (
  SELECT chain, block_number, max(version) AS version FROM orphaned_block_rows GROUP BY chain, block_number
) AS o ON o.chain = t.chain AND o.block_number = t.block_number
LEFT JOIN (
  SELECT chain, pair, if(target = 0, token0, token1) AS token, if(target = 0, decimals0, decimals1) AS decimals,
    if(decimals < 0, NULL, exp10(decimals)) AS scale
  FROM pair_rows FINAL
) AS p ON p.chain = t.chain AND p.pair = t.pair
WHERE t.version > o.version;

-- What each wallet bought and sold of each token, and what it made by average cost.
CREATE OR REPLACE VIEW positions AS SELECT
  chain, wallet, token,
  countIf(side = 'buy') AS buys,
  countIf(side = 'sell') AS sells,
  sumIf(amount, side = 'buy') AS bought,
  sumIf(amount, side = 'sell') AS sold,
  sumIf(amount_usd, side = 'buy') AS bought_usd,
  sumIf(amount_usd, side = 'sell') AS sold_usd,
  bought_usd / nullIf(sumIf(amount, side = 'buy' AND amount_usd IS NOT NULL), 0) AS average_purchase_usd,
  sold_usd / nullIf(sumIf(amount, side = 'sell' AND amount_usd IS NOT NULL), 0) AS average_sale_usd,
  if(buys = 0, NULL, if(sells = 0, 0, least(bought, sold) * (average_sale_usd - average_purchase_usd))) AS realized_profit,
  min(time) AS first_time,
  max(time) AS last_time
FROM wallet_trades
GROUP BY chain, wallet, token;

CREATE OR REPLACE VIEW sql_tables AS SELECT
  database, name, 'View' AS engine, toUInt8(0) AS is_temporary, '' AS comment, '' AS create_table_query, '' AS engine_full,
  '' AS primary_key, '' AS sorting_key, '' AS partition_key, CAST(NULL, 'Nullable(UInt64)') AS total_rows, CAST(NULL, 'Nullable(UInt64)') AS total_bytes
FROM system.tables
WHERE database = currentDatabase() AND name IN ('trades', 'liquidity', 'candles', 'pairs', 'tokens', 'holders', 'main_pairs', 'pair_history', 'wallet_trades', 'positions');

CREATE OR REPLACE VIEW sql_columns AS SELECT
  database, table, name, type, position, '' AS default_kind, '' AS default_expression, '' AS comment, toUInt8(0) AS is_in_primary_key,
  toUInt8(0) AS is_in_sorting_key, toUInt8(0) AS is_in_partition_key,
  character_octet_length, numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision
FROM system.columns
WHERE database = currentDatabase() AND table IN ('trades', 'liquidity', 'candles', 'pairs', 'tokens', 'holders', 'main_pairs', 'pair_history', 'wallet_trades', 'positions');

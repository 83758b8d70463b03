-- How many holders a token had at the end of each hour in which their number changed, by the chain's now.
CREATE TABLE IF NOT EXISTS holder_hour_rows (
  chain LowCardinality(String),
  token String CODEC(ZSTD(1)),
  time DateTime('UTC') CODEC(Delta, ZSTD(1)),
  holders Int64 CODEC(ZSTD(1)),
  version UInt64 CODEC(Delta, ZSTD(1)),
  is_deleted UInt8 DEFAULT 0
) ENGINE = ReplacingMergeTree(version, is_deleted)
PARTITION BY toYYYYMM(time)
ORDER BY (chain, token, time)
SETTINGS min_bytes_for_wide_part = 67108864;

CREATE OR REPLACE VIEW holder_counts AS SELECT
  t.chain AS chain,
  t.token AS token,
  t.time AS time,
  t.holders AS holders
FROM holder_hour_rows AS t FINAL;

CREATE OR REPLACE VIEW sql_tables AS SELECT
  database, name, 'View' AS engine, toUInt8(0) AS is_temporary, '' AS comment, '' AS create_table_query, '' AS engine_full,
  '' AS primary_key, '' AS sorting_key, '' AS partition_key, CAST(NULL, 'Nullable(UInt64)') AS total_rows, CAST(NULL, 'Nullable(UInt64)') AS total_bytes
FROM system.tables
WHERE database = currentDatabase() AND name IN ('trades', 'liquidity', 'candles', 'pairs', 'tokens', 'holders', 'holder_counts', 'main_pairs', 'pair_history', 'wallet_trades', 'positions');

CREATE OR REPLACE VIEW sql_columns AS SELECT
  database, table, name, type, position, '' AS default_kind, '' AS default_expression, '' AS comment, toUInt8(0) AS is_in_primary_key,
  toUInt8(0) AS is_in_sorting_key, toUInt8(0) AS is_in_partition_key,
  character_octet_length, numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision
FROM system.columns
WHERE database = currentDatabase() AND table IN ('trades', 'liquidity', 'candles', 'pairs', 'tokens', 'holders', 'holder_counts', 'main_pairs', 'pair_history', 'wallet_trades', 'positions');

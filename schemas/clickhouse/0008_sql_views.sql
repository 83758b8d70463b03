-- Which pair was a token's main pair, and from when to when. An open end is NULL.
CREATE OR REPLACE VIEW main_pairs AS SELECT
  t.chain AS chain,
  t.token AS token,
  nullIf(t.new_pair, '') AS pair,
  nullIf(t.old_pair, '') AS previous_pair,
  t.block_number AS since_block,
  t.time AS since_time,
  leadInFrame(toNullable(t.block_number)) OVER (PARTITION BY t.chain, t.token ORDER BY t.block_number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS until_block,
  leadInFrame(toNullable(t.time)) OVER (PARTITION BY t.chain, t.token ORDER BY t.block_number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS until_time
FROM main_pair_rows AS t FINAL;

-- One row per pair and hour with a trade or a liquidity event. Reserves are those after the hour's last event, in block order: a
-- block whose time goes back belongs to the hour of its own time.
CREATE OR REPLACE VIEW pair_history AS SELECT
  e.chain AS chain,
  e.pair AS pair,
  e.hour AS time,
  c.open_usd AS open_usd,
  c.high_usd AS high_usd,
  c.low_usd AS low_usd,
  c.close_usd AS close_usd,
  c.close_native AS close_native,
  c.close_quote AS close_quote,
  c.volume_usd AS volume_usd,
  e.trades AS trades,
  e.buys AS buys,
  e.sells AS sells,
  e.liquidity_events AS liquidity_events,
  e.last_block AS last_block,
  toFloat64OrNull(tupleElement(e.last, 1)) / p.scale0 AS reserve0,
  toFloat64OrNull(tupleElement(e.last, 2)) / p.scale1 AS reserve1,
  nullIf(tupleElement(e.last, 1), '') AS reserve0_raw,
  nullIf(tupleElement(e.last, 2), '') AS reserve1_raw,
  if(isNaN(e.last_quote_usd), NULL, e.last_quote_usd) AS quote_usd
FROM (
  SELECT
    chain, pair, toStartOfHour(time) AS hour,
    countIf(kind = 'trade') AS trades,
    countIf(kind = 'trade' AND NOT sell) AS buys,
    countIf(kind = 'trade' AND sell) AS sells,
    countIf(kind != 'trade') AS liquidity_events,
    max(block_number) AS last_block,
    argMax((reserve0, reserve1), (block_number, tx_index, log_index, sub)) AS last,
    if(trades = 0, nan, argMaxIf(usd, (block_number, tx_index, log_index, sub), kind = 'trade')) AS last_quote_usd
  FROM (
    SELECT chain, pair, time, block_number, tx_index, log_index, sub, reserve0, reserve1, sell, quote_usd AS usd, 'trade' AS kind
    FROM trade_rows FINAL
    UNION ALL
    SELECT chain, pair, time, block_number, tx_index, log_index, sub, reserve0, reserve1, toUInt8(0) AS sell, nan AS usd, 'liquidity' AS kind
    FROM liquidity_rows FINAL
  )
  GROUP BY chain, pair, hour
) AS e
LEFT JOIN (
  SELECT
    chain, pair, time,
    if(isNaN(open_u), NULL, open_u) AS open_usd,
    if(isNaN(high_u), NULL, high_u) AS high_usd,
    if(isNaN(low_u), NULL, low_u) AS low_usd,
    if(isNaN(close_u), NULL, close_u) AS close_usd,
    if(isNaN(close_m), NULL, close_m) AS close_native,
    if(isNaN(close_r), NULL, close_r) AS close_quote,
    if(isNaN(volume_u), NULL, volume_u) AS volume_usd
  FROM candle_rows FINAL
  WHERE interval = 'k60'
) AS c ON c.chain = e.chain AND c.pair = e.pair AND c.time = e.hour
LEFT JOIN (
  SELECT chain, pair, if(decimals0 < 0, NULL, exp10(decimals0)) AS scale0, if(decimals1 < 0, NULL, exp10(decimals1)) AS scale1
  FROM pair_rows FINAL
) AS p ON p.chain = e.chain AND p.pair = e.pair;

-- What ClickHouse clients read of `system`: the views above and nothing else of the server.
CREATE OR REPLACE VIEW sql_tables AS SELECT
  database, name, 'View' AS engine, toUInt8(0) AS is_temporary, '' AS comment, '' AS create_table_query, '' AS engine_full,
  '' AS primary_key, '' AS sorting_key, '' AS partition_key, CAST(NULL, 'Nullable(UInt64)') AS total_rows, CAST(NULL, 'Nullable(UInt64)') AS total_bytes
FROM system.tables
WHERE database = currentDatabase() AND name IN ('trades', 'liquidity', 'candles', 'pairs', 'tokens', 'holders', 'main_pairs', 'pair_history');

CREATE OR REPLACE VIEW sql_columns AS SELECT
  database, table, name, type, position, '' AS default_kind, '' AS default_expression, '' AS comment, toUInt8(0) AS is_in_primary_key,
  toUInt8(0) AS is_in_sorting_key, toUInt8(0) AS is_in_partition_key
FROM system.columns
WHERE database = currentDatabase() AND table IN ('trades', 'liquidity', 'candles', 'pairs', 'tokens', 'holders', 'main_pairs', 'pair_history');

CREATE OR REPLACE VIEW sql_databases AS SELECT name, '' AS engine, '' AS comment FROM system.databases WHERE name = currentDatabase();

CREATE OR REPLACE VIEW sql_settings AS SELECT
  name, value, toUInt8(0) AS changed, '' AS description, CAST(NULL, 'Nullable(String)') AS min, CAST(NULL, 'Nullable(String)') AS max,
  toUInt8(1) AS readonly, type, value AS default
FROM system.settings
WHERE name IN ('max_execution_time', 'max_result_rows', 'max_result_bytes', 'max_memory_usage', 'max_threads', 'max_block_size', 'readonly', 'date_time_output_format', 'session_timezone');

-- A pair's price, TVL and supply after its last event of each hour, by the chain's now.
CREATE TABLE IF NOT EXISTS pair_hour_rows (
  chain LowCardinality(String),
  pair String CODEC(ZSTD(1)),
  time DateTime('UTC') CODEC(Delta, ZSTD(1)),
  price_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  tvl Float64 DEFAULT nan CODEC(ZSTD(1)),
  liquidity_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  supply Float64 DEFAULT nan CODEC(ZSTD(1)),
  supply_left Float64 DEFAULT nan CODEC(ZSTD(1)),
  version UInt64 CODEC(Delta, ZSTD(1)),
  is_deleted UInt8 DEFAULT 0
) ENGINE = ReplacingMergeTree(version, is_deleted)
PARTITION BY toYYYYMM(time)
ORDER BY (chain, pair, time)
SETTINGS min_bytes_for_wide_part = 67108864;

-- As before, with what the pair was worth at the end of the hour.
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
  if(isNaN(e.last_quote_usd), NULL, e.last_quote_usd) AS quote_usd,
  h.tvl AS tvl,
  h.liquidity_usd AS liquidity_usd,
  h.market_cap AS market_cap,
  h.fdv AS fdv
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
) AS p ON p.chain = e.chain AND p.pair = e.pair
LEFT JOIN (
  SELECT
    chain, pair, time,
    if(isNaN(tvl), NULL, tvl) AS tvl,
    if(isNaN(liquidity_usd), NULL, liquidity_usd) AS liquidity_usd,
    if(isNaN(price_usd * supply_left), NULL, price_usd * supply_left) AS market_cap,
    if(isNaN(price_usd * supply), NULL, price_usd * supply) AS fdv
  FROM pair_hour_rows FINAL
) AS h ON h.chain = e.chain AND h.pair = e.pair AND h.time = e.hour;

-- What was JSON text in `state` as columns. Rows written before have it in `state` until they change: new rows have it empty.
ALTER TABLE pair_rows
  ADD COLUMN IF NOT EXISTS share_supply String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS init_reserve0 String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS init_reserve1 String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS last_price_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS price_day_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS quote_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS open_price_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS ath_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS liquidity_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS liquidity_native Float64 DEFAULT nan CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS first_trade_at DateTime('UTC'),
  ADD COLUMN IF NOT EXISTS first_trade_block UInt64,
  ADD COLUMN IF NOT EXISTS updated_at DateTime('UTC');

ALTER TABLE token_rows
  ADD COLUMN IF NOT EXISTS owner Nullable(String) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS risk Nullable(String) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS logo_url Nullable(String) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS links Nullable(String) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS launch_progress Float64 DEFAULT nan CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS launch_pool String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS launch_at DateTime('UTC'),
  ADD COLUMN IF NOT EXISTS burnt_supply String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS launch_price Float64 DEFAULT nan CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS holders_since Float64 DEFAULT nan CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS main_price_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS main_open_usd Float64 DEFAULT nan CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS price_native Float64 DEFAULT nan CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS updated_at DateTime('UTC');

-- Windows are as of the minute of updated_at, in the order 15m 1h 4h 24h; shorter ones follow from the trades.
CREATE OR REPLACE VIEW pairs AS
WITH if(
  empty(t.windows),
  JSONExtract(t.state, 'windows', 'Array(Tuple(buy_volume Float64, sell_volume Float64, buys UInt64, sells UInt64, buyers UInt64, sellers UInt64, makers UInt64, amount Float64, high Nullable(Float64), low Nullable(Float64), price_before Nullable(Float64)))'),
  arrayMap(
    at -> CAST(
      (t.windows[at + 1], t.windows[at + 2],
       toUInt64(t.windows[at + 3]), toUInt64(t.windows[at + 4]), toUInt64(t.windows[at + 5]), toUInt64(t.windows[at + 6]), toUInt64(t.windows[at + 7]),
       t.windows[at + 8], if(isNaN(t.windows[at + 9]), NULL, t.windows[at + 9]), if(isNaN(t.windows[at + 10]), NULL, t.windows[at + 10]), if(isNaN(t.windows[at + 11]), NULL, t.windows[at + 11])),
      'Tuple(buy_volume Float64, sell_volume Float64, buys UInt64, sells UInt64, buyers UInt64, sellers UInt64, makers UInt64, amount Float64, high Nullable(Float64), low Nullable(Float64), price_before Nullable(Float64))'
    ),
    [0, 11, 22, 33]
  )
) AS w
SELECT
  t.chain AS chain,
  t.pair AS pair,
  t.amm AS amm,
  t.token0 AS token0,
  t.token1 AS token1,
  if(t.target = 0, t.token0, t.token1) AS target,
  if(t.target = 0, t.token1, t.token0) AS quote,
  if(t.decimals0 < 0, NULL, t.decimals0) AS decimals0,
  if(t.decimals1 < 0, NULL, t.decimals1) AS decimals1,
  if(isNaN(t.fee), NULL, t.fee) AS fee,
  nullIf(t.creator, '') AS creator,
  if(toUnixTimestamp(t.created_at) = 0, NULL, t.created_at) AS created_at,
  t.created_block AS created_block,
  if(isNaN(t.price_usd), NULL, t.price_usd) AS price_usd,
  if(isNaN(t.price_native), NULL, t.price_native) AS price_native,
  if(isNaN(t.price_quote), NULL, t.price_quote) AS price_quote,
  if(t.decimals0 < 0, NULL, toFloat64OrNull(t.reserve0) / exp10(t.decimals0)) AS reserve0,
  if(t.decimals1 < 0, NULL, toFloat64OrNull(t.reserve1) / exp10(t.decimals1)) AS reserve1,
  nullIf(t.reserve0, '') AS reserve0_raw,
  nullIf(t.reserve1, '') AS reserve1_raw,
  if(isNaN(t.tvl), NULL, t.tvl) AS tvl,
  t.tx_count AS tx_count,
  if(toUnixTimestamp(t.last_trade_at) = 0, NULL, t.last_trade_at) AS last_trade_at,
  ifNull(if(isNaN(t.open_price_usd), NULL, t.open_price_usd), JSONExtract(t.state, 'open_price_usd', 'Nullable(Float64)')) AS open_price_usd,
  ifNull(if(isNaN(t.ath_usd), NULL, t.ath_usd), JSONExtract(t.state, 'ath_usd', 'Nullable(Float64)')) AS ath_usd,
  ifNull(if(isNaN(t.price_day_usd), NULL, t.price_day_usd), JSONExtract(t.state, 'price_day_usd', 'Nullable(Float64)')) AS price_day_usd,
  ifNull(if(isNaN(t.quote_usd), NULL, t.quote_usd), JSONExtract(t.state, 'quote_usd', 'Nullable(Float64)')) AS quote_usd,
  ifNull(if(isNaN(t.liquidity_usd), NULL, t.liquidity_usd), JSONExtract(t.state, 'liquidity_usd', 'Nullable(Float64)')) AS liquidity_usd,
  ifNull(if(isNaN(t.liquidity_native), NULL, t.liquidity_native), JSONExtract(t.state, 'liquidity_native', 'Nullable(Float64)')) AS liquidity_native,
  if(t.state = '', t.updated_at, toDateTime(JSONExtractUInt(t.state, 'updated_at'), 'UTC')) AS updated_at,
  w[1].buy_volume + w[1].sell_volume AS volume_15m,
  w[1].buys AS buys_15m,
  w[1].sells AS sells_15m,
  w[1].makers AS makers_15m,
  (price_usd / ifNull(w[1].price_before, open_price_usd) - 1) * 100 AS price_change_15m,
  w[2].buy_volume + w[2].sell_volume AS volume_1h,
  w[2].buys AS buys_1h,
  w[2].sells AS sells_1h,
  w[2].makers AS makers_1h,
  (price_usd / ifNull(w[2].price_before, open_price_usd) - 1) * 100 AS price_change_1h,
  w[3].buy_volume + w[3].sell_volume AS volume_4h,
  w[3].buys AS buys_4h,
  w[3].sells AS sells_4h,
  w[3].makers AS makers_4h,
  (price_usd / ifNull(w[3].price_before, open_price_usd) - 1) * 100 AS price_change_4h,
  w[4].buy_volume + w[4].sell_volume AS volume_24h,
  w[4].buys AS buys_24h,
  w[4].sells AS sells_24h,
  w[4].makers AS makers_24h,
  (price_usd / ifNull(w[4].price_before, open_price_usd) - 1) * 100 AS price_change_24h,
  w[4].high AS high_24h,
  w[4].low AS low_24h,
  w AS windows
FROM pair_rows AS t FINAL;

-- A token's change is its main pair's, as over REST: since its first price where it has none before the window.
CREATE OR REPLACE VIEW tokens AS
WITH if(
  empty(t.windows),
  JSONExtract(t.state, 'windows', 'Array(Tuple(buy_volume Float64, sell_volume Float64, buys UInt64, sells UInt64, buyers UInt64, sellers UInt64, makers UInt64, amount Float64, high Nullable(Float64), low Nullable(Float64), price_before Nullable(Float64)))'),
  arrayMap(
    at -> CAST(
      (t.windows[at + 1], t.windows[at + 2],
       toUInt64(t.windows[at + 3]), toUInt64(t.windows[at + 4]), toUInt64(t.windows[at + 5]), toUInt64(t.windows[at + 6]), toUInt64(t.windows[at + 7]),
       t.windows[at + 8], if(isNaN(t.windows[at + 9]), NULL, t.windows[at + 9]), if(isNaN(t.windows[at + 10]), NULL, t.windows[at + 10]), if(isNaN(t.windows[at + 11]), NULL, t.windows[at + 11])),
      'Tuple(buy_volume Float64, sell_volume Float64, buys UInt64, sells UInt64, buyers UInt64, sellers UInt64, makers UInt64, amount Float64, high Nullable(Float64), low Nullable(Float64), price_before Nullable(Float64))'
    ),
    [0, 11, 22, 33]
  )
) AS w,
  ifNull(if(isNaN(t.main_price_usd), NULL, t.main_price_usd), JSONExtract(t.state, 'main_price_usd', 'Nullable(Float64)')) AS main_usd,
  ifNull(if(isNaN(t.main_open_usd), NULL, t.main_open_usd), JSONExtract(t.state, 'main_open_usd', 'Nullable(Float64)')) AS main_open_usd
SELECT
  t.chain AS chain,
  t.token AS token,
  t.name AS name,
  t.symbol AS symbol,
  if(t.decimals < 0, NULL, t.decimals) AS decimals,
  if(t.decimals < 0, NULL, toFloat64OrNull(t.total_supply) / exp10(t.decimals)) AS total_supply,
  nullIf(t.total_supply, '') AS total_supply_raw,
  if(isNaN(t.price_usd), NULL, t.price_usd) AS price_usd,
  ifNull(if(isNaN(t.price_native), NULL, t.price_native), JSONExtract(t.state, 'price_native', 'Nullable(Float64)')) AS price_native,
  nullIf(t.main_pair, '') AS main_pair,
  if(isNaN(t.tvl), NULL, t.tvl) AS tvl,
  t.holders AS holders,
  if(toUnixTimestamp(t.created_at) = 0, NULL, t.created_at) AS created_at,
  nullIf(t.launch_platform, '') AS launch_platform,
  nullIf(t.launch_stage, '') AS launch_stage,
  if(t.state = '', t.updated_at, toDateTime(JSONExtractUInt(t.state, 'updated_at'), 'UTC')) AS updated_at,
  w[1].buy_volume + w[1].sell_volume AS volume_15m,
  w[1].buys AS buys_15m,
  w[1].sells AS sells_15m,
  w[1].makers AS makers_15m,
  (main_usd / ifNull(w[1].price_before, main_open_usd) - 1) * 100 AS price_change_15m,
  w[2].buy_volume + w[2].sell_volume AS volume_1h,
  w[2].buys AS buys_1h,
  w[2].sells AS sells_1h,
  w[2].makers AS makers_1h,
  (main_usd / ifNull(w[2].price_before, main_open_usd) - 1) * 100 AS price_change_1h,
  w[3].buy_volume + w[3].sell_volume AS volume_4h,
  w[3].buys AS buys_4h,
  w[3].sells AS sells_4h,
  w[3].makers AS makers_4h,
  (main_usd / ifNull(w[3].price_before, main_open_usd) - 1) * 100 AS price_change_4h,
  w[4].buy_volume + w[4].sell_volume AS volume_24h,
  w[4].buys AS buys_24h,
  w[4].sells AS sells_24h,
  w[4].makers AS makers_24h,
  (main_usd / ifNull(w[4].price_before, main_open_usd) - 1) * 100 AS price_change_24h,
  w[4].high AS high_24h,
  w[4].low AS low_24h,
  w AS windows
FROM token_rows AS t FINAL;

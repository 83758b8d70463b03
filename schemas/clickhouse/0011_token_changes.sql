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
  JSONExtract(t.state, 'main_price_usd', 'Nullable(Float64)') AS main_usd,
  JSONExtract(t.state, 'main_open_usd', 'Nullable(Float64)') AS main_open_usd
SELECT
  t.chain AS chain,
  t.token AS token,
  t.name AS name,
  t.symbol AS symbol,
  if(t.decimals < 0, NULL, t.decimals) AS decimals,
  if(t.decimals < 0, NULL, toFloat64OrNull(t.total_supply) / exp10(t.decimals)) AS total_supply,
  nullIf(t.total_supply, '') AS total_supply_raw,
  if(isNaN(t.price_usd), NULL, t.price_usd) AS price_usd,
  JSONExtract(t.state, 'price_native', 'Nullable(Float64)') AS price_native,
  nullIf(t.main_pair, '') AS main_pair,
  if(isNaN(t.tvl), NULL, t.tvl) AS tvl,
  t.holders AS holders,
  if(toUnixTimestamp(t.created_at) = 0, NULL, t.created_at) AS created_at,
  nullIf(t.launch_platform, '') AS launch_platform,
  nullIf(t.launch_stage, '') AS launch_stage,
  toDateTime(JSONExtractUInt(t.state, 'updated_at'), 'UTC') AS updated_at,
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

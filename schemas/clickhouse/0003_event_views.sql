-- What analysts read: no versions, no tombstones, NULL for unknown, decimals applied (the raw integers beside).
-- The pair is joined on its sort key, so a filter on chain and pair is a primary-key lookup on both sides.
CREATE OR REPLACE VIEW trades AS SELECT
  t.chain AS chain,
  t.pair AS pair,
  t.time AS time,
  t.block_number AS block_number,
  t.tx_index AS tx_index,
  t.log_index AS log_index,
  t.sub AS sub,
  t.tx_hash AS tx_hash,
  t.id AS id,
  t.tx_seq AS tx_seq,
  if(t.sell, 'sell', 'buy') AS side,
  t.sender AS sender,
  t.recipient AS recipient,
  t.wallet AS wallet,
  nullIf(if(t.sell = (p.target = 0), p.token0, p.token1), '') AS token_in,
  nullIf(if(t.sell = (p.target = 0), p.token1, p.token0), '') AS token_out,
  toFloat64OrNull(t.amount_in) / if(t.sell = (p.target = 0), p.scale0, p.scale1) AS amount_in,
  toFloat64OrNull(t.amount_out) / if(t.sell = (p.target = 0), p.scale1, p.scale0) AS amount_out,
  toFloat64OrNull(t.reserve0) / p.scale0 AS reserve0,
  toFloat64OrNull(t.reserve1) / p.scale1 AS reserve1,
  t.amount_in AS amount_in_raw,
  t.amount_out AS amount_out_raw,
  nullIf(t.reserve0, '') AS reserve0_raw,
  nullIf(t.reserve1, '') AS reserve1_raw,
  if(isNaN(t.price_usd), NULL, t.price_usd) AS price_usd,
  if(isNaN(t.price_native), NULL, t.price_native) AS price_native,
  if(isNaN(t.price_quote), NULL, t.price_quote) AS price_quote,
  if(isNaN(t.quote_usd), NULL, t.quote_usd) AS quote_usd,
  if(isNaN(t.quote_native), NULL, t.quote_native) AS quote_native,
  if(isNaN(t.amount_usd), NULL, t.amount_usd) AS amount_usd,
  if(isNaN(t.amount_native), NULL, t.amount_native) AS amount_native,
  arrayFilter(flag -> flag != '', [if(bitTest(t.flags, 0), 'dust', ''), if(bitTest(t.flags, 1), 'outlier', ''), if(bitTest(t.flags, 2), 'unpriced', '')]) AS flags,
  t.flags = 0 AS good,
  t.quote_path AS quote_path
FROM trade_rows AS t FINAL
LEFT JOIN (
  SELECT chain, pair, token0, token1, target,
    if(decimals0 < 0, NULL, exp10(decimals0)) AS scale0, if(decimals1 < 0, NULL, exp10(decimals1)) AS scale1
  FROM pair_rows FINAL
) AS p ON p.chain = t.chain AND p.pair = t.pair;

CREATE OR REPLACE VIEW liquidity AS SELECT
  t.chain AS chain,
  t.pair AS pair,
  t.time AS time,
  t.block_number AS block_number,
  t.tx_index AS tx_index,
  t.log_index AS log_index,
  t.sub AS sub,
  t.tx_hash AS tx_hash,
  t.id AS id,
  t.kind AS kind,
  t.sender AS sender,
  t.wallet AS wallet,
  nullIf(p.token0, '') AS token0,
  nullIf(p.token1, '') AS token1,
  toFloat64OrNull(t.amount0) / p.scale0 AS amount0,
  toFloat64OrNull(t.amount1) / p.scale1 AS amount1,
  toFloat64OrNull(t.reserve0) / p.scale0 AS reserve0,
  toFloat64OrNull(t.reserve1) / p.scale1 AS reserve1,
  t.amount0 AS amount0_raw,
  t.amount1 AS amount1_raw,
  nullIf(t.reserve0, '') AS reserve0_raw,
  nullIf(t.reserve1, '') AS reserve1_raw,
  if(isNaN(t.amount_usd), NULL, t.amount_usd) AS amount_usd,
  if(isNaN(t.amount_native), NULL, t.amount_native) AS amount_native,
  if(isNaN(t.price0_usd), NULL, t.price0_usd) AS price0_usd,
  if(isNaN(t.price1_usd), NULL, t.price1_usd) AS price1_usd
FROM liquidity_rows AS t FINAL
LEFT JOIN (
  SELECT chain, pair, token0, token1, target,
    if(decimals0 < 0, NULL, exp10(decimals0)) AS scale0, if(decimals1 < 0, NULL, exp10(decimals1)) AS scale1
  FROM pair_rows FINAL
) AS p ON p.chain = t.chain AND p.pair = t.pair;

CREATE OR REPLACE VIEW candles AS SELECT
  t.chain AS chain,
  t.pair AS pair,
  t.interval AS interval,
  t.time AS time,
  if(isNaN(t.open_u), NULL, t.open_u) AS open_usd,
  if(isNaN(t.first_u), NULL, t.first_u) AS first_usd,
  if(isNaN(t.high_u), NULL, t.high_u) AS high_usd,
  if(isNaN(t.low_u), NULL, t.low_u) AS low_usd,
  if(isNaN(t.close_u), NULL, t.close_u) AS close_usd,
  if(isNaN(t.volume_u), NULL, t.volume_u) AS volume_usd,
  if(isNaN(t.open_m), NULL, t.open_m) AS open_native,
  if(isNaN(t.first_m), NULL, t.first_m) AS first_native,
  if(isNaN(t.high_m), NULL, t.high_m) AS high_native,
  if(isNaN(t.low_m), NULL, t.low_m) AS low_native,
  if(isNaN(t.close_m), NULL, t.close_m) AS close_native,
  if(isNaN(t.volume_m), NULL, t.volume_m) AS volume_native,
  if(isNaN(t.open_r), NULL, t.open_r) AS open_quote,
  if(isNaN(t.first_r), NULL, t.first_r) AS first_quote,
  if(isNaN(t.high_r), NULL, t.high_r) AS high_quote,
  if(isNaN(t.low_r), NULL, t.low_r) AS low_quote,
  if(isNaN(t.close_r), NULL, t.close_r) AS close_quote,
  if(isNaN(t.volume_r), NULL, t.volume_r) AS volume_quote
FROM candle_rows AS t FINAL;

-- What JDBC programs read of `system` to describe columns: still of the views alone.
CREATE OR REPLACE VIEW sql_columns AS SELECT
  database, table, name, type, position, '' AS default_kind, '' AS default_expression, '' AS comment, toUInt8(0) AS is_in_primary_key,
  toUInt8(0) AS is_in_sorting_key, toUInt8(0) AS is_in_partition_key,
  character_octet_length, numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision
FROM system.columns
WHERE database = currentDatabase() AND table IN ('trades', 'liquidity', 'candles', 'pairs', 'tokens', 'holders', 'main_pairs', 'pair_history');

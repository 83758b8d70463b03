-- Whether this database holds real or simulated data, from the first start on: one row. The two never share one.
CREATE TABLE IF NOT EXISTS origin_rows (
  origin LowCardinality(String)
) ENGINE = MergeTree
ORDER BY origin;

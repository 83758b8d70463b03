"""Opens exported files in DuckDB and polars, as their users would, and prints what both see as JSON."""

import json
import sys

import duckdb
import polars as pl

plan = json.loads(sys.argv[1])

duckdb.sql("SET TimeZone = 'UTC'")


def in_duckdb(source: str, columns: list[str]) -> list[list[object]]:
    return [list(row) for row in duckdb.sql(f"SELECT {', '.join(columns)} FROM {source} ORDER BY ALL").fetchall()]


def in_polars(frame: pl.LazyFrame, columns: list[str]) -> list[list[object]]:
    return sorted([list(row) for row in frame.select(columns).collect().rows()], key=json.dumps)


trades = ["chain", "pair", "id", "tx_hash", "amount_in_raw", "amount_usd"]
candles = ["pair", "open_usd", "high_usd", "low_usd", "close_usd", "volume_usd"]
folder = plan["folder"] + "/**/*.parquet"

print(
    json.dumps(
        {
            "duckdb": {
                "file": in_duckdb(f"'{plan['trades']}'", trades),
                "folder": in_duckdb(f"read_parquet('{folder}', hive_partitioning = true)", trades),
                "candles": in_duckdb(f"'{plan['candles']}'", ["epoch(time)::BIGINT AS time", *candles]),
                "days": in_duckdb(
                    f"read_parquet('{folder}', hive_partitioning = true) WHERE date != time::DATE", ["count(*)"]
                ),
            },
            "polars": {
                "file": in_polars(pl.scan_parquet(plan["trades"]), trades),
                "folder": in_polars(pl.scan_parquet(folder, hive_partitioning=True), trades),
                "arrow": in_polars(pl.read_ipc(plan["arrow"]).lazy(), trades),
                "times": str(pl.read_ipc(plan["arrow"]).schema["time"]),
                "page": pl.read_parquet(plan["page"]).select(pl.exclude("tx_time")).to_dicts(),
                "page_times": pl.read_parquet(plan["page"])["tx_time"].dt.epoch("s").to_list(),
            },
        }
    )
)

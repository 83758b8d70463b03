"""Opens an exported folder in Spark, as its users would, and prints what it sees as JSON."""

import json
import sys

from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.sql.session.timeZone", "UTC")
    .getOrCreate()
)
table = spark.read.parquet(sys.argv[1])
columns = ["chain", "pair", "id", "tx_hash", "amount_in_raw", "amount_usd"]
rows = [list(row) for row in table.select(columns).collect()]
wrong_days = table.where("date != to_date(time)").count()
print(json.dumps({"rows": rows, "wrong_days": wrong_days}))

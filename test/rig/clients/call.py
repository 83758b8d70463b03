"""Calls operations of clients/python for the tests: JSON in, JSON out. Frames are printed as lists of their values."""

import json
import sys

from dextape import Client, DextapeError, to_pandas, to_polars


def answer(client, operation, params):
    try:
        return {"data": getattr(client, operation)(**params)}
    except DextapeError as error:
        return {"error": {"code": error.code, "status": error.status, "action": error.action}}


def frame(answered):
    pandas, polars = to_pandas(answered), to_polars(answered)
    seconds = lambda times: [int(time.timestamp()) for time in times]
    return {
        "columns": list(pandas.columns),
        **{
            name: {"time": seconds(one["time"]), "close": list(one["close"]), "dtype": str(one["close"].dtype)}
            for name, one in {"pandas": pandas, "polars": polars}.items()
        },
    }


plan = json.loads(sys.argv[1])
with Client(plan["url"], plan["key"]) as client:
    answers = [answer(client, operation, params) for operation, params in plan["calls"]]
    print(json.dumps({"answers": answers, "frame": frame(answers[0]["data"])}, default=bytes.decode))

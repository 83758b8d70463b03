"""Answers and items as pandas or polars frames: decimal strings become floats, epoch seconds become UTC times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars

_NUMBER_NAME = re.compile(
    r"^(open|high|low|close|volume|swap|change|fee|total|uprice)$|"
    r"(amount|price|volume|reserve|liquidity|tvl|cap|fdv|percent|change|supply|balance|profit|cost|makers|count|_u_)"
)
_TEXT_NAME = re.compile(
    r"(address|symbol|name|hash|^id$|_id$|url|intro|appendix|tag|wallet|sender|transaction|token$|pair$)"
)
_TIME_NAME = re.compile(r"^(time|tx_time)$|_(at|time)$")
# Members of an answer that are its rows.
_ROWS = ("points", "txs", "tokens", "items")


def to_pandas(data: Any) -> pandas.DataFrame:
    """Candles, swaps, tokens …: the answer of an operation, or a list of its rows."""
    import pandas

    columns = _columns(data)
    return pandas.DataFrame(
        {name: pandas.to_datetime(values, utc=True) if _is_time(name) else values for name, values in columns.items()}
    )


def to_polars(data: Any) -> polars.DataFrame:
    """Candles, swaps, tokens …: the answer of an operation, or a list of its rows."""
    import polars

    utc = polars.Datetime("us", "UTC")
    return polars.DataFrame(
        [
            polars.Series(name, values, dtype=utc if _is_time(name) else None, strict=False)
            for name, values in _columns(data).items()
        ]
    )


def _columns(data: Any) -> dict[str, list[Any]]:
    rows = _rows(data)
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: _values(name, [row.get(name) for row in rows]) for name in names}


def _rows(data: Any) -> list[Mapping[str, Any]]:
    if isinstance(data, Mapping):
        for member in _ROWS:
            if isinstance(data.get(member), list):
                return list(data[member])
        return [data]
    if isinstance(data, Iterable):
        return list(data)
    raise TypeError(f"expected an answer or a list of rows, got {type(data).__name__}")


def _is_time(name: str) -> bool:
    return _TIME_NAME.search(name) is not None


def _values(name: str, values: list[Any]) -> list[Any]:
    if _is_time(name):
        return [datetime.fromtimestamp(value, timezone.utc) if value else None for value in values]
    if _NUMBER_NAME.search(name) is None or _TEXT_NAME.search(name) is not None:
        return values
    known = [None if value == "" else value for value in values]
    try:
        return [float(value) if isinstance(value, str) else value for value in known]
    except ValueError:
        return values

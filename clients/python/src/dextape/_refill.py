"""Reads by REST what a gap notice says is missing, page by page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from .errors import DextapeError

EVENTS_PER_PAGE = 300
CANDLES_PER_PAGE = 1000

Read = Callable[[dict[str, Any]], Awaitable[Any]]


class Refiller:
    def __init__(
        self, get: Callable[[str, dict[str, Any]], Awaitable[Any]], min_backoff_s: float, max_backoff_s: float
    ) -> None:
        self._get = get
        self._min_backoff_s = min_backoff_s
        self._max_backoff_s = max_backoff_s

    async def read(
        self, gap: dict[str, Any], delivered_of: Callable[[str], list[str] | None]
    ) -> AsyncIterator[dict[str, Any]]:
        """`delivered_of`: ids of a pair's last items, oldest first; those that no longer exist are removed from it."""
        address = urlsplit(gap["refill"])
        query = dict(parse_qsl(address.query))
        item_id = unquote(address.path.rsplit("/", 1)[-1])
        place = {"topic": "refill", "id": item_id, "retracted": [], **{name: gap[name] for name in ("chain", "from", "to")}}

        async def read(asked: dict[str, Any]) -> Any:
            return await self._with_retries(address.path, asked)

        if address.path.startswith("/v2/txs/"):
            of = "swaps" if address.path.startswith("/v2/txs/swap/") else "liquidity"
            async for items, retracted in _event_pages(read, query, delivered_of(item_id)):
                yield {**place, "of": of, "items": items, "retracted": retracted}
        elif address.path.startswith("/v2/klines/"):
            async for points in _candle_pages(read, query):
                yield {**place, "of": "candles", "items": points}
        else:
            found = await read(query)
            of = "pair" if address.path.startswith("/v2/pairs/") else "token"
            yield {**place, "of": of, "items": [] if found is None else [found]}

    async def _with_retries(self, path: str, query: dict[str, Any]) -> Any:
        delay_s = self._min_backoff_s
        while True:
            try:
                return await self._get(path, query)
            except DextapeError as error:
                if not error.is_retryable:
                    raise
                await asyncio.sleep(max(delay_s, error.retry_after_s or 0))
                delay_s = min(self._max_backoff_s, delay_s * 2)


async def _event_pages(
    read: Read, bounds: dict[str, Any], delivered: list[str] | None
) -> AsyncIterator[tuple[list[dict[str, Any]], list[str]]]:
    """After the last delivered item, so that none is repeated; by time if there was none."""
    if delivered is None and "from_time" not in bounds:
        raise DextapeError("gap_unbounded", "The server does not know where the gap begins.")
    query = {**bounds, "sort": "asc", "limit": EVENTS_PER_PAGE}
    retracted: list[str] = []
    after = delivered[-1] if delivered else None
    while True:
        if after is not None:
            query["after"] = after
            query.pop("from_time", None)
        try:
            items = (await read(query))["txs"]
        except DextapeError as error:
            # A reorg removes the newest items: the first one that still exists is where reading resumes.
            if error.code != "after_unknown" or not delivered or len(delivered) == 1:
                raise
            retracted.append(delivered.pop())
            after = delivered[-1]
            continue
        if items or retracted:
            yield items, retracted
        if len(items) < EVENTS_PER_PAGE:
            return
        retracted, delivered, after = [], None, items[-1]["id"]


async def _candle_pages(read: Read, bounds: dict[str, Any]) -> AsyncIterator[list[dict[str, Any]]]:
    """A range with only its start is read forward."""
    query = {**bounds, "limit": CANDLES_PER_PAGE}
    if "from_time" not in query:
        yield (await read(query))["points"]
        return
    last_time = float(query.pop("to_time", "inf"))
    while True:
        points = [point for point in (await read(query))["points"] if point["time"] <= last_time]
        if points:
            yield points
        if len(points) < CANDLES_PER_PAGE:
            return
        query["from_time"] = points[-1]["time"] + 1

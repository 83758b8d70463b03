"""Reads by REST what a gap notice says is missing, page by page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from .errors import DextapeError

# More than the delivered items that are kept.
EVENTS_PER_PAGE = 300
CANDLES_PER_PAGE = 1000

Read = Callable[[dict[str, Any]], Awaitable[Any]]
# Id and facts of a swap or liquidity event.
Delivered = tuple[str, str]


def facts_of(event: dict[str, Any]) -> str:
    """An id alone does not name an event: after a reorg the same transaction comes again, in another block."""
    time_s = event["tx_time"] if "tx_time" in event else event["time"]
    return f"{event['id']} {event['block_number']} {time_s} {event['amount_usd'] or ''}"


class Refiller:
    def __init__(
        self, get: Callable[[str, dict[str, Any]], Awaitable[Any]], min_backoff_s: float, max_backoff_s: float
    ) -> None:
        self._get = get
        self._min_backoff_s = min_backoff_s
        self._max_backoff_s = max_backoff_s

    async def read(
        self, gap: dict[str, Any], delivered: Callable[[str], list[Delivered]]
    ) -> AsyncIterator[dict[str, Any]]:
        """`delivered`: the last items delivered of a pair, oldest first."""
        address = urlsplit(gap["refill"])
        query = dict(parse_qsl(address.query))
        item_id = unquote(address.path.rsplit("/", 1)[-1])
        place = {name: gap[name] for name in ("chain", "from", "to")}
        place.update(topic="refill", id=item_id, retracted=[])

        async def read(asked: dict[str, Any]) -> Any:
            return await self._with_retries(address.path, asked)

        if address.path.startswith("/v2/txs/"):
            of = "swaps" if address.path.startswith("/v2/txs/swap/") else "liquidity"
            async for items, retracted in _event_pages(read, query, delivered(item_id)):
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
    read: Read, bounds: dict[str, Any], delivered: list[Delivered]
) -> AsyncIterator[tuple[list[dict[str, Any]], list[str]]]:
    """
    From the oldest delivered item that is kept, so that the answer also shows which of the later ones a reorg removed
    or replaced; by time if none was delivered.
    """
    query = {**bounds, "sort": "asc", "limit": EVENTS_PER_PAGE}
    items, expected = await _first_page(read, query, delivered)
    found = {facts_of(item) for item in items}
    known = {facts for _, facts in expected}
    retracted = [event_id for event_id, facts in expected if facts not in found]
    missing = [item for item in items if facts_of(item) not in known]
    if missing or retracted:
        yield missing, retracted
    while len(items) == EVENTS_PER_PAGE:
        query.pop("from_time", None)
        query["after"] = items[-1]["id"]
        items = (await read(query))["txs"]
        if items:
            yield items, []


async def _first_page(
    read: Read, query: dict[str, Any], delivered: list[Delivered]
) -> tuple[list[dict[str, Any]], list[Delivered]]:
    if not delivered:
        if "from_time" not in query:
            raise DextapeError("gap_unbounded", "The server does not know where the gap begins.")
        return (await read(query))["txs"], []
    after = {name: value for name, value in query.items() if name != "from_time"}
    try:
        return (await read({**after, "after": delivered[0][0]}))["txs"], delivered[1:]
    except DextapeError as error:
        if error.code != "after_unknown" or "from_time" not in query:
            raise
        return (await read(query))["txs"], delivered


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

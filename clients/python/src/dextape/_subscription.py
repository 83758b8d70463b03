from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from typing import Any

from ._connection import Connection
from ._refill import Delivered, Refiller, facts_of
from .errors import DextapeError

# Delivered events kept per pair, at least: where a refill begins, also after a reorg.
MAX_DELIVERED = 100
# Ids of a refill whose pushes may still arrive; the newest count.
MAX_REFILLED = 50_000
# Chain time after which none of them can.
REFILLED_KEPT_S = 3600

Item = dict[str, Any]


class AsyncSubscription:
    """
    A subscription as an async iterator. Its queue is bounded: when the consumer is slower than the pushes, the
    subscription is paused at the server and resumes from its cursor once the queue is half empty. Nothing is dropped or
    repeated.
    """

    def __init__(
        self,
        params: list[Any],
        connection: Connection,
        refiller: Refiller,
        *,
        since: str | Iterable[str] | None = None,
        snapshot: bool = False,
        on_slow: str | None = None,
        max_queued: int = 1000,
        refill: bool = True,
    ) -> None:
        self.params = params
        self._connection = connection
        self._refiller = refiller
        self._snapshot = snapshot
        self._on_slow = on_slow
        self._max_queued = max_queued
        self._can_refill = refill
        cursors = [since] if isinstance(since, str) else list(since or [])
        self._received = {_chain_of(cursor): cursor for cursor in cursors}
        self._consumed = dict(self._received)
        self._queue: deque[Item] = deque()
        self._delivered: dict[str, list[Delivered]] = {}
        self._refilled: dict[str, None] = {}
        self._refilled_until_s = 0
        self._pages: tuple[AsyncIterator[Item], Item] | None = None
        self._arrived = asyncio.Event()
        self._started: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._failure: BaseException | None = None
        self._is_ended = False
        self.is_paused = False

    @property
    def cursor(self) -> list[str]:
        """Position of the last delivered item, one per chain: store it, and pass it as `since` to resume."""
        return list(self._consumed.values())

    @property
    def queued(self) -> int:
        """Items that wait for the consumer."""
        return len(self._queue)

    async def started(self) -> dict[str, Any]:
        """Waits until the server has accepted it; `cursor` is where it starts, `unknown` are ids not seen yet."""
        return await asyncio.shield(self._started)

    async def close(self) -> None:
        self.end()

    async def __aenter__(self) -> AsyncSubscription:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.end()

    def __aiter__(self) -> AsyncSubscription:
        return self

    async def __anext__(self) -> Item:
        while True:
            page = await self._next_page()
            if page is not None:
                return page
            if self._is_ended:
                raise StopAsyncIteration
            if not self._queue:
                if self._failure is not None:
                    self.end()
                    raise self._failure
                self._arrived.clear()
                await self._arrived.wait()
                continue
            result = self._queue.popleft()
            if self.is_paused and len(self._queue) <= self._max_queued / 2:
                self.is_paused = False
                self._connection.resume(self)
            item = self._deliver(result)
            if item is not None:
                return item

    # What the connection calls.

    def request(self) -> list[Any]:
        asked: dict[str, Any] = {}
        if self._received:
            asked["since"] = list(self._received.values())
        if self._snapshot and not self.is_started():
            asked["snapshot"] = True
        if self._on_slow is not None:
            asked["on_slow"] = self._on_slow
        return [*self.params, asked] if asked else self.params

    def is_wanted(self) -> bool:
        return not self.is_paused

    def is_started(self) -> bool:
        return self._started.done()

    def acknowledge(self, reply: dict[str, Any]) -> None:
        for cursor in reply.get("cursor", []):
            self._received.setdefault(_chain_of(cursor), cursor)
            self._consumed.setdefault(_chain_of(cursor), cursor)
        if not self._started.done():
            self._started.set_result({"cursor": reply.get("cursor", []), "unknown": reply.get("unknown", [])})

    def receive(self, result: Item) -> None:
        if self.is_paused:
            return
        if len(self._queue) >= self._max_queued:
            self.is_paused = True
            self._connection.pause(self)
            return
        cursor = result.get("to") if result.get("topic") == "gap" else result.get("cursor")
        if isinstance(cursor, str):
            self._received[_chain_of(cursor)] = cursor
        self._queue.append(result)
        self._arrived.set()

    def fail(self, error: BaseException) -> None:
        self._failure = error
        if not self._started.done():
            self._started.set_exception(error)
            self._started.exception()  # whoever only iterates gets the error there
        self._arrived.set()

    def end(self) -> None:
        if self._is_ended:
            return
        self._is_ended = True
        self._queue.clear()
        if not self._started.done():
            self._started.set_exception(DextapeError("closed", "The subscription was closed before it started."))
            self._started.exception()
        self._connection.detach(self)
        self._arrived.set()

    # Delivery.

    async def _next_page(self) -> Item | None:
        if self._pages is None:
            return None
        pages, gap = self._pages
        try:
            page = await anext(pages)
        except StopAsyncIteration:
            self._consumed[gap["chain"]] = gap["to"]
            self._pages = None
            return None
        except asyncio.CancelledError:
            # As by asyncio.wait_for: it ended the generator. A new one begins after what was delivered.
            self._pages = (self._read_gap(gap), gap)
            raise
        except Exception as error:
            self._consumed[gap["chain"]] = gap["to"]
            self._pages = None
            return {**gap, "error": error}
        self._note_refill(page)
        return page

    def _deliver(self, result: Item) -> Item | None:
        """None if there is nothing to deliver: a push that a refill had, or a gap that is read first."""
        topic = result.get("topic")
        if topic == "gap":
            gap = {name: result[name] for name in ("topic", "chain", "from", "to", "refill")}
            # Swaps or signals of many pairs: nothing that the items of one pair can be compared with.
            is_unpaged = (gap["refill"] or "").startswith(("/v2/address/", "/v2/signals/"))
            if not self._can_refill or gap["refill"] is None or is_unpaged:
                self._consumed[gap["chain"]] = gap["to"]
                return gap
            self._pages = (self._read_gap(gap), gap)
            return None
        if isinstance(result.get("cursor"), str):
            self._consumed[_chain_of(result["cursor"])] = result["cursor"]
        if topic == "retract" and self.params[1] != "*":
            self._forget(f"{result['id']}-{result['chain']}", result["ids"])
        if "tx" in result and self._is_repeated(result["tx"]):
            return None
        if topic == "conflated":
            return {"topic": topic, "count": result["count"]}
        if topic is None:
            return {**result["data"], "topic": "switch_main_pair", "cursor": result["cursor"]}
        return result

    def _read_gap(self, gap: Item) -> AsyncIterator[Item]:
        return self._refiller.read(gap, lambda pair: self._delivered.get(pair, []))

    def _is_repeated(self, tx: Item) -> bool:
        if tx["time"] > self._refilled_until_s + REFILLED_KEPT_S:
            self._refilled.clear()
        pair = f"{tx['pair_address']}-{tx['chain']}"
        key = f"{pair} {tx['id']}"
        if key in self._refilled:
            del self._refilled[key]
            return True
        if self.params[1] != "*":
            self._note_delivered(pair, [tx])
        return False

    def _note_delivered(self, pair: str, events: list[Item]) -> None:
        last = self._delivered.setdefault(pair, [])
        last.extend((event["id"], facts_of(event)) for event in events)
        if len(last) > 2 * MAX_DELIVERED:
            del last[:-MAX_DELIVERED]

    def _forget(self, pair: str, ids: list[str]) -> None:
        gone = set(ids)
        for one in gone:
            self._refilled.pop(f"{pair} {one}", None)
        self._delivered[pair] = [event for event in self._delivered.get(pair, []) if event[0] not in gone]

    def _note_refill(self, page: Item) -> None:
        """Pushes after the gap can be in the answer too."""
        if page["of"] not in ("swaps", "liquidity"):
            return
        self._forget(page["id"], page["retracted"])
        self._note_delivered(page["id"], page["items"])
        for item in page["items"]:
            self._refilled[f"{page['id']} {item['id']}"] = None
            self._refilled_until_s = max(self._refilled_until_s, item["tx_time"])
        while len(self._refilled) > MAX_REFILLED:
            del self._refilled[next(iter(self._refilled))]


def _chain_of(cursor: str) -> str:
    return cursor.split(":")[1]

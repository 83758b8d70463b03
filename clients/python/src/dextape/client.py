from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from ._connection import Connection
from ._generated import AsyncOperations, Operations
from ._refill import Refiller
from ._rest import Rest
from ._subscription import AsyncSubscription, Item

T = TypeVar("T")


class AsyncClient(AsyncOperations):
    """A method per REST operation, and subscriptions as async iterators. Use it inside one event loop."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout_s: float = 30,
        min_backoff_s: float = 0.25,
        max_backoff_s: float = 15,
        on_retry: Callable[[BaseException, float], None] = lambda error, delay_s: None,
    ) -> None:
        self._rest = Rest(url, key, timeout_s)
        self._refiller = Refiller(self._rest.get, min_backoff_s, max_backoff_s)
        self._connections: list[Connection] = []
        self._backoff = (min_backoff_s, max_backoff_s, on_retry)

    async def call(self, operation: str, params: dict[str, Any]) -> Any:
        return await self._rest.call(operation, params)

    async def get(self, path: str, query: dict[str, Any] | None = None) -> Any:
        """Any path of the server, such as the `refill` of a gap."""
        return await self._rest.get(path, query)

    def subscribe(
        self,
        topic: str,
        *args: Any,
        since: str | Iterable[str] | None = None,
        snapshot: bool = False,
        on_slow: str | None = None,
        max_queued: int = 1000,
        refill: bool = True,
    ) -> AsyncSubscription:
        """`subscribe("tx", pair, chain)`, `subscribe("price", [id, …])`: the params of the protocol."""
        params = [topic, *args]
        # The server takes the same params on one socket for one subscription.
        connection = next((one for one in self._connections if one.has_room_for(params)), None)
        if connection is None:
            connection = Connection(self._fresh_url, *self._backoff)
            self._connections.append(connection)
        subscription = AsyncSubscription(
            params,
            connection,
            self._refiller,
            since=since,
            snapshot=snapshot,
            on_slow=on_slow,
            max_queued=max_queued,
            refill=refill,
        )
        connection.attach(subscription)
        return subscription

    async def close(self) -> None:
        """Ends all subscriptions and closes the socket."""
        for connection in self._connections:
            await connection.close()
        await self._rest.http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _fresh_url(self) -> str:
        return (await self.ws_token())["url"]


class Client(Operations):
    """The same without async: a thread runs an `AsyncClient`, so both resume, refill and pause alike."""

    def __init__(self, url: str, key: str, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="dextape", daemon=True)
        self._thread.start()

        async def create() -> AsyncClient:
            return AsyncClient(url, key, **options)

        self._client = self._wait(create())

    def call(self, operation: str, params: dict[str, Any]) -> Any:
        return self._wait(self._client.call(operation, params))

    def get(self, path: str, query: dict[str, Any] | None = None) -> Any:
        """Any path of the server, such as the `refill` of a gap."""
        return self._wait(self._client.get(path, query))

    def subscribe(self, topic: str, *args: Any, **options: Any) -> Subscription:
        """`subscribe("tx", pair, chain)`, `subscribe("price", [id, …])`; options as of `AsyncClient.subscribe`."""

        async def create() -> AsyncSubscription:
            return self._client.subscribe(topic, *args, **options)

        return Subscription(self._wait(create()), self._wait)

    def close(self) -> None:
        """Ends all subscriptions and closes the socket."""
        if self._loop.is_closed():
            return
        self._wait(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            # After Ctrl-C nothing may take the next item unseen.
            future.cancel()
            raise


class Subscription:
    """A subscription as an iterator: see `AsyncSubscription`."""

    def __init__(self, inner: AsyncSubscription, wait: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._inner = inner
        self._wait = wait

    @property
    def cursor(self) -> list[str]:
        return self._inner.cursor

    @property
    def queued(self) -> int:
        return self._inner.queued

    @property
    def is_paused(self) -> bool:
        return self._inner.is_paused

    def started(self) -> dict[str, Any]:
        result: dict[str, Any] = self._wait(self._inner.started())
        return result

    def close(self) -> None:
        self._wait(self._inner.close())

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Subscription:
        return self

    def __next__(self) -> Item:
        item: Item | None = self._wait(self._next())
        if item is None:
            raise StopIteration
        return item

    async def _next(self) -> Item | None:
        """None at the end: StopAsyncIteration cannot pass through a future."""
        return await anext(self._inner, None)

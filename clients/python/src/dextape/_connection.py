"""One socket for many subscriptions. It is open while there are any, and opened again after each loss, with backoff."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from .errors import DextapeError, rpc_error

# Limits of the server.
MAX_SUBSCRIPTIONS = 1000
MAX_BATCH = 100
MAX_FRAME_CHARACTERS = 60_000
MAX_PUSH_BYTES = 64 * 2**20


class Feed(Protocol):
    """A subscription as its connection sees it."""

    params: list[Any]

    def request(self) -> list[Any]: ...
    def is_wanted(self) -> bool: ...
    def is_started(self) -> bool: ...
    def acknowledge(self, reply: dict[str, Any]) -> None: ...
    def receive(self, result: dict[str, Any]) -> None: ...
    def fail(self, error: BaseException) -> None: ...
    def end(self) -> None: ...


class _State:
    def __init__(self, name: str) -> None:
        self.name = name
        self.id: int | None = None
        self.refusals = 0


class Connection:
    def __init__(
        self,
        fresh_url: Callable[[], Awaitable[str]],
        min_backoff_s: float,
        max_backoff_s: float,
        on_retry: Callable[[BaseException, float], None],
    ) -> None:
        self._fresh_url = fresh_url
        self._min_backoff_s = min_backoff_s
        self._max_backoff_s = max_backoff_s
        self._on_retry = on_retry
        self._feeds: dict[Feed, _State] = {}
        # Each request has a new id: what still arrives for an earlier one is ignored.
        self._feed_by_id: dict[int, Feed] = {}
        self._last_id = 0
        self._outbox: list[dict[str, Any]] = []
        self._outbox_filled = asyncio.Event()
        self._socket: ClientConnection | None = None
        self._has_connected = False
        self._attempt = 0
        self._running: asyncio.Task[None] | None = None
        self._trying: asyncio.Task[None] | None = None

    def has_room_for(self, params: list[Any]) -> bool:
        name = server_name_of(params)
        return len(self._feeds) < MAX_SUBSCRIPTIONS and all(state.name != name for state in self._feeds.values())

    def attach(self, feed: Feed) -> None:
        self._feeds[feed] = _State(server_name_of(feed.params))
        if self._running is None or self._running.done():
            self._running = asyncio.get_running_loop().create_task(self._run())
        else:
            self.resume(feed)

    def detach(self, feed: Feed) -> None:
        if feed in self._feeds:
            self._remove(feed)

    def pause(self, feed: Feed) -> None:
        """Stops the pushes of a feed; `resume` asks for them again."""
        state = self._feeds.get(feed)
        if state is None or state.id is None:
            return
        del self._feed_by_id[state.id]
        state.id = None
        self._send({"jsonrpc": "2.0", "method": "unsubscribe", "params": feed.params})

    def resume(self, feed: Feed) -> None:
        state = self._feeds.get(feed)
        if state is None or self._socket is None or not feed.is_wanted():
            return
        if state.id is not None:
            del self._feed_by_id[state.id]
        self._last_id += 1
        state.id = self._last_id
        self._feed_by_id[state.id] = feed
        self._send({"jsonrpc": "2.0", "method": "subscribe", "params": feed.request(), "id": state.id})

    async def close(self) -> None:
        for feed in list(self._feeds):
            feed.end()
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)

    def _remove(self, feed: Feed, error: BaseException | None = None) -> None:
        self.pause(feed)
        del self._feeds[feed]
        if error is not None:
            feed.fail(error)
        if not self._feeds and self._trying is not None:
            self._trying.cancel()

    def _send(self, request: dict[str, Any]) -> None:
        if self._socket is not None:
            self._outbox.append(request)
            self._outbox_filled.set()

    async def _write(self, socket: ClientConnection) -> None:
        """What one turn asks for goes out in few frames: plans limit frames, not requests."""
        while True:
            await self._outbox_filled.wait()
            self._outbox_filled.clear()
            requests, self._outbox = self._outbox, []
            batch: list[str] = []
            for text in map(json.dumps, requests):
                if len(batch) == MAX_BATCH or sum(map(len, batch)) + len(text) > MAX_FRAME_CHARACTERS:
                    await socket.send(f"[{','.join(batch)}]")
                    batch = []
                batch.append(text)
            if batch:
                await socket.send(f"[{','.join(batch)}]")

    async def _run(self) -> None:
        while self._feeds:
            self._trying = asyncio.get_running_loop().create_task(self._try_socket())
            await asyncio.wait([self._trying])
            error = None if self._trying.cancelled() else self._trying.exception()
            if error is not None:
                for feed in list(self._feeds):
                    self._remove(feed, error)

    async def _try_socket(self) -> None:
        """Ends when the socket is lost, after the wait before the next one. Raises what a new attempt cannot help."""
        try:
            await self._run_socket()
        except DextapeError as error:
            if _is_fatal(error, self._has_connected):
                raise
            delay_s = max(self._backoff_s(self._attempt), error.retry_after_s or 0)
            self._attempt += 1
            self._on_retry(error, delay_s)
            await asyncio.sleep(delay_s)

    async def _run_socket(self) -> None:
        url = await self._fresh_url()
        writing: asyncio.Task[None] | None = None
        refusal: DextapeError | None = None
        try:
            async with connect(url, compression=None, max_size=MAX_PUSH_BYTES) as socket:
                self._socket = socket
                writing = asyncio.get_running_loop().create_task(self._write(socket))
                for feed in list(self._feeds):
                    self.resume(feed)
                async for text in socket:
                    frame = json.loads(text)
                    frames = frame if isinstance(frame, list) else [frame]
                    if "error" in frames[0] and "id" not in frames[0]:
                        refusal = rpc_error(frames[0]["error"])
                        continue
                    self._has_connected = True
                    for one in frames:
                        self._take(one)
                raise refusal or DextapeError("closed", f"The socket was closed ({socket.close_code}).")
        except (OSError, ConnectionClosed, WebSocketException) as error:
            raise refusal or DextapeError("closed", f"The socket was closed ({error}).") from error
        finally:
            if writing is not None:
                writing.cancel()
            self._socket = None
            self._outbox = []
            self._feed_by_id.clear()
            for state in self._feeds.values():
                state.id = None

    def _take(self, frame: dict[str, Any]) -> None:
        feed = self._feed_by_id.get(frame.get("id", -1))
        if feed is None:
            return
        result = frame.get("result")
        if "error" in frame:
            self._refuse(feed, rpc_error(frame["error"]))
        elif isinstance(result, dict) and "topic" not in result and isinstance(result.get("cursor"), list):
            self._feeds[feed].refusals = 0
            self._attempt = 0
            feed.acknowledge(result)
        elif isinstance(result, dict):
            feed.receive(result)

    def _refuse(self, feed: Feed, error: DextapeError) -> None:
        state = self._feeds[feed]
        if state.id is not None:
            del self._feed_by_id[state.id]
            state.id = None
        if not (feed.is_started() and (error.code == "limit_exceeded" or error.is_retryable)):
            self._remove(feed, error)
            return
        delay_s = self._backoff_s(state.refusals)
        state.refusals += 1
        self._on_retry(error, delay_s)
        socket = self._socket

        def again() -> None:
            if self._socket is socket and state.id is None:
                self.resume(feed)

        asyncio.get_running_loop().call_later(delay_s, again)

    def _backoff_s(self, failures: int) -> float:
        """Half of it is random, so that clients of a restarted server do not come back at once."""
        whole = min(self._max_backoff_s, self._min_backoff_s * 2 ** min(failures, 16))
        return float(whole / 2 + random.random() * whole / 2)


def _is_fatal(error: DextapeError, has_connected: bool) -> bool:
    """Once connected, a refused socket is retried: its token request shows if the key is still valid."""
    if error.is_retryable:
        return False
    return not (has_connected and error.status is None and error.code in ("key_invalid", "limit_exceeded"))


def server_name_of(params: list[Any]) -> str:
    """Two subscriptions with the same name here are one to the server, if they share a socket."""
    topic, *args = params
    items = args[0] if topic == "price" else args if topic == "multi_kline" else [args]
    names = sorted({json.dumps(item).lower() for item in items})
    return f"{'kline' if topic == 'multi_kline' else topic} {' '.join(names)}"

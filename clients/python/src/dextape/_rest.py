from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import httpx

from ._generated import OPERATIONS
from .errors import DextapeError


class Rest:
    """Requests to the REST port, with the envelope removed and problems raised."""

    def __init__(self, url: str, key: str, timeout_s: float) -> None:
        self.base = url.rstrip("/")
        self.timeout_s = timeout_s
        headers = {"X-API-KEY": key, "X-Envelope": "always"}
        self.http = httpx.AsyncClient(headers=headers, timeout=timeout_s)

    async def call(self, operation: str, params: dict[str, Any]) -> Any:
        method, path, in_body = OPERATIONS[operation]
        given = {name: value for name, value in params.items() if value is not None}
        path = re.sub(r"\{(\w+)\}", lambda match: quote(str(given.pop(match[1])), safe=""), path)
        body = {name: given.pop(name) for name in in_body if name in given} if in_body else None
        return await self.request(method, path, given, body)

    async def get(self, path: str, query: dict[str, Any] | None = None) -> Any:
        """Any path of the server, such as the `refill` of a gap."""
        return await self.request("GET", path, query, None)

    async def request(self, method: str, path: str, query: dict[str, Any] | None, body: Any) -> Any:
        what = f"{method} {path.split('?')[0]}"
        try:
            response = await self.http.request(method, f"{self.base}{path}", params=query or None, json=body)
        except httpx.TimeoutException as error:
            raise DextapeError("timeout", f"{what} timed out after {self.timeout_s} s.") from error
        except httpx.HTTPError as error:
            raise DextapeError("unreachable", f"{what} failed: no answer from {self.base}.") from error
        # Not JSON lines: those are as they came, like other files.
        is_json = re.search(r"\bjson\b", response.headers.get("content-type", "")) is not None
        content: Any = response.json() if is_json else response.content
        if response.is_success:
            is_wrapped = isinstance(content, dict) and "data" in content and "data_type" in content
            return content["data"] if is_wrapped else content
        problem = content if isinstance(content, dict) else {}
        retry_after = response.headers.get("retry-after", "")
        raise DextapeError(
            problem.get("code", f"http_{response.status_code}"),
            f"{what} failed ({response.status_code}): {problem.get('detail', 'no reason given')}",
            status=response.status_code,
            retry_after_s=float(retry_after) if retry_after.isdigit() else None,
        )

from __future__ import annotations

_CREATE_KEY = "Create a key with `dextape keys create` and pass it as `key`."
_ACTIONS = {
    "key_missing": _CREATE_KEY,
    "key_invalid": _CREATE_KEY,
    "key_expired": _CREATE_KEY,
    "unreachable": "Check `url` and that the server is running.",
    "timeout": "Retry, ask for less, or raise `timeout_s`.",
    "rate_limited": "Wait for `retry_after_s`, or use a key with a larger plan.",
    "cu_exhausted": "Wait for the next month, or use a key with a larger plan.",
    "limit_exceeded": "Close other subscriptions, or use a key with a larger plan.",
    "params_invalid": "Correct the parameters.",
    "after_unknown": "Read by time from there.",
    "gap_unbounded": "Read the history you need by REST.",
}
_RETRYABLE = {"unreachable", "timeout", "closed", "internal"}


class DextapeError(Exception):
    """What failed, why, and what to do about it. REST, sockets and subscriptions all raise this."""

    def __init__(
        self, code: str, reason: str, *, status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        can_retry = code in _RETRYABLE or status == 429 or (status or 0) >= 500
        #: What to do about it.
        self.action = _ACTIONS.get(code, "Retry later." if can_retry else "Correct the request.")
        super().__init__(f"{reason} {self.action}")
        #: As in the server's answer (`key_invalid`, `rate_limited` …), or `unreachable`, `timeout`, `params_invalid`,
        #: `limit_exceeded`.
        self.code = code
        #: HTTP status; None if there was no answer.
        self.status = status
        #: True if the same call can succeed later.
        self.is_retryable = can_retry and code != "cu_exhausted"
        #: How long the server asks to wait.
        self.retry_after_s = retry_after_s


def rpc_error(error: dict[str, object]) -> DextapeError:
    """An error of JSON-RPC, by its number."""
    number, message = error.get("code"), str(error.get("message", ""))
    if number == -1:
        return DextapeError("key_invalid", f"{message}.")
    if number == -32005:
        return DextapeError("limit_exceeded", message)
    return DextapeError("internal" if number == -32603 else "params_invalid", message)

"""Client of Dextape: typed REST, and subscriptions that resume, refill gaps and apply backpressure."""

from ._generated import Candle, LiquidityEvent, PairDetail, Swap
from ._subscription import AsyncSubscription, Item
from .client import AsyncClient, Client, Subscription
from .errors import DextapeError
from .frames import to_pandas, to_polars

__all__ = [
    "AsyncClient",
    "AsyncSubscription",
    "Candle",
    "Client",
    "DextapeError",
    "Item",
    "LiquidityEvent",
    "PairDetail",
    "Subscription",
    "Swap",
    "to_pandas",
    "to_polars",
]

"""Limits how many requests of agents are handled at the same time, because each may hold megabytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from ..web import ApiProblem

#: The limits of all tokens together, and of one token. The other requests of a token wait, and take no place
#: from other tokens.
MAX_WORKING, MAX_OF_TOKEN = 32, 8
#: How long a request waits for its turn, in seconds.
MAX_WAIT = 8.0


class RequestSlots:
    def __init__(self) -> None:
        self._all = asyncio.Semaphore(MAX_WORKING)
        self._by_token: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, token: str) -> AsyncGenerator[None]:
        """The request is handled while the block runs. Don't wait for people in it. Raises ApiProblem if its
        turn does not come in time.
        """
        of_token = self._by_token.setdefault(token, asyncio.Semaphore(MAX_OF_TOKEN))
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(MAX_WAIT):
                    await held.enter_async_context(of_token)
                    await held.enter_async_context(self._all)
            except TimeoutError:
                detail = (
                    f"No place became free in {MAX_WAIT:g} seconds. Send the request again later."
                )
                raise ApiProblem("too_many", detail, headers={"Retry-After": "5"}) from None
            yield

"""The HTTP client for Microsoft's services. It limits the memory that an answer takes before it is parsed."""

from __future__ import annotations

from typing import Any

import httpx

#: The largest answer, in bytes after decompression. The largest real one is a page of 999 members, with less
#: than 1 MiB.
MAX_ANSWER = 4 * 1024 * 1024
#: These headers are about the bytes on the network; the answer is decompressed here.
_TRANSFER_HEADERS = {"content-encoding", "content-length", "transfer-encoding"}


class BoundedClient(httpx.AsyncClient):
    """Raises httpx.ReadError for a longer answer, and for one that is packed several times: each time can
    make it a thousand times longer at once.
    """

    async def send(
        self, request: httpx.Request, *, stream: bool = False, **options: Any
    ) -> httpx.Response:
        answer = await super().send(request, stream=True, **options)
        if stream:
            return answer
        data = bytearray()
        try:
            if "," in answer.headers.get("content-encoding", ""):
                raise httpx.ReadError("the answer is packed several times", request=request)
            async for part in answer.aiter_bytes():
                data += part
                if len(data) > MAX_ANSWER:
                    raise httpx.ReadError("the answer is too long", request=request)
        finally:
            await answer.aclose()
        headers = [
            (name, value)
            for name, value in answer.headers.multi_items()
            if name not in _TRANSFER_HEADERS
        ]
        return httpx.Response(
            answer.status_code,
            headers=headers,
            content=bytes(data),
            request=request,
            history=answer.history,
        )

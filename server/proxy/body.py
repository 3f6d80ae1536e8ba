"""Reading a request's body from ASGI messages, within a bound."""

from __future__ import annotations

from starlette.types import Receive

from .request import Refused


class Gone(Exception):
    """The client left before it had sent everything."""


async def whole(receive: Receive, limit: int) -> bytes:
    """The whole body. Raises `Refused` above `limit` bytes, `Gone` where the client hangs up first."""
    message = await receive()
    body: bytes = message.get("body", b"")
    parts = [body]
    size = len(body)
    while message["type"] != "http.disconnect" and message.get("more_body"):
        if size > limit:
            break
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
    if message["type"] == "http.disconnect":
        raise Gone
    if size > limit:
        raise Refused(413, f"the request body is larger than {limit} bytes", "request_too_large")
    return body if len(parts) == 1 else b"".join(parts)


async def disconnected(receive: Receive) -> None:
    """Returns when the client hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass

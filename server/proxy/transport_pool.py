"""The connections to one origin: the youngest idle one is used again, idle ones do not grow old."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from typing import cast

from aiohappyeyeballs import AddrInfoType, start_connection

from .transport import Answer, Origin, Outgoing
from .transport_channel import Channel, Stale

IDLE_CONNECTION = 15.0  # seconds a pooled connection may wait; longer, and the upstream is likely to have closed it
ADDRESS_AGE = 10.0  # seconds a resolved name is believed
STAGGER = 0.25  # seconds before the next address is tried beside one that does not answer (RFC 8305)


class Pool:
    """A `transport.Transport` for one origin, of any number of connections."""

    def __init__(self, origin: Origin, context: ssl.SSLContext) -> None:
        self._origin = origin
        self._context = context if origin.tls else None
        self._channels: set[Channel] = set()
        self._idle: deque[Channel] = deque()  # of these, the youngest on the right
        self._sweep: asyncio.TimerHandle | None = None
        self._addresses: list[AddrInfoType] = []
        self._resolved = 0.0  # loop's time
        self._resolving = asyncio.Lock()

    async def send(self, request: Outgoing) -> Answer:
        """Send it on an idle connection, else on a new one. A `TimeoutError` is that of connecting."""
        channel = self._youngest(asyncio.get_running_loop().time())
        if channel is not None:
            try:
                return await channel.ask(request)
            except Stale:
                if not request.repeatable:
                    raise
        async with asyncio.timeout(request.connect):
            channel = await self._connected()
        return await channel.ask(request)

    async def aclose(self) -> None:
        """Close every connection."""
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        self._idle.clear()
        for channel in tuple(self._channels):
            channel.abort()

    def freed(self, channel: Channel) -> None:
        """Take a connection back."""
        channel.since = channel.loop.time()
        self._idle.append(channel)
        if self._sweep is None:
            self._sweep = channel.loop.call_later(IDLE_CONNECTION, self._expire)

    def lost(self, channel: Channel) -> None:
        """Forget a connection. Where it is idle, it is skipped when its turn comes."""
        self._channels.discard(channel)

    def _youngest(self, now: float) -> Channel | None:
        while self._idle:
            channel = self._idle.pop()
            if channel.usable and now - channel.since < IDLE_CONNECTION:
                return channel
            channel.abort()
        return None

    def _expire(self) -> None:
        """Close what was idle for too long, and come again while there is anything idle."""
        self._sweep = None
        loop = asyncio.get_running_loop()
        oldest = loop.time() - IDLE_CONNECTION
        while self._idle and (self._idle[0].since <= oldest or not self._idle[0].usable):
            self._idle.popleft().abort()
        if self._idle:
            self._sweep = loop.call_at(self._idle[0].since + IDLE_CONNECTION, self._expire)

    async def _connected(self) -> Channel:
        loop = asyncio.get_running_loop()
        addresses = await self._resolve(loop)
        channel = Channel(loop, self)
        tls = {"ssl": self._context, "server_hostname": self._origin.host} if self._context is not None else {}
        if len(addresses) == 1 and len(addresses[0][4]) == 2:  # the loop does it all, and faster
            host, port = addresses[0][4][:2]
            await loop.create_connection(lambda: channel, host, port, **tls)  # type: ignore[call-overload]
        else:
            sock = await start_connection(addresses, happy_eyeballs_delay=STAGGER, loop=loop)
            try:
                await loop.create_connection(lambda: channel, sock=sock, **tls)  # type: ignore[call-overload]
            except BaseException:
                sock.close()
                raise
        self._channels.add(channel)
        return channel

    async def _resolve(self, loop: asyncio.AbstractEventLoop) -> list[AddrInfoType]:
        async with self._resolving:  # many that connect at once ask once
            if not self._addresses or loop.time() - self._resolved > ADDRESS_AGE:
                origin = self._origin
                found = await loop.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
                self._addresses = cast("list[AddrInfoType]", found)
                self._resolved = loop.time()
            return self._addresses

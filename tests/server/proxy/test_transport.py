"""The connections to an upstream: used again, bounded, given up at once, and never mistaken for one another."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from faultwise.server.proxy.kinds import FAILURES, kind
from faultwise.server.proxy.transport import Answer, Foreign, Origin, Outgoing, Transport
from faultwise.server.proxy.transport_channel import HEAD_LIMIT, HEADER_LIMIT, READ_BUFFER
from faultwise.server.proxy.transport_pool import Pool

PATIENCE = 10.0  # seconds after which a test that waits has failed
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
Script = Callable[["Peer", int], Awaitable[bool]]


class Peer:
    """An upstream: what one connection of it was sent, and a hand on what it answers."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.head = b""
        self.body = b""
        self.left = asyncio.Event()  # no further request came

    async def request(self) -> None:
        self.head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(self.head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        self.body = await self.reader.readexactly(length)

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


class Upstream:
    """Serves each request with `script`, which says whether the connection stays."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.peers: list[Peer] = []
        self.asked = 0

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(reader, writer)
        self.peers.append(peer)
        try:
            while True:
                await peer.request()
                self.asked += 1
                if not await self.script(peer, self.asked):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            peer.left.set()
            writer.close()


def served(script: Script, test: Callable[[Upstream, Pool, Origin], Awaitable[None]], **tls: Any) -> None:
    """Run a test against a real server on a socket."""

    async def run() -> None:
        upstream = Upstream(script)
        server = await asyncio.start_server(upstream.connection, "127.0.0.1", 0, ssl=tls.get("server"))
        origin = Origin("server" in tls, tls.get("host", "127.0.0.1"), server.sockets[0].getsockname()[1])
        pool = Pool(origin, tls.get("client") or ssl.create_default_context())
        try:
            async with asyncio.timeout(PATIENCE):
                await test(upstream, pool, origin)
        finally:
            await pool.aclose()
            server.close()

    asyncio.run(run())


def outgoing(origin: Origin, body: bytes = b"{}", **more: Any) -> Outgoing:
    return Outgoing(origin, b"upstream.example", b"/v1/x", [(b"x-one", b"1")], body, PATIENCE, **more)


async def whole(answer: Answer) -> bytes:
    pieces = []
    while piece := await answer.read():
        pieces.append(piece)
    return b"".join(pieces)


async def answered(peer: Peer, _: int) -> bool:
    await peer.say(OK)
    return True


def saying(*parts: bytes, stays: bool = False) -> Script:
    async def script(peer: Peer, _: int) -> bool:
        for part in parts:
            await peer.say(part)
        return stays

    return script


def test_a_request_arrives_as_it_was_given() -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        body = b"x" * 300_000  # more than is copied behind its head
        answer = await pool.send(outgoing(origin, body))
        assert (answer.status, answer.headers, await whole(answer)) == (200, ((b"content-length", b"2"),), b"ok")
        peer = upstream.peers[0]
        assert peer.head == (
            b"POST /v1/x HTTP/1.1\r\nhost: upstream.example\r\nx-one: 1\r\ncontent-length: 300000\r\n\r\n"
        )
        assert peer.body == body

    served(answered, test)


def test_a_connection_whose_answer_came_whole_is_used_again_read_or_not() -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        for _ in range(3):
            answer = await pool.send(outgoing(origin))
            while answer.ready() is None:
                await answer.read()
            await answer.close()
        assert (upstream.asked, len(upstream.peers)) == (3, 1)

    served(answered, test)


def test_requests_at_the_same_time_have_connections_of_their_own() -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        answers = await asyncio.gather(*(pool.send(outgoing(origin)) for _ in range(5)))
        assert [await whole(answer) for answer in answers] == [b"ok"] * 5
        assert len(upstream.peers) == 5

    served(answered, test)


def test_an_answer_that_is_given_up_ends_its_connection() -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        answer = await pool.send(outgoing(origin))
        assert await answer.read() == b"par"
        await answer.close()
        assert await upstream.peers[0].reader.read() == b""
        with pytest.raises(FAILURES):
            await answer.read()

    async def script(peer: Peer, _: int) -> bool:
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npar")
        await asyncio.Event().wait()
        return False

    served(script, test)


def test_a_request_that_is_cancelled_ends_its_connection() -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        task = asyncio.create_task(pool.send(outgoing(origin)))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await upstream.peers[0].reader.read() == b""

    reached = asyncio.Event()

    async def script(peer: Peer, _: int) -> bool:
        reached.set()
        await asyncio.Event().wait()
        return False

    served(script, test)


CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("parts", "stays", "body"),
    [
        ((CHUNKED, b"3\r\nabc\r\n", b"2\r\nde\r\n0\r\n\r\n"), True, b"abcde"),
        ((b"HTTP/1.1 200 OK\r\n\r\n", b"until ", b"the end"), False, b"until the end"),
        ((b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + OK), True, b"ok"),
        ((b"HTTP/1.1 204 No Content\r\n\r\n",), True, b""),
        ((OK.replace(b"content", b"connection: close\r\ncontent"),), False, b"ok"),
        ((OK[:20], OK[20:40], OK[40:]), True, b"ok"),
    ],
    ids=["chunks", "until the connection ends", "interim answers", "no body", "not kept alive", "in pieces"],
)
def test_every_framing_is_read(parts: tuple[bytes, ...], stays: bool, body: bytes) -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        for _ in range(2):
            assert await whole(await pool.send(outgoing(origin))) == body
        assert len(upstream.peers) == (1 if stays else 2)

    served(saying(*parts, stays=stays), test)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((), "reset"),
        ((b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort",), "truncated"),
        ((CHUNKED + b"3\r\nab",), "truncated"),
        ((b"HTTP/1.1 200 OK\r\ncontent-",), "truncated"),
        ((b"SSH-2.0-OpenSSH_9.2\r\n",), "truncated"),
        ((b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",), "truncated"),
        ((b"HTTP/1.1 200 OK\r\n" + b"a: " + b"x" * HEAD_LIMIT + b"\r\n" + b"b: y" * 10_000,), "truncated"),
        ((b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * (HEADER_LIMIT + 1) + b"\r\n",), "truncated"),
    ],
    ids=[
        "nothing",
        "a short body",
        "a short chunk",
        "half a head",
        "no http",
        "an upgrade",
        "a long head",
        "many headers",
    ],
)
def test_what_breaks_off_or_is_no_answer_is_a_failure_of_its_kind(parts: tuple[bytes, ...], expected: str) -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        with pytest.raises(FAILURES) as caught:
            await whole(await pool.send(outgoing(origin)))
        assert kind(caught.value) == expected

    served(saying(*parts), test)


@pytest.mark.parametrize(("repeatable", "asked"), [(True, 3), (False, 2)])
def test_a_pooled_connection_that_was_closed_meanwhile_is_replaced_once_where_that_is_allowed(
    repeatable: bool, asked: int
) -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        await whole(await pool.send(outgoing(origin)))
        if repeatable:
            assert await whole(await pool.send(outgoing(origin, repeatable=True))) == b"ok"
        else:
            with pytest.raises(httpx.ReadError):
                await pool.send(outgoing(origin))
        assert upstream.asked == asked

    async def script(peer: Peer, number: int) -> bool:
        if number == 2:
            return False  # as if it had been closing all along
        await peer.say(OK)
        return True

    served(script, test)


def test_a_connection_that_ends_while_it_is_idle_is_not_used_again() -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        for _ in range(2):
            await whole(await pool.send(outgoing(origin)))
            while pool._channels:  # until its end is known here too
                await asyncio.sleep(0)
        assert len(upstream.peers) == 2

    served(saying(OK), test)


def test_bytes_that_nobody_asked_for_end_the_connection() -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        assert await whole(await pool.send(outgoing(origin))) == b"ok"
        await upstream.peers[0].say(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil")
        await upstream.peers[0].left.wait()
        assert await whole(await pool.send(outgoing(origin))) == b"ok"
        assert len(upstream.peers) == 2

    served(answered, test)


def test_an_upstream_is_paused_while_nobody_reads() -> None:
    piece, pieces = b"x" * 262_144, 100  # far more than sockets hold

    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        answer = await pool.send(outgoing(origin))
        await stuck.wait()
        assert answer._held <= READ_BUFFER + 256 * 1024  # type: ignore[attr-defined]  # what one read may bring
        assert len(await whole(answer)) == len(piece) * pieces

    stuck = asyncio.Event()

    async def script(peer: Peer, _: int) -> bool:
        peer.writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (len(piece) * pieces))
        for _ in range(pieces):
            peer.writer.write(piece)
            drain = asyncio.ensure_future(peer.writer.drain())
            for _ in range(50):
                await asyncio.sleep(0)
            if not drain.done():
                stuck.set()
            await drain
        return True

    served(script, test)


def test_an_address_nobody_listens_on_is_refused() -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        nowhere = Pool(Origin(False, "127.0.0.1", 1), ssl.create_default_context())
        with pytest.raises(OSError) as caught:
            await nowhere.send(outgoing(origin))
        assert kind(caught.value) == "refused"

    served(answered, test)


def test_a_handshake_that_never_ends_is_a_connect_timeout() -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        silent = Pool(Origin(True, "127.0.0.1", origin.port), ssl.create_default_context())
        request = Outgoing(origin, b"x", b"/", [], b"", 0.05)
        with pytest.raises(TimeoutError) as caught:
            await silent.send(request)
        assert kind(caught.value) == "connect_timeout"
        assert not silent._channels

    served(answered, test)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of its own making for `localhost`, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    made, key = folder / "cert.pem", folder / "key.pem"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    words += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(made)]
    subprocess.run(words, check=True, capture_output=True)
    return made, key


def contexts(certificate: tuple[Path, Path], trusted: bool) -> dict[str, ssl.SSLContext]:
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(*certificate)
    return {"server": server, "client": ssl.create_default_context(cafile=certificate[0] if trusted else None)}


def test_tls_is_spoken_with_whom_is_trusted(certificate: tuple[Path, Path]) -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        for _ in range(2):
            assert await whole(await pool.send(outgoing(origin))) == b"ok"
        assert len(upstream.peers) == 1

    served(answered, test, host="localhost", **contexts(certificate, trusted=True))


@pytest.mark.parametrize(("host", "trusted"), [("localhost", False), ("127.0.0.1", True)], ids=["issuer", "name"])
def test_tls_is_refused_with_anyone_else(certificate: tuple[Path, Path], host: str, trusted: bool) -> None:
    async def test(upstream: Upstream, pool: Pool, origin: Origin) -> None:
        with pytest.raises(ssl.SSLError) as caught:
            await pool.send(outgoing(origin))
        assert kind(caught.value) == "tls"
        assert upstream.asked == 0

    served(answered, test, host=host, **contexts(certificate, trusted))


def test_a_transport_of_httpx_does_the_same() -> None:
    async def handler(request: httpx.Request) -> httpx.Response:
        assert (str(request.url), request.headers["x-one"]) == ("http://127.0.0.1:8080/v1/x", "1")
        assert (request.headers["host"], await request.aread()) == ("upstream.example", b"{}")
        return httpx.Response(201, headers={"X-Two": "2"}, content=b"made")

    async def run() -> None:
        transport: Transport = Foreign(httpx.MockTransport(handler))
        answer = await transport.send(outgoing(Origin(False, "127.0.0.1", 8080)))
        assert (answer.status, (b"x-two", b"2") in answer.headers, answer.ready()) == (201, True, None)
        assert await whole(answer) == b"made"
        await answer.close()
        await transport.aclose()

    asyncio.run(run())

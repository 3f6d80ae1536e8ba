"""Every exception a transport can raise has a kind."""

from __future__ import annotations

import asyncio
import socket
import ssl

import httpx
import pytest

from faultwise.engine.failure.record import TRANSPORT_KINDS
from faultwise.server.proxy.kinds import FAILURES, KINDS, kind

ROOTS = (httpx.HTTPError, httpx.InvalidURL, httpx.CookieConflict, httpx.StreamError)
HTTPX = [one for one in vars(httpx).values() if isinstance(one, type) and issubclass(one, ROOTS)]
NOT_RAISED = {httpx.CookieConflict}  # by a cookie jar, which we have none of


@pytest.mark.parametrize("error", HTTPX, ids=lambda error: f"{error.__module__}.{error.__name__}")
def test_every_exception_of_the_client_libraries_is_mapped(error: type[BaseException]) -> None:
    if error in NOT_RAISED:
        return
    assert any(ancestor in KINDS for ancestor in error.__mro__)
    assert issubclass(error, FAILURES)


def test_kinds_are_those_of_the_failure_record() -> None:
    assert set(KINDS.values()) <= set(TRANSPORT_KINDS)


def chained(outer: BaseException, *causes: BaseException) -> BaseException:
    at = outer
    for cause in causes:
        at.__cause__ = cause
        at = cause
    return outer


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (chained(httpx.ConnectError(""), ConnectionRefusedError()), "refused"),
        (chained(httpx.ConnectError(""), OSError(), socket.gaierror()), "dns"),
        (chained(httpx.ConnectError(""), ssl.SSLCertVerificationError()), "tls"),
        (chained(httpx.ReadError(""), ConnectionResetError()), "reset"),
        (chained(httpx.ReadError(""), asyncio.IncompleteReadError(b"", 1)), "truncated"),
        (TimeoutError(), "connect_timeout"),
        (httpx.ConnectTimeout(""), "connect_timeout"),
        (httpx.RemoteProtocolError(""), "truncated"),
        (httpx.DecodingError(""), "bad_encoding"),
    ],
    ids=str,
)
def test_the_innermost_cause_decides(error: BaseException, expected: str) -> None:
    assert kind(error) == expected


def test_a_timeout_is_of_the_deadline_that_was_running() -> None:
    assert kind(httpx.ReadTimeout(""), "first_byte_timeout") == "first_byte_timeout"

"""Who may be sent comments."""

from __future__ import annotations

import pytest

from faultwise.server.proxy.client import holds_events
from faultwise.server.proxy.endpoint import ENDPOINTS
from faultwise.server.proxy.request import Call

NAMED = {one.name: one for one in ENDPOINTS}


@pytest.mark.parametrize(
    ("endpoint", "stream", "query", "expected"),
    [
        ("chat", True, b"", True),
        ("chat", False, b"", False),
        ("responses", True, b"", True),
        ("messages", True, b"beta=true", True),
        ("audio", True, b"", False),
        ("generate", True, b"alt=sse", True),
        ("generate", True, b"", False),
        ("generate", False, b"alt=sse", False),
    ],
)
def test_only_who_awaits_server_sent_events(endpoint: str, stream: bool, query: bytes, expected: bool) -> None:
    call = Call("id", NAMED[endpoint], "/", query, (), b"", "m", stream, ())
    assert holds_events(call) is expected

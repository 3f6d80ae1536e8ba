"""The shipped envelopes, and short ways to write a failure."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

import pytest
import yaml

from faultwise.engine.failure.envelope import Envelopes, compile_envelopes
from faultwise.engine.failure.reading import Reading, read
from faultwise.engine.failure.record import Failure, Headers

Said = Callable[..., Reading]


@cache
def shipped_section() -> dict[str, Any]:
    text = files("faultwise.rules").joinpath("policy.yaml").read_text(encoding="utf-8")
    section: dict[str, Any] = yaml.safe_load(text)["envelopes"]
    return section


@pytest.fixture(scope="session")
def section() -> dict[str, Any]:
    """The `envelopes` section as shipped."""
    return shipped_section()


@pytest.fixture(scope="session")
def envelopes() -> Envelopes:
    """The shipped section, compiled."""
    return compile_envelopes(shipped_section())


@pytest.fixture(scope="session")
def said(envelopes: Envelopes) -> Said:
    """A reading of a response: its body as JSON-ready data, text or bytes, its status, and anything else of a failure."""

    def said(body: Any, status: int | None = 400, headers: Any = (), request: Any = None, **more: Any) -> Reading:
        failure = Failure(
            status=status, headers=Headers(headers), body=as_bytes(body), request=as_bytes(request) or None, **more
        )
        return read(failure, envelopes)

    return said


def as_bytes(value: Any) -> bytes:
    """What goes over the wire for a value."""
    if isinstance(value, bytes):
        return value
    if value is None:
        return b""
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).encode("utf-8", "surrogatepass")

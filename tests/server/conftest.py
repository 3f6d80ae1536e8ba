"""The upstreams that tests of the proxy stand before: `a` answers what it is told to, `b` is well."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.upstream import Upstream, ok


@pytest.fixture
def a() -> Iterator[Upstream]:
    with Upstream() as upstream:
        yield upstream


@pytest.fixture
def b() -> Iterator[Upstream]:
    with Upstream(ok("from b")) as upstream:
        yield upstream

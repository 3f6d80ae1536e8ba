"""The pages about the server name everything it answers to."""

from __future__ import annotations

from pathlib import Path

from faultwise.server.layers import KNOWN, variable
from faultwise.server.proxy.answers import headers
from faultwise.server.proxy.endpoint import ENDPOINTS
from faultwise.server.proxy.outcome import Outcome, Said

DOCS = Path(__file__).parents[2] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_every_endpoint_is_there_with_its_wire_and_its_name() -> None:
    rows = page("gateway.md").splitlines()
    for endpoint in ENDPOINTS:
        assert any(row.startswith(f"| `POST {endpoint.path}` | {endpoint.wire} | `{endpoint.name}` |") for row in rows)


def test_every_header_of_an_answer_is_there() -> None:
    told = headers("id", 1, "x/y", Outcome(429, "quota_exhausted", Said("x"), "rule", 5.0))
    for name, _ in told:
        assert f"| `{name.decode()}` |" in page("gateway.md")


def test_every_single_setting_is_there_with_its_variable() -> None:
    for name in KNOWN:
        assert f"| `{name}` |" in page("settings.md") and f"`{variable(name)}`" in page("settings.md")


def test_every_setting_of_the_log_is_explained() -> None:
    for name in (name for name in KNOWN if name.startswith("log.")):
        assert name in page("operations.md") or f"  {name.removeprefix('log.')}: " in page("operations.md"), name

"""One verdict, whatever the path: every kind of fault, in every wire, streamed or not, first or as a fallback."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from faultwise.server.proxy.endpoint import ENDPOINTS
from tests.faults.upstream import Upstream, error

from .gateway import Gateway, config, gateway, until
from .matrix import PATHS, Case, cases
from .matrix import Path as Way

CASES = tuple(cases())
LOCKS_END = 3 * 86_400.0  # seconds after which no lock with an end is left
WORDS = {"openai": "type", "anthropic": "type", "gemini": "status"}  # what every error object of a wire has


@dataclass
class Bench:
    """The server all cases share, an upstream that fails as it is told, and one that is well."""

    gateway: Gateway
    bad: Upstream
    good: Upstream


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("matrix")
    with Upstream() as bad, Upstream() as good:
        rows: list[dict[str, Any]] = [
            {"id": f"good-{wire}", "provider": "well", "wire": wire, "base_url": good.url} for wire in WORDS
        ]
        combos = {}
        nowhere = _closed_port()
        (folder / "rules").mkdir()
        for case in CASES:
            wire = case.path.wire
            refused = case.fault.answer(case.path) is None
            row = {"id": case.provider, "provider": case.provider, "wire": wire}
            row["base_url"] = f"http://127.0.0.1:{nowhere}" if refused else bad.url
            rows.append(row | ({"deadlines": {"first_byte": "60ms"}} if case.fault.name == "stall" else {}))
            targets = [{"connection": case.provider, "model": "m"}, {"connection": f"good-{wire}", "model": "m"}]
            if case.place == "second":
                id = f"x{case.number}"
                rows.append({"id": id, "provider": id, "wire": wire, "base_url": bad.url})
                targets.insert(0, {"connection": id, "model": "m"})
            combos[case.combo] = targets[:1] if case.place == "alone" else targets
            if case.fault.rule == "quota-exhausted":
                head = f"faultwise: 1\nkind: provider\nprovider: {case.provider}\nextends: agentrouter\n"
                (folder / "rules" / f"{case.provider}.yaml").write_text(head)
        with gateway(folder, config(rows, combos, rules="rules")) as made:
            yield Bench(made, bad, good)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_verdict_is_the_same_and_the_client_sees_the_right_thing(bench: Bench, case: Case) -> None:
    answer = _asked(bench, case)
    verdict = _verdict(bench, case)
    fault = case.fault
    assert (verdict["reason"], verdict["scope"]) == (fault.reason, fault.scope)
    assert fault.rule in ("", verdict["rule"])
    if case.falls_back:
        assert answer.status_code == 200
        assert answer.content == _whole(case.path)
        assert answer.headers["x-faultwise-target"] == "well/m"
        assert answer.headers["x-faultwise-attempts"] == ("3" if case.place == "second" else "2")
    elif fault.committed:
        assert answer.status_code == 200
        _ends_with_an_error(case, answer)
    elif case.place == "second":
        assert answer.headers["x-faultwise-attempts"] == "2"
        _is_error(case, answer.json())
    else:
        assert answer.status_code == verdict["status"]
        assert answer.headers["x-faultwise-reason"] == fault.reason
        assert answer.headers["x-faultwise-rule"] == verdict["rule"]
        assert answer.headers.get("retry-after") == (None if verdict["retry_after_s"] is None else "60")
        told = answer.json()
        _is_error(case, told)
        assert told["diagnostics"]["attempts"][0]["reason"] == fault.reason


@pytest.mark.parametrize("case", [case for case in CASES if case.place == "alone"], ids=str)
def test_the_verdict_is_the_same_when_it_is_tried_again_after_its_lock(bench: Bench, case: Case) -> None:
    bench.gateway.clock.ahead += LOCKS_END
    asked = _asked(bench, case).headers["x-faultwise-attempts"]
    if asked == "0":
        return  # closed until an operator opens it
    bench.gateway.clock.ahead += LOCKS_END
    _asked(bench, case)
    verdicts = [row["verdict"] for row in _logged(bench, case, 2)[:2]]
    assert {(one["reason"], one["scope"]) for one in verdicts} == {(case.fault.reason, case.fault.scope)}
    assert verdicts[0]["rule"] == verdicts[1]["rule"]


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_a_good_answer_passes_byte_for_byte_on_every_path(bench: Bench, path: Way) -> None:
    bench.good.script(path.good)
    model = f"good-{path.wire}/m"
    answer = bench.gateway.client.post(path.url.format(model), json=path.request(model))
    assert (answer.status_code, answer.content) == (200, _whole(path))


def _asked(bench: Bench, case: Case) -> httpx.Response:
    bad = case.fault.answer(case.path)
    first = [error(500, "boom")] if case.place == "second" else []
    bench.bad.script(*first, *((bad,) if bad is not None else ()))
    bench.good.script(case.path.good)
    return bench.gateway.client.post(case.path.url.format(case.combo), json=case.path.request(case.combo))


def _verdict(bench: Bench, case: Case) -> dict[str, Any]:
    """The verdict as the decision log has it."""
    (row,) = _logged(bench, case, 1)
    verdict: dict[str, Any] = row["verdict"]
    return verdict


def _logged(bench: Bench, case: Case, count: int) -> list[dict[str, Any]]:
    """The lines about a case's failing target, the newest first, once there are so many."""
    found: list[dict[str, Any]] = []

    def enough() -> bool:
        found[:] = bench.gateway.client.get("/api/decisions", params={"provider": case.provider}).json()
        return len(found) >= count

    until(enough)
    return found


def _whole(path: Way) -> bytes:
    good = path.good.body
    return good if isinstance(good, bytes) else b"".join(part for part in good if isinstance(part, bytes))


def _is_error(case: Case, told: dict[str, Any]) -> None:
    """An error object of the client's own wire."""
    own = told["error"]
    assert own["message"] and own[WORDS[case.path.wire]]
    if case.path.wire == "anthropic":
        assert told["type"] == "error"
    if case.path.wire == "gemini":
        assert isinstance(own["code"], int)


def _ends_with_an_error(case: Case, answer: httpx.Response) -> None:
    events = [part for part in answer.text.split("\n\n") if part]
    if case.path.wire == "openai" and case.path.name != "responses":
        assert events.pop() == "data: [DONE]"
    *before, last = events
    assert "hi" in before[-1]
    told = json.loads(last.rpartition("data: ")[2])
    _is_error(case, told)
    assert told["error"]["reason"] == case.fault.reason
    assert last.startswith("event: error\n") == (case.path.wire == "anthropic" or case.path.name == "responses")


def _closed_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def test_there_is_a_path_for_every_endpoint() -> None:
    assert {endpoint.name for endpoint in ENDPOINTS} == {path.name for path in PATHS}

"""Nothing waits for the log; what it cannot take is counted."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faultwise.engine.failure.record import Failure, Headers
from faultwise.engine.history.log import read
from faultwise.engine.policy.policy import Policy
from faultwise.engine.verdict.decide import conclude, decide
from faultwise.server.journal.file import Keep
from faultwise.server.journal.line import BODY_LIMIT, Attempt, Keeping
from faultwise.server.journal.recent import Wanted, unmatched
from faultwise.server.journal.writer import WEIGHT_LIMIT, Journal

NOW = 1_790_000_000.25
FAILURE = Failure(
    provider="agentrouter",
    connection="a",
    model="m",
    status=403,
    headers=Headers({"Content-Type": "application/json; charset=gbk", "Retry-After": "30", "X-Private": "x"}),
    body='{"error": {"message": "用户额度不足, ask ops@example.com"}}'.encode("gbk"),
    now=NOW,
    attempt=2,
    request=b'{"model": "coding"}',
)


@pytest.fixture
def make(shipped: Policy) -> Callable[..., Attempt]:
    def make(failure: Failure = FAILURE, **more: Any) -> Attempt:
        entry = Attempt("fw-1", "chat", "agentrouter/m", conclude(shipped, failure), NOW, 1, (), (), Keeping())
        return replace(entry, **more)

    return make


@pytest.fixture
def journal() -> Iterator[Journal]:
    made = Journal(lambda: NOW)
    made.configure(None, 10)
    yield made
    made.close()


def test_a_line_is_decided_again_as_it_was(shipped: Policy, make: Callable[..., Attempt]) -> None:
    row = make().row()
    recorded = read(json.dumps(row).encode(), 1, 0.0)
    assert recorded.failure is not None and recorded.verdict == row["verdict"]
    assert decide(shipped, recorded.failure).to_json() == row["verdict"]
    assert row["body"] == '{"error": {"message": "用户额度不足, ask [email]"}}'
    assert row["headers"] == {"content-type": "application/json", "retry-after": "30"}
    assert (row["time"], row["attempt"], row["id"]) == ("2026-09-21T14:13:20.250000Z", 2, "fw-1/2")


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (200, {"content-encoding": "gzip", "content-type": "application/json"}, b"\x1f\x8b\x08\x00broken"),
        (403, {"content-encoding": "gzip", "content-type": "application/json"}, b"\x1f\x8b\x08\x00broken"),
        (502, {"content-type": "text/html"}, b"<html><title>502 Bad Gateway</title><body>cloudflare</body></html>"),
        (403, {"content-type": "application/json"}, b'{"error": {"message": "\\u989d\\u5ea6\\u4e0d\\u8db3"}}'),
    ],
    ids=["bad gzip in a 200", "bad gzip", "html", "escaped"],
)
def test_whatever_was_read_is_decided_again_as_it_was(
    shipped: Policy, make: Callable[..., Attempt], status: int, headers: dict[str, str], body: bytes
) -> None:
    row = make(replace(FAILURE, status=status, headers=Headers(headers), body=body)).row()
    recorded = read(json.dumps(row).encode(), 1, 0.0)
    assert recorded.failure is not None
    assert decide(shipped, recorded.failure).to_json() == row["verdict"]


def test_a_body_is_bounded_and_can_be_left_out(make: Callable[..., Attempt]) -> None:
    long = replace(FAILURE, body=b"many words " * 5000, headers=Headers())
    assert len(make(long).row()["body"]) == BODY_LIMIT
    assert make(keeping=Keeping(bodies=False)).row()["body"] == ""


def test_a_credential_at_the_cut_is_not_half_kept(make: Callable[..., Attempt]) -> None:
    body = b"sk-abcdefgh1 " * 1200 + b" sk-abcdefghijklmnopqrstuvwxyz123456"
    for cut in range(16_380 - 40, 16_380 + 40, 7):
        row = make(replace(FAILURE, body=b"x" * (cut - 12_000) + b" " + body, headers=Headers())).row()
        assert "sk-" not in row["body"]


def test_lines_reach_the_file_and_memory(tmp_path: Path, journal: Journal, make: Callable[..., Attempt]) -> None:
    path = tmp_path / "log.jsonl"
    journal.configure(Keep(path), 10)
    journal.start()
    journal.put(make())
    assert journal.settle(5)
    assert [json.loads(one) for one in path.read_bytes().splitlines()] == journal.recent.find(Wanted())
    assert (journal.written, journal.dropped, journal.waiting) == (1, 0, 0)


def test_a_log_can_be_moved_while_it_is_written(tmp_path: Path, journal: Journal, make: Callable[..., Attempt]) -> None:
    journal.start()
    for name in ("a", "b"):
        journal.configure(Keep(tmp_path / name), 10)
        journal.put(make())
        assert journal.settle(5)
    journal.configure(None, 10)
    journal.put(make())
    assert journal.settle(5)
    assert [len((tmp_path / name).read_bytes().splitlines()) for name in ("a", "b")] == [1, 1]
    assert len(journal.recent.find(Wanted())) == 3


def test_more_than_may_wait_are_dropped_and_counted(journal: Journal, make: Callable[..., Attempt]) -> None:
    for _ in range(14):  # nobody writes yet
        journal.put(make())
    assert (journal.waiting, journal.dropped) == (10, 4)
    journal.start()
    journal.close()
    assert len(journal.recent.find(Wanted())) == 10


def test_bodies_that_wait_are_bounded_together(journal: Journal, make: Callable[..., Attempt]) -> None:
    big = make(replace(FAILURE, request=b"x" * (WEIGHT_LIMIT // 2)))
    journal.put(big)
    journal.put(big)
    assert (journal.waiting, journal.dropped) == (1, 1)


def test_a_disk_that_refuses_costs_lines_and_nothing_else(
    tmp_path: Path, journal: Journal, make: Callable[..., Attempt], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "no" / "log.jsonl"
    (tmp_path / "no").write_text("a file, not a directory")
    journal.configure(Keep(path), 10)
    journal.start()
    for _ in range(2):
        journal.put(make())
        assert journal.settle(5)
    assert (journal.written, journal.dropped) == (0, 2)
    assert len([one for one in caplog.records if "cannot be written" in one.message]) == 1
    (tmp_path / "no").unlink()
    journal.put(make())
    assert journal.settle(5)
    assert journal.written == 1


def test_the_request_is_never_kept_waiting_by_a_slow_writer(journal: Journal, make: Callable[..., Attempt]) -> None:
    gate = threading.Event()

    class Slow(Attempt):
        def row(self) -> dict[str, Any]:
            gate.wait(5)
            return super().row()

    entry = make()
    slow = Slow(*(getattr(entry, name) for name in Attempt.__slots__))
    journal.start()
    for _ in range(100):
        journal.put(slow)
    assert journal.waiting + journal.dropped == 100
    gate.set()


def test_what_no_rule_knows_is_gathered_with_a_rule_to_begin_with(
    shipped: Policy, make: Callable[..., Attempt]
) -> None:
    odd = replace(
        FAILURE, provider="acme", status=418, headers=Headers(), body=b'{"error": {"message": "teapot 17 is hot"}}'
    )
    rows = [make(odd).row(), make(replace(odd, body=b'{"error": {"message": "teapot 18 is hot"}}')).row(), make().row()]
    wanted = Wanted(unmatched=True)
    (group,) = unmatched([row for row in rows if wanted.holds(row)], shipped)
    assert (group["count"], group["provider"], group["status"]) == (2, "acme", 418)
    assert 'provider: "acme"' in group["starter"]

"""The one wait an upstream states: sources in the order of trust, and the adapter for a reading."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.envelope import compile_envelopes
from faultwise.engine.failure.reading import read
from faultwise.engine.failure.record import Failure, Headers
from faultwise.engine.failure.stated import SOURCES, Stated, find, find_stated
from faultwise.engine.failure.stated.value import LIMIT
from faultwise.engine.policy.model import Provider

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC).timestamp()
RPC = {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"}]}
BODY = {"retry_after": 3}
PROSE = "try again in 4s"


def test_a_header_is_trusted_before_rpc_before_body_before_prose() -> None:
    header = Headers({"Retry-After": "1"})
    assert find(header, [RPC, BODY], [PROSE], NOW) == Stated(1, "header", "retry-after")
    assert find((), [BODY, RPC], [PROSE], NOW) == Stated(2, "rpc", "details[0].retryDelay")
    assert find((), [BODY], [PROSE], NOW) == Stated(3, "body", "retry_after")
    assert find((), [], [PROSE], NOW) == Stated(4, "prose", "try again in 4s")
    assert find((), [], [], NOW) is None


@pytest.mark.parametrize(
    "value", ["0", "-1", "nan", "inf", "Fri, 31 Dec 9999 23:59:59 GMT", "Sun, 29 Nov 2020 12:00:00 GMT"]
)
def test_an_implausible_value_falls_to_the_next_source(value: str) -> None:
    assert find(Headers({"retry-after": value}), [BODY], [], NOW) == Stated(3, "body", "retry_after")


def test_a_provider_file_declares_clocks_zone_and_what_to_ignore() -> None:
    clocks = {"headers": {"X-Foo-Reset": "epoch_ms"}, "zone": "Asia/Shanghai", "ignore": ["Retry-After"]}
    sent = [("retry-after", "1"), ("x-foo-reset", f"{int(NOW) + 90}000")]
    assert find(sent, (), (), NOW, clocks) == Stated(90, "header", "x-foo-reset")
    assert find(sent[:1], [{"reset_at": "2026-11-29 20:10"}], (), NOW, clocks) == Stated(600, "body", "reset_at")
    at_home = "resets at 2026-11-29 20:10"
    assert find((), (), [at_home], NOW, {"zone": "Nowhere/Atall"}) == Stated(8 * 3600 + 600, "prose", at_home)


ENVELOPES = compile_envelopes({})


def reading(body: str, status: int = 429, **more: Any) -> Any:
    provider = Provider("p", stated={"zone": "Asia/Shanghai"})
    return read(Failure(provider="p", now=NOW, status=status, body=body.encode(), **more), ENVELOPES, provider)


def test_a_reading_states_what_its_headers_documents_and_texts_state() -> None:
    assert find_stated(reading("{}", headers=Headers({"Retry-After": "1"}))) == Stated(1, "header", "retry-after")
    assert find_stated(reading('{"error": {"retry_after": 3}}')) == Stated(3, "body", "error.retry_after")
    assert find_stated(reading("slow down, try again in 4s")) == Stated(4, "prose", "try again in 4s")
    assert find_stated(reading('{"weird": ["resets at 2026-11-29 20:10"]}')) == Stated(
        600, "prose", "resets at 2026-11-29 20:10"
    )


def test_a_reading_without_a_providers_file_has_no_clocks_of_its_own() -> None:
    bare = read(Failure(now=NOW, status=429, body=b"resets at 2026-11-29 12:10"), ENVELOPES, None)
    assert find_stated(bare) == Stated(600, "prose", "resets at 2026-11-29 12:10")


def test_an_answer_that_is_fine_states_nothing() -> None:
    assert find_stated(reading("try again in 4s", status=200, headers=Headers({"Retry-After": "1"}))) is None


def test_words_of_the_request_that_come_back_state_nothing() -> None:
    said = "cannot parse 'please try again in 5 minutes, thanks'"
    assert find_stated(reading(said, 400)) == Stated(300, "prose", "try again in 5 minutes")
    assert find_stated(reading(said, 400, request=b"please try again in 5 minutes, thanks")) is None


headers = st.lists(st.tuples(st.sampled_from(["retry-after", "x-ratelimit-reset"]) | st.text(), st.text()), max_size=4)
values = st.recursive(
    st.none() | st.integers() | st.floats() | st.text(),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(), one, max_size=3),
    max_leaves=8,
)


@given(
    headers,
    st.lists(values, max_size=3),
    st.lists(st.text() | st.text("\ud800\udfff0s"), max_size=3),
    st.floats(0, 4e9),
)
def test_anything_states_one_plausible_wait_or_none(
    sent: list[tuple[str, str]], documents: list[Any], texts: list[str], now: float
) -> None:
    found = find(sent, documents, texts, now)
    assert found is None or (0 < found.seconds <= LIMIT and found.source in SOURCES and found.where)

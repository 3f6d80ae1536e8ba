"""Requests through a real server to real, misbehaving upstreams."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.faults.upstream import CLOSE, DONE, RESET, Answer, Pause, Upstream, delta, error, event, ok, sse

from .gateway import Gateway, config, gateway, until


@pytest.fixture
def pair(tmp_path: Path, a: Upstream, b: Upstream) -> Iterator[Gateway]:
    """`relay` first, then `main`; `alone` is `relay` only."""
    rows = [
        {"id": "relay", "provider": "agentrouter", "base_url": f"{a.url}/v1"},
        {"id": "main", "provider": "openai", "base_url": b.url},
    ]
    combos = {
        "coding": [{"connection": "relay", "model": "m"}, {"connection": "main", "model": "n"}],
        "alone": [{"connection": "relay", "model": "m"}],
    }
    deadlines = {"connect": "2s", "first_byte": "2s", "first_content": "2s", "idle": "2s", "total": "9s"}
    with gateway(tmp_path, config(rows, combos, deadlines=deadlines)) as made:
        yield made


QUOTA = error(403, "用户额度不足", type="new_api_error")


def test_a_good_answer_passes_unchanged(pair: Gateway, a: Upstream) -> None:
    answer = pair.chat()
    assert answer.status_code == 200
    assert answer.content == a.answers[0].body
    assert answer.headers["x-faultwise-target"] == "agentrouter/m"
    assert answer.headers["x-faultwise-attempts"] == "1"
    assert answer.headers["x-faultwise-request-id"]


def test_the_model_is_rewritten_and_every_other_byte_stays(pair: Gateway, a: Upstream) -> None:
    body = (
        '{ "messages" : [{"role":"user","content":"\\u00e9 \\"model\\": \\"x\\""}],\n "model" :"coding", "odd": 1.0e2 }'
    )
    pair.client.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})
    assert a.requests[0].body.decode() == body.replace('"coding"', '"m"')


def test_the_credential_is_the_connections_and_never_the_clients(pair: Gateway, a: Upstream) -> None:
    headers = {"authorization": "Bearer mine", "x-api-key": "mine", "cookie": "a=b", "x-odd": "kept", "te": "trailers"}
    pair.client.post("/v1/chat/completions?key=mine&v=1", json={"model": "coding"}, headers=headers)
    (seen,) = a.requests
    assert seen.headers["authorization"] == "Bearer s3cr3t-relay"
    assert seen.headers["x-odd"] == "kept"
    assert seen.headers["accept-encoding"] == "identity"
    assert seen.path == "/v1/chat/completions?v=1"
    assert "mine" not in str(seen.headers) and "cookie" not in seen.headers and "te" not in seen.headers


def test_unknown_answer_headers_pass_and_cookies_do_not(pair: Gateway, a: Upstream) -> None:
    good = ok()
    named = {"x-odd": "1", "set-cookie": "a=b", "x-faultwise-reason": "forged", "connection": "x-hop", "x-hop": "1"}
    a.script(Answer(200, good.body, {**good.headers, **named}))
    headers = pair.chat().headers
    assert headers["x-odd"] == "1"
    assert not {"set-cookie", "x-faultwise-reason", "x-hop"} & set(headers)


def test_a_misstated_quota_is_survived_and_its_connection_skipped_next_time(
    pair: Gateway, a: Upstream, b: Upstream
) -> None:
    a.script(QUOTA)
    answer = pair.chat()
    assert answer.status_code == 200 and "from b" in answer.text
    assert answer.headers["x-faultwise-attempts"] == "2"
    assert answer.headers["x-faultwise-target"] == "openai/n"
    assert pair.chat().status_code == 200
    assert (len(a.requests), len(b.requests)) == (1, 2)


def test_a_cooled_connection_is_tried_again_when_its_time_is_over(pair: Gateway, a: Upstream) -> None:
    a.script(QUOTA, ok("back"))
    pair.chat()
    pair.clock.ahead = 61
    assert "back" in pair.chat().text


def test_a_single_failure_keeps_its_status_its_wait_and_the_upstreams_words(pair: Gateway, a: Upstream) -> None:
    a.script(QUOTA)
    answer = pair.chat("alone")
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "60"
    assert answer.headers["x-faultwise-reason"] == "quota_exhausted"
    assert answer.headers["x-faultwise-rule"]
    body = answer.json()
    assert body["error"]["message"] == "用户额度不足"
    assert body["diagnostics"]["attempts"][0]["status"] == 429
    assert body["diagnostics"]["terminal_reason"] == "quota_exhausted"
    assert body["recovery_hint"]["retry_after_seconds"] == 60
    assert "relay" not in answer.text


def test_when_everything_is_closed_by_a_quota_the_client_is_told_how_long(pair: Gateway, a: Upstream) -> None:
    a.script(QUOTA)
    pair.chat("alone")
    pair.clock.ahead = 20
    answer = pair.chat("alone")
    assert answer.status_code == 429
    assert 38 <= int(answer.headers["retry-after"]) <= 43
    assert answer.json()["diagnostics"]["excluded"][0]["reason"] == "connection_cooldown"
    assert len(a.requests) == 1


def test_when_everything_only_has_to_wait_the_answer_is_503(pair: Gateway, a: Upstream) -> None:
    a.script(error(429, "slow down", {"retry-after": "30"}))
    assert pair.chat("alone").status_code == 429
    answer = pair.chat("alone")
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "all_targets_cooling_down"
    assert 1 <= int(answer.headers["retry-after"]) <= 32


def test_an_error_inside_a_200_is_not_shown(pair: Gateway, a: Upstream) -> None:
    body = json.dumps({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}})
    a.script(Answer(200, body.encode()))
    answer = pair.chat()
    assert "from b" in answer.text and answer.headers["x-faultwise-attempts"] == "2"


def test_the_assistants_prose_about_errors_is_no_error(pair: Gateway, a: Upstream) -> None:
    a.script(ok('the "error" was: quota exceeded'))
    assert pair.chat().headers["x-faultwise-attempts"] == "1"


def test_a_healthy_request_asks_no_rule_and_changes_no_state(
    pair: Gateway, a: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: object) -> None:
        raise AssertionError("the policy was asked")

    monkeypatch.setattr("faultwise.server.proxy.attempt.conclude", asked)
    a.script(ok(), sse(delta(""), delta("a"), delta("b", "stop"), DONE))
    assert pair.chat().status_code == 200
    assert pair.chat(stream=True).text.endswith("data: [DONE]\n\n")
    assert len(pair.cell.locks) == 0


def test_a_fault_of_the_request_ends_it_at_once(pair: Gateway, a: Upstream, b: Upstream) -> None:
    a.script(error(400, "messages: expected a list", type="invalid_request_error"))
    answer = pair.chat()
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "messages: expected a list"
    assert b.requests == []


def test_failures_of_several_kinds_become_one_502_without_a_wait(pair: Gateway, a: Upstream, b: Upstream) -> None:
    a.script(QUOTA)
    b.script(error(500, "boom"))
    answer = pair.chat()
    assert answer.status_code == 502
    assert "retry-after" not in answer.headers
    assert [one["status"] for one in answer.json()["diagnostics"]["attempts"]] == [429, 500]


@pytest.mark.parametrize(
    "broken",
    [
        Answer(before=[RESET]),
        Answer(before=[CLOSE]),
        Answer(body=[b'{"choices":', RESET]),
        Answer(body=[b'{"choices":', CLOSE]),
        Answer(body=[b'{"cut', CLOSE], headers={"content-type": "application/json", "content-length": "100"}),
        Answer(body=b""),
        Answer(before=[b"nonsense\r\n\r\n", CLOSE]),
    ],
    ids=["reset", "closed", "reset in body", "closed in body", "short body", "empty", "not http"],
)
def test_a_broken_connection_is_survived(pair: Gateway, a: Upstream, broken: Answer) -> None:
    a.script(broken)
    answer = pair.chat()
    assert answer.status_code == 200 and "from b" in answer.text


def test_a_refused_connection_is_a_502_of_the_network(tmp_path: Path) -> None:
    with Upstream() as gone:
        url = gone.url
    with gateway(tmp_path, config([{"id": "x", "base_url": url}])) as made:
        answer = made.chat()
    assert answer.status_code == 502
    assert answer.headers["x-faultwise-reason"] == "network_error"
    assert "retry-after" not in answer.headers


def test_an_upstream_that_stays_silent_is_left_for_the_next(tmp_path: Path, a: Upstream, b: Upstream) -> None:
    silence = Pause()
    a.script(Answer(before=[silence]))
    rows = [
        {"id": "slow", "base_url": a.url, "deadlines": {"first_byte": "100ms"}},
        {"id": "main", "provider": "openai", "base_url": b.url},
    ]
    with gateway(tmp_path, config(rows)) as made:
        assert "from b" in made.chat().text
        until(silence.left.is_set)


def test_the_requests_own_deadline_ends_it_and_blames_nobody(tmp_path: Path, a: Upstream) -> None:
    a.script(Answer(before=[Pause()]))
    with gateway(tmp_path, config([{"id": "slow", "base_url": a.url}], deadlines={"total": "100ms"})) as made:
        answer = made.chat()
        assert answer.status_code == 504
        assert answer.headers["x-faultwise-reason"] == "deadline_exceeded"
        assert len(made.cell.locks) == 0


def test_the_same_refusal_from_two_providers_is_given_at_once(tmp_path: Path, a: Upstream, b: Upstream) -> None:
    refusal = error(413, "request too large")
    a.script(refusal)
    b.script(refusal)
    with Upstream() as c:
        rows = [
            {"id": "one", "provider": "acme", "base_url": a.url},
            {"id": "two", "provider": "other", "base_url": b.url},
            {"id": "three", "provider": "third", "base_url": c.url},
        ]
        with gateway(tmp_path, config(rows)) as made:
            answer = made.chat()
        assert answer.status_code == 413
        assert answer.json()["error"]["message"] == "request too large"
        assert c.requests == []


def test_an_account_that_refused_is_not_asked_for_another_model(tmp_path: Path, a: Upstream, b: Upstream) -> None:
    a.script(error(401, "invalid api key", code="invalid_api_key"))
    rows = [
        {"id": "one", "base_url": a.url, "disable_cooling": True},
        {"id": "two", "provider": "openai", "base_url": b.url},
    ]
    targets = [
        {"provider": "acme", "model": "m"},
        {"connection": "one", "model": "n"},
        {"connection": "two", "model": "m"},
    ]
    with gateway(tmp_path, config(rows, {"coding": targets})) as made:
        assert made.chat().status_code == 200
    assert len(a.requests) == 1


def test_a_provider_target_goes_on_to_the_providers_next_connection(tmp_path: Path, a: Upstream, b: Upstream) -> None:
    a.script(QUOTA)
    rows = [{"id": one, "provider": "AgentRouter", "base_url": two.url} for one, two in (("x", a), ("y", b))]
    with gateway(tmp_path, config(rows, {"coding": [{"provider": "agentrouter", "model": "m"}]})) as made:
        assert "from b" in made.chat().text
        assert "from b" in made.chat("agentrouter/m").text
        assert made.chat("x/m").status_code == 429


def test_streams_pass_byte_for_byte(pair: Gateway, a: Upstream) -> None:
    parts = [b": hello\n\n", event(delta("")), event(delta("a")), b'event: odd\r\ndata: {"x":1}\r\n\r\n']
    parts += [event(delta("b")), event(delta(finish="stop")), DONE]
    a.script(Answer(body=parts, headers={"content-type": "text/event-stream"}))
    answer = pair.chat(stream=True)
    assert answer.content == b"".join(parts)
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["x-faultwise-attempts"] == "1"


def test_an_event_cut_anywhere_arrives_whole(pair: Gateway, a: Upstream) -> None:
    whole = event(delta("héllo")) + event(delta("b", "stop")) + DONE
    a.script(
        Answer(
            body=[whole[at : at + 7] for at in range(0, len(whole), 7)], headers={"content-type": "text/event-stream"}
        )
    )
    assert pair.chat(stream=True).content == whole


def test_content_is_passed_on_as_soon_as_it_comes(pair: Gateway, a: Upstream) -> None:
    more = Pause()
    a.script(sse(delta("first"), more, delta("second", "stop"), DONE))
    with pair.client.stream("POST", "/v1/chat/completions", json={"model": "coding", "stream": True}) as answer:
        pieces = answer.iter_bytes()
        assert b"first" in next(pieces)
        assert not more._released.is_set()
        more.release()
        assert b"second" in b"".join(pieces)


@pytest.mark.parametrize(
    "broken",
    [
        sse({"error": {"message": "quota", "code": "insufficient_quota"}}),
        sse(delta(""), {"error": {"message": "quota", "code": "insufficient_quota"}}, DONE),
        sse(),
        sse(b": nothing\n\n"),
        sse(DONE),
        sse(delta(""), RESET),
        sse(delta(""), CLOSE),
        sse(b"data: {", CLOSE),
    ],
    ids=["error first", "error after role", "empty", "comment", "done only", "reset", "closed", "cut"],
)
def test_a_stream_that_fails_before_its_content_is_never_seen(
    pair: Gateway, a: Upstream, b: Upstream, broken: Answer
) -> None:
    a.script(broken)
    b.script(sse(delta("from b"), delta(finish="stop"), DONE))
    answer = pair.chat(stream=True)
    assert answer.headers["x-faultwise-attempts"] == "2"
    assert answer.content == event(delta("from b")) + event(delta(finish="stop")) + DONE


def test_a_stream_without_content_in_time_is_left_for_the_next(tmp_path: Path, a: Upstream, b: Upstream) -> None:
    silence = Pause()
    a.script(sse(delta(""), silence))
    b.script(sse(delta("from b", "stop"), DONE))
    rows = [
        {"id": "slow", "base_url": a.url, "deadlines": {"first_content": "100ms"}},
        {"id": "main", "provider": "openai", "base_url": b.url},
    ]
    with gateway(tmp_path, config(rows)) as made:
        assert b"from b" in made.chat(stream=True).content
        until(silence.left.is_set)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([{"error": {"message": "quota", "code": "insufficient_quota"}}], "credits_exhausted"),
        ([RESET], "network_error"),
        ([CLOSE], "network_error"),
        ([b'data: {"choices": [{"del', CLOSE], "network_error"),
        ([], "network_error"),
    ],
    ids=["error event", "reset", "closed", "cut", "no terminator"],
)
def test_a_stream_that_fails_after_its_content_ends_well_formed(
    pair: Gateway, a: Upstream, b: Upstream, parts: list[Any], reason: str
) -> None:
    a.script(sse(delta("partial"), *parts))
    answer = pair.chat(stream=True)
    assert answer.status_code == 200
    events = answer.text.split("\n\n")
    assert json.loads(events[0].removeprefix("data: "))["choices"][0]["delta"]["content"] == "partial"
    told = json.loads(events[1].removeprefix("data: "))["error"]
    assert events[2:] == ["data: [DONE]", ""]
    assert told["reason"] == reason and told["rule"] and told["retryable"] is True
    assert told["bytes_sent"] == len(event(delta("partial")))
    assert b.requests == []


def test_a_failure_after_the_content_closes_the_target_for_the_next_request(
    pair: Gateway, a: Upstream, b: Upstream
) -> None:
    a.script(
        sse(delta("partial"), {"error": {"message": "slow down", "code": "rate_limit_exceeded", "retry_after": 30}})
    )
    pair.chat(stream=True)
    assert "from b" in pair.chat().text


def test_a_client_that_hangs_up_cancels_the_upstream_and_harms_nobody(pair: Gateway, a: Upstream) -> None:
    forever = Pause()
    a.script(sse(delta("first"), forever))
    with pair.client.stream("POST", "/v1/chat/completions", json={"model": "coding", "stream": True}) as answer:
        next(answer.iter_bytes())
    until(forever.left.is_set)
    assert len(pair.cell.locks) == 0


def test_a_client_that_hangs_up_while_waiting_cancels_the_upstream(pair: Gateway, a: Upstream) -> None:
    forever = Pause()
    a.script(Answer(before=[forever]))
    with pytest.raises(httpx.ReadTimeout):
        pair.client.post("/v1/chat/completions", json={"model": "coding"}, timeout=0.2)
    until(forever.left.is_set)
    assert len(pair.cell.locks) == 0


def test_a_large_answer_streams_through(pair: Gateway, a: Upstream) -> None:
    big = ok("x" * 500_000)
    a.script(big)
    answer = pair.chat()
    assert answer.content == big.body
    assert answer.headers["content-length"] == str(len(answer.content))


def test_many_requests_at_once_are_answered(pair: Gateway) -> None:
    statuses = []

    def ask() -> None:
        statuses.append(httpx.post(f"{pair.url}/v1/chat/completions", json={"model": "coding"}, timeout=10).status_code)

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 20


def test_the_openai_sdk_reads_answers_errors_and_streams(pair: Gateway, a: Upstream) -> None:
    with openai.OpenAI(base_url=f"{pair.url}/v1", api_key="any", max_retries=0) as sdk:
        messages: Any = [{"role": "user", "content": "hi"}]
        assert sdk.chat.completions.create(model="coding", messages=messages).choices[0].message.content == "hi"
        a.script(sse(delta("a"), delta("b"), delta(finish="stop"), DONE))
        stream = sdk.chat.completions.create(model="coding", messages=messages, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "ab"
        a.script(sse(delta("a"), RESET))
        with pytest.raises(openai.APIError, match="network"):
            list(sdk.chat.completions.create(model="coding", messages=messages, stream=True))
        assert [model.id for model in sdk.models.list()] == ["coding", "alone"]
        a.script(QUOTA)
        with pytest.raises(openai.RateLimitError, match="用户额度不足"):
            sdk.chat.completions.create(model="alone", messages=messages)


async def _sdk(url: str) -> tuple[str | None, str]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as sdk:
        messages: Any = [{"role": "user", "content": "hi"}]
        plain = await sdk.chat.completions.create(model="coding", messages=messages)
        stream = await sdk.chat.completions.create(model="coding", messages=messages, stream=True)
        return plain.choices[0].message.content, "".join([one.choices[0].delta.content or "" async for one in stream])


def test_the_asynchronous_openai_sdk_works_too(pair: Gateway, a: Upstream) -> None:
    a.script(ok("plain"), sse(delta("a"), delta("b", "stop"), DONE))
    assert asyncio.run(_sdk(pair.url)) == ("plain", "ab")


def test_a_fault_of_ours_is_told_in_the_clients_wire_and_its_cause_is_in_the_log(
    tmp_path: Path, a: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    throws = iter([ArithmeticError("the dice are gone")])

    def broken() -> float:
        for thrown in throws:
            raise thrown
        return 0.0

    a.script(error(500, "down"))
    with gateway(tmp_path, config([{"id": "one", "base_url": a.url}]), draw=broken) as made:
        answer = made.chat()
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
        assert made.client.get("/healthz").status_code == 200
    assert "the dice are gone" in caplog.text

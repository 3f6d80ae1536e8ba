"""The names an expression may use."""

from __future__ import annotations

import json
from typing import Any

import pytest

from faultwise import dsl
from faultwise.engine.failure.envelope import Envelopes
from faultwise.engine.failure.fields import FULL, TERSE
from faultwise.engine.failure.reading import read
from faultwise.engine.failure.record import Failure, Headers
from faultwise.engine.policy.model import Clock, Provider
from faultwise.engine.policy.policy import Policy

from .conftest import Said, as_bytes

BODY = {
    "error": {
        "message": "Upstream error from Acme: Quota used up",
        "code": "C1",
        "type": "T1",
        "param": "P1",
        "details": [{"retryDelay": "7s"}],
    }
}


def holds(expression: str, reading: Any, environment: dsl.Environment = FULL) -> bool:
    node = dsl.parse(expression)
    assert dsl.check(node, environment, {}, dsl.Type.BOOL) == ()
    return bool(dsl.compile(node, environment, {})(reading))


@pytest.mark.parametrize(
    "expression",
    [
        "status == 403",
        "upstream_status == 403",
        "not (inner_status exists)",
        'phase == "response"',
        "not (kind exists)",
        'provider == "acme"',
        'connection == "a"',
        'model == "m"',
        'host == "h"',
        'egress == "e"',
        'wire == "openai"',
        'auth == "oauth"',
        "attempt == 1",
        "now > 1",
        "stated == 7s",
        'code == "c1"',
        'code has "c1"',
        'type in ["t1", "t2"]',
        'param == "p1"',
        'text has "quota used"',
        'text has "c1"',
        'raw(text) has "Quota"',
        'message has "quota used up"',
        'message == "quota used up"',
        'not (message has "acme")',
        'outer has "acme"',
        'body has "retrydelay"',
        "not html",
        "not (title exists)",
        'header["X-Odd"] == "value"',
        'json["error.details[*].retryDelay"] == "7s"',
        'request["model"] == "m"',
        'not (request["absent"] exists)',
        'not (json["absent[*].x"] exists)',
    ],
)
def test_every_field_is_there(said: Said, expression: str) -> None:
    reading = said(
        BODY,
        403,
        {"x-odd": "value", "retry-after": "7"},
        {"model": "m"},
        provider="acme",
        connection="a",
        model="m",
        host="h",
        egress="e",
        auth="oauth",
        now=5.0,
    )
    assert holds(expression, reading)


def test_a_page_has_a_title(said: Said) -> None:
    reading = said("<html><title>Denied</title>", 403)
    assert holds('html and title == "denied"', reading)


def test_json_is_looked_for_in_the_json_inside_it_too(said: Said) -> None:
    inner = {"error": {"message": "m", "details": [{"reason": "R"}]}}
    reading = said({"error": {"message": json.dumps(inner)}})
    assert holds('json["error.details[*].reason"] == "r"', reading)


def test_an_echo_does_not_hold(said: Said) -> None:
    request = {"messages": [{"content": "explain: quota used up, please"}]}
    reading = said({"error": {"message": "explain: quota used up, please"}}, request=request)
    for field in ("text", "message", "body"):
        assert not holds(f'{field} has "quota"', reading)


def test_without_prose_only_codes_and_types_are_text(said: Said) -> None:
    reading = said(BODY)
    assert holds('text has "c1" and text has "t1" and code == "c1"', reading, TERSE)
    assert not holds('text has "quota"', reading, TERSE)
    assert holds('raw(text) has "C1"', reading, TERSE)
    for name in ("message", "outer", "body", "html", "title"):
        assert name not in TERSE.fields


def test_the_providers_clock_serves_until_reset(envelopes: Envelopes) -> None:
    node = dsl.parse("until reset")
    wait = dsl.compile(node, FULL, {})
    provider = Provider("acme", reset=Clock(0, 0, "UTC"))
    failure = Failure(status=429, body=as_bytes({}), headers=Headers(), now=86_400 * 10 + 3600.0)
    assert wait(read(failure, envelopes, provider)) == 23 * 3600.0
    assert wait(read(failure, envelopes, Provider("acme"))) is None
    assert wait(read(failure, envelopes)) is None


@pytest.mark.parametrize("expression", ['header[" "] exists', 'json["a..b"] exists', 'request["["] exists'])
def test_a_key_that_cannot_be_is_reported(expression: str) -> None:
    assert dsl.check(dsl.parse(expression), FULL, {}, dsl.Type.BOOL)


def test_every_field_says_what_it_is() -> None:
    for environment in (FULL, TERSE):
        for name, field in {**environment.fields, **environment.keyed}.items():
            assert field.doc, name


def test_a_regex_does_not_match_what_only_the_request_said(shipped: Policy) -> None:
    node = dsl.parse(r"text matches /\b(account|organi[sz]ation) .{0,20}suspended\b/")
    test = dsl.compile(node, FULL, {})
    said = "why do they say that my account has been suspended, write an appeal"
    request = json.dumps({"messages": [{"role": "user", "content": said}]}).encode()
    body = json.dumps({"error": {"message": f"cannot parse: {said}"}}).encode()
    for sent, wanted in ((request, False), (None, True), (b'{"messages": []}', True)):
        failure = Failure(provider="x", status=400, body=body, request=sent)
        assert test(read(failure, shipped.envelopes)) is wanted

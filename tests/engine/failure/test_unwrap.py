"""One gateway's words taken off another server's error."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from faultwise.engine.failure.account import CODE, MESSAGE, WITHIN
from faultwise.engine.failure.envelope import Envelopes, strength
from faultwise.engine.failure.literal import MISSING
from faultwise.engine.failure.unwrap import Inner, Unwrapper

ROLES = {"message": MESSAGE, "code": CODE, "error": WITHIN}


def unwrapper(*steps: dict[str, Any]) -> Unwrapper:
    return Unwrapper([{"id": f"s{number}", **step} for number, step in enumerate(steps)], partial(strength, ROLES))


PREFIX = {"match": r"^Proxy(?: (?P<status>[45]\d\d))?(?: <(?P<code>\w+)>)?: (?P<message>.+)$", "holds": ["Proxy"]}
TOLD = {"match": r"status (?P<status>[45]\d\d)"}


def test_words_after_a_prefix() -> None:
    found = unwrapper(PREFIX).inside("Proxy 429 <slow>: wait\nplease")
    assert found == [Inner("wait\nplease", status=429, code="slow")]
    assert unwrapper(PREFIX).inside("Proxy: wait") == [Inner("wait")]


def test_a_message_that_speaks_for_itself_has_nothing_inside() -> None:
    assert unwrapper(PREFIX, TOLD).inside("Too many requests, status 429") == []


def test_the_first_step_that_matches_counts() -> None:
    steps = unwrapper(
        {"match": "^a(?P<message>.+)$", "first": "a"},
        {"match": "(?P<message>.c)$"},
        {"match": "^a(?P<message>b.+)$", "holds": ["b"]},
    )
    assert steps.inside("abc") == [Inner("bc")]
    assert steps.inside("xbc") == [Inner("bc")]


def test_an_error_object_inside_words() -> None:
    (found,) = unwrapper(TOLD).inside("""said status 503: {'error': {'message': 'x'}} sorry""")
    assert found == Inner(
        document={"error": {"message": "x"}}, source="{'error': {'message': 'x'}}", lead="said status 503: "
    )


def test_several_error_objects_each_with_its_own_lead() -> None:
    found = unwrapper().inside('one: {"message": "a", "code": 1}, two: {"message": "b", "code": 2}')
    assert [(inner.document["message"], inner.lead) for inner in found] == [("a", "one: "), ("b", ", two: ")]


def test_bare_words_in_an_object_count_only_after_a_gateways_words() -> None:
    steps = unwrapper(PREFIX, TOLD)
    assert steps.inside('bad argument {"message": "hi"}') == []
    assert steps.inside('status 400 {"message": "hi"}')[0].document == {"message": "hi"}
    assert steps.inside('Proxy: {"message": "hi"}')[0].document == {"message": "hi"}


def test_an_object_that_is_no_error_is_passed_over() -> None:
    assert unwrapper().inside('bad schema {"type": "object"}') == []


def test_a_message_that_is_json_as_a_whole() -> None:
    text = '{"error": {"message": "x"}}'
    assert unwrapper().inside(f" {text}\n") == [Inner(document={"error": {"message": "x"}}, source=text, whole=True)]
    assert unwrapper().inside('[{"error": "x"}]')[0].whole
    assert unwrapper().inside('{"a": 1}') == [Inner(document={"a": 1}, source='{"a": 1}', whole=True)]
    assert unwrapper().inside("[1]") == []
    assert unwrapper().inside('"a text in quotes"') == [Inner("a text in quotes", whole=True)]
    assert unwrapper().inside('"x" is not a model') == []


def test_the_last_status_named_is_the_innermost() -> None:
    steps = unwrapper(TOLD, PREFIX)
    assert steps.status("status 500 after status 429") == 429
    assert steps.status("Proxy 503: x") == 503
    assert steps.status("status 200") is None


def test_an_answer_is_looked_into_only_where_a_step_says_so_and_only_as_a_whole() -> None:
    steps = unwrapper(
        {"match": r"^Failed \((?P<status>\d+)\): (?P<message>.+)$", "holds": ["Failed ("], "content": ["choices.text"]}
    )
    assert steps.content({"choices": [{"text": "Failed (429): slow down"}]}) == Inner("slow down", status=429)
    assert steps.content({"choices": [{"text": 'Failed (429): {"error": {"code": "x"}}'}]}) is not None
    for text in ('It said "Failed (429): x"', 'Failed (429): {"weather": "fine"}', "fine", 5, None):
        assert steps.content({"choices": [{"text": text}]}) is None
    assert steps.content({"choices": [{"text": "Failed (429): x"}, {"text": "y"}]}) is None
    assert steps.content({"choices": "Failed (429): x"}) is None
    assert steps.content({"text": "Failed (429): x"}) is None
    assert steps.content(["Failed (429): x"]) is None


def test_an_optional_status_of_content_may_be_missing() -> None:
    steps = unwrapper({"match": r"^E(?P<status>\d+)?: (?P<message>.+)$", "content": ["text"]})
    assert steps.content({"text": "E: x"}) == Inner("x")


def test_the_literals_of_content() -> None:
    step = {"match": r"^(?P<status>\d+)(?P<message>.+)$", "content": ["a", "b"]}
    assert unwrapper({**step, "holds": ["Failed (", 'a"b']}).content_literals() == ["Failed (", ""]
    assert unwrapper(step).content_literals() == [""]
    assert unwrapper(PREFIX).content_literals() == []


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"match": "("}, "does not compile"),
        ({"match": "(?P<message>" + "x" * 500 + ")"}, "more than 500"),
        ({"match": "no groups"}, "its groups"),
        ({"match": "(?P<other>x)"}, "its groups"),
        ({"match": "(?P<message>x)", "content": ["a"]}, "needs the groups"),
    ],
)
def test_a_step_that_cannot_be_is_named(step: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"`s0`.*{said}"):
        unwrapper(step)


SHIPPED = [
    ("litellm.RateLimitError: RateLimitError: OpenAIException - slow down", "slow down", None),
    ("litellm.Timeout: AzureException Timeout - slow down", "AzureException Timeout - slow down", None),
    ("Router.APIError: APIError: Acme_aiException - slow down", "slow down", None),
    ("Error from provider (Acme): slow down", "slow down", None),
    ("Error from provider(acme,m/x: 503): slow down", "slow down", 503),
    ("Upstream error from Acme: slow down", "slow down", None),
    ("Upstream request failed: [too_fast] slow down", "slow down", None),
    ("vertex error: slow down", "slow down", None),
    ("MCP error -429: slow down", "slow down", 429),
    (
        "An error occurred (ThrottlingException) when calling the Converse operation (reached max retries: 4): slow down",
        "slow down",
        None,
    ),
    ("rpc error: code = ResourceExhausted desc = slow down", "slow down", None),
    ("[429]: slow down", "slow down", 429),
    ("[429 Too Many Requests] slow down", "slow down", 429),
    ("<400> A.B.C: slow down", "slow down", 400),
    ("500: slow down", "slow down", 500),
    ("429 Too Many Requests: slow down", "slow down", 429),
    ("429 RESOURCE_EXHAUSTED. slow down", "slow down", 429),
    ("Error fetching from https://x.example/v1: [503 Service Unavailable] slow down", "slow down", 503),
]


@pytest.mark.parametrize(("text", "message", "status"), SHIPPED)
def test_the_shipped_steps_take_off(envelopes: Envelopes, text: str, message: str, status: int | None) -> None:
    (found,) = envelopes.unwrapper.inside(text)
    assert (found.message, found.status, found.document) == (message, status, MISSING)


@pytest.mark.parametrize(
    "text",
    [
        "error code: 524",
        "Server responded with status 524",
        "Invalid status code: 524 A Timeout Occurred",
        "Request failed with status code 524",
        "X API error: HTTP 524 -",
        "upstream returned 524",
        "bad response status_code=524,",
        "Client error '524 Timed Out' for url 'https://x.example'",
        "524 Server Error: Timed Out",
        "API Error: 524 ",
        "request failed (524): ",
        "524",
    ],
)
def test_the_shipped_steps_know_a_status(envelopes: Envelopes, text: str) -> None:
    assert envelopes.unwrapper.status(text) == 524


@pytest.mark.parametrize(
    "text",
    [
        "Rate limit reached: Limit 500, Used 499, Requested 450. Please try again in 500ms.",
        "maximum context length is 4096 tokens, 450 in the messages",
        "Value error, current model does not support parameter",
        "'messages' must contain the word 'json'",
        "model x: 500 requests per day",
    ],
)
def test_numbers_in_plain_words_are_no_status(envelopes: Envelopes, text: str) -> None:
    assert envelopes.unwrapper.status(text) is None
    assert envelopes.unwrapper.inside(text) == []

"""What makes a 200 a failure, and what an error says, by the shipped section."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.account import Account
from faultwise.engine.failure.echo import Echo
from faultwise.engine.failure.envelope import Envelopes, compile_envelopes, squashed, strength
from faultwise.engine.failure.literal import MISSING

CHAT = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}

FAILURES: list[Any] = [
    {"status": "error"},
    {"fault": {"faultstring": "x"}},
    {"Error": {"Code": "c", "Message": "m"}},
    {"ERROR": {"message": "m"}},
    {"data": [{"error": {"code": "x"}}]},
    {"output": {"error": {"code": "x"}}},
    {"base_resp": {"status_code": ["x"]}},
    {"error": {"message": "x"}},
    {"error": "x"},
    {"error": True},
    {"error": {"code": 502}, **CHAT},
    [{"error": {"code": 429}}],
    {"errors": ["x"]},
    {"Response": {"Error": {"Code": "LimitExceeded", "Message": "x"}, "RequestId": "r"}},
    {"response": {"error": {"code": "x"}}},
    {"type": "error"},
    {"object": "error", "message": "x"},
    {"base_resp": {"status_code": 1002, "status_msg": "x"}},
    {"error_code": 18, "error_msg": "x"},
    {"errcode": "E1"},
    {"error_msg": "x"},
    {"success": False},
    {"success": False, "message": "x"},
    {"status": "449", "msg": "x", "body": None},
    {"statusCode": 429, "message": "x"},
    {"code": 20015, "message": "x", "data": None},
    {"code": "1311", "message": "x"},
    {"message": "Unauthorized"},
    {"detail": "Unauthorized"},
    {"detail": [{"loc": ["body", "model"], "msg": "field required", "type": "missing"}]},
    {"title": "Forbidden", "status": 403},
    {"__type": "ThrottlingException"},
    {"promptFeedback": {"blockReason": "SAFETY"}},
    {"header": {"code": 10013, "message": "x"}},
    {"ResponseMetadata": {"Error": {"Code": "AccessDenied", "Message": "x"}}},
    {"Response": {"ErrorMsg": {"Msg": "x", "Code": 4001}}},
    {"choices": [{"error": {"code": 502, "message": "x"}, "message": {"content": ""}}]},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "x"}},
    {"jsonrpc": "2.0", "result": {"content": [{"type": "text", "text": "MCP error -429: slow down"}]}},
    {"choices": [{"message": {"content": 'Error: API request failed (429): {"error": {"message": "x"}}'}}]},
]

HEALTHY: list[Any] = [
    CHAT,
    {**CHAT, "error": None},
    {**CHAT, "error": {}},
    {**CHAT, "error": ""},
    {**CHAT, "error": {"code": 0, "message": "success"}},
    {**CHAT, "base_resp": {"status_code": 0, "status_msg": "success"}},
    {**CHAT, "code": 200, "msg": "ok"},
    {**CHAT, "message": "a notice beside an answer"},
    {**CHAT, "errors": ["a warning beside an answer"]},
    {"id": "resp", "object": "response", "status": "completed", "error": None, "output": [{"type": "message"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "error: quota exceeded"}]},
    {"choices": [{"message": {"content": "Error: API request failed (429) is what I saw"}}]},
    {"choices": [{"message": {"content": 'Error: API request failed (429): {"weather": "fine"}'}}]},
    {
        "candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}],
        "promptFeedback": {"safetyRatings": []},
    },
    {"object": "list", "data": [{"object": "embedding", "embedding": [0.1]}], "model": "m"},
    {
        "id": "x",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}]},
        "finish_reason": "COMPLETE",
    },
    {"model": "m", "message": {"role": "assistant", "content": "hi"}, "done": True},
    {"jsonrpc": "2.0", "result": {"content": [{"type": "text", "text": "all fine"}]}},
    {"code": 0, "msg": "success", "data": {"x": 1}},
    {"success": True, "message": "ok"},
    {"totalTokens": 31},
    {"text": "a transcript"},
    [],
    {},
    None,
    "error",
    5,
]


@pytest.mark.parametrize("document", FAILURES)
def test_a_200_with_an_error_is_a_failure(envelopes: Envelopes, document: Any) -> None:
    assert envelopes.fails(document)


@pytest.mark.parametrize("document", HEALTHY)
def test_a_200_that_is_fine_is_none(envelopes: Envelopes, document: Any) -> None:
    assert not envelopes.fails(document)
    assert envelopes.finish(document) is None


@pytest.mark.parametrize("spacing", [None, (",", ":"), (" , ", " : ")])
@pytest.mark.parametrize("document", FAILURES)
def test_every_failure_is_suspicious(envelopes: Envelopes, document: Any, spacing: Any) -> None:
    assert envelopes.suspicious(json.dumps(document, separators=spacing).encode())


def test_the_usual_healthy_answers_are_not_suspicious(envelopes: Envelopes) -> None:
    for document in (*HEALTHY[:3], HEALTHY[5], *HEALTHY[9:11], *HEALTHY[13:17], HEALTHY[20]):
        assert not envelopes.suspicious(json.dumps(document).encode()), document
    prose = 'say "error": "x", \\"message\\": and \\u003chtml\\u003e'
    assert not envelopes.suspicious(json.dumps({"choices": [{"message": {"content": prose}}], "error": None}).encode())


KEYS = st.sampled_from(
    "error errors message code type status msg detail base_resp status_code success response choices object title "
    "promptFeedback blockReason error_code finish_reason stop_reason result content text delta candidates finishReason".split()
)
VALUES = st.sampled_from(
    [None, "", "x", "error", "content_filter", "SAFETY", "failed", 0, 1, 429, "429", True, False, 0.5, -1]
)
DOCUMENT = st.dictionaries(
    KEYS,
    st.recursive(
        VALUES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
    ),
    max_size=4,
)


@given(DOCUMENT | st.lists(DOCUMENT, max_size=2), st.booleans())
def test_what_is_a_failure_is_never_unsuspicious(envelopes: Envelopes, document: Any, dense: bool) -> None:
    body = json.dumps(document, separators=(",", ":") if dense else None).encode()
    if envelopes.fails(document) or envelopes.finish(document):
        assert envelopes.suspicious(body)


@pytest.mark.parametrize(
    ("document", "word", "status"),
    [
        ({"choices": [{"finish_reason": "error", "message": {"content": "half"}}]}, "error", 502),
        ({"choices": [{"finish_reason": "content_filter", "message": {"content": ""}}]}, "content_filter", 400),
        ({"type": "message", "content": [], "stop_reason": "refusal"}, "refusal", 400),
        ({"type": "message_delta", "delta": {"stop_reason": "refusal"}}, "refusal", 400),
        ({"candidates": [{"finishReason": "SAFETY"}]}, "SAFETY", 400),
        ([{"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}], "PROHIBITED_CONTENT", 400),
        ({"object": "response", "status": "failed", "output": []}, "failed", 502),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "output": []},
            "content_filter",
            400,
        ),
    ],
)
def test_an_answer_that_ends_badly(envelopes: Envelopes, document: Any, word: str, status: int) -> None:
    assert envelopes.finish(document) == (word, status)


@pytest.mark.parametrize(
    "document",
    [
        {"choices": [{"finish_reason": "length", "message": {"content": ""}}]},
        {"choices": [{"finish_reason": "content_filter", "message": {"content": "something"}}]},
        {"content": [{"type": "text", "text": "I cannot"}], "stop_reason": "refusal"},
        {"stop_reason": "max_tokens", "content": []},
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []},
    ],
)
def test_an_answer_that_is_short_or_partial_is_none(envelopes: Envelopes, document: Any) -> None:
    assert envelopes.finish(document) is None


def test_what_came_before_counts_as_content(envelopes: Envelopes) -> None:
    assert envelopes.finish({"choices": [{"finish_reason": "content_filter"}]}, spoken=True) is None
    assert envelopes.finish({"choices": [{"finish_reason": "error"}]}, spoken=True) is not None


def read(envelopes: Envelopes, document: Any) -> Account:
    return envelopes.read(document)


@pytest.mark.parametrize(
    ("document", "messages", "codes", "types"),
    [
        ({"error": {"message": "m", "type": "t", "code": "c"}}, ["m"], ["c"], ["t"]),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, ["m"], [], ["overloaded_error"]),
        ({"error": {"message": "m", "type": "None", "code": None}}, ["m"], [], []),
        ({"error": "some words"}, ["some words"], [], []),
        ({"error": "invalid_grant", "error_description": "m"}, ["invalid_grant", "m"], ["invalid_grant"], []),
        ({"error": "Too Many Requests", "message": "m"}, ["Too Many Requests", "m"], [], []),
        ({"error": 17}, [], ["17"], []),
        ({"error": True, "message": "m"}, ["m"], [], []),
        (
            [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "m"}}],
            ["m"],
            ["429"],
            ["RESOURCE_EXHAUSTED"],
        ),
        ({"errors": [{"message": "a", "code": 1}, {"message": "b", "code": 2}]}, ["a", "b"], ["1", "2"], []),
        (
            {"error": {"message": "m", "errors": [{"message": "m", "reason": "rateLimitExceeded"}]}},
            ["m"],
            ["rateLimitExceeded"],
            [],
        ),
        ({"base_resp": {"status_code": 1002, "status_msg": "m"}}, ["m"], ["1002"], []),
        ({"error_code": 18, "error_msg": "m"}, ["m"], ["18"], []),
        ({"Response": {"Error": {"Code": "C", "Message": "m"}}}, ["m"], ["C"], []),
        ({"detail": "m"}, ["m"], [], []),
        ({"detail": {"message": "m", "code": "c"}}, ["m"], ["c"], []),
        ({"detail": [{"loc": ["body", 0], "msg": "m", "type": "missing"}]}, ["m"], [], ["missing"]),
        ({"title": "a", "detail": "b", "status": 403, "type": "about:blank"}, ["a", "b"], [], []),
        ({"code": "resource-exhausted", "error": "m"}, ["m"], ["resource-exhausted"], []),
        ({"success": False, "error": {"message": "m", "code": "C"}, "status": 412}, ["m"], ["C"], []),
        ({"status": "449", "msg": "m"}, ["m"], [], []),
        ({"__type": "com.acme.x#NoAccess", "message": "m", "reason": "R"}, ["m"], ["R"], ["NoAccess"]),
        (
            {"response": {"error": {"code": "c", "message": "m"}, "status": "failed"}, "type": "response.failed"},
            ["m"],
            ["c"],
            [],
        ),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, [], ["SAFETY"], []),
        ({"header": {"code": 10013, "message": "m", "status": 2}}, ["m"], ["10013", "2"], []),
        ({"Response": {"ErrorMsg": {"Msg": "m", "Code": 4001}}}, ["m"], ["4001"], []),
        ({"name": "content_moderation", "errors": ["m"]}, ["m"], [], ["content_moderation"]),
        ({"error": {"message": "m", "code": "c", "innererror": {"code": "inner"}}}, ["m"], ["inner", "c"], []),
        ({"error": {"message": "m", "metadata": {"error_type": "t", "reasons": ["a", "b"]}}}, ["m"], ["a", "b"], ["t"]),
        ({"error": {"message": "Error"}}, ["Error"], [], []),
        ({"error": {"message": "null", "code": {}, "type": []}}, [], [], []),
    ],
)
def test_messages_codes_and_types_are_found(
    envelopes: Envelopes, document: Any, messages: list[str], codes: list[str], types: list[str]
) -> None:
    account = read(envelopes, document)
    assert (list(account.messages), list(account.codes), list(account.types)) == (messages, codes, types)


def test_google_details_give_reasons_and_quotas(envelopes: Envelopes) -> None:
    details = [
        {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "LIMIT",
            "metadata": {"quota_metric": "m1", "model": "x"},
        },
        {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaMetric": "m2", "quotaId": "PerDay"}],
        },
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"},
        {"@type": "type.googleapis.com/google.rpc.Help", "links": [{"description": "about quotas"}]},
        {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": "f", "description": "d"}]},
    ]
    account = read(
        envelopes, {"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED", "details": details}}
    )
    assert account.codes == ("LIMIT", "PerDay", "429")
    assert account.types == ("m1", "m2", "RESOURCE_EXHAUSTED")
    assert (account.messages, account.params, account.own) == (("d", "m"), ("f",), 429)


def test_an_error_as_json_in_a_message_is_read_and_nothing_is_outer(envelopes: Envelopes) -> None:
    inner = {"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}
    account = read(envelopes, {"error": {"message": json.dumps(inner), "code": 400, "status": "Bad Request"}})
    assert (account.messages, account.codes, account.outer) == (("m",), ("429", "400"), ())
    assert account.types == ("RESOURCE_EXHAUSTED", "Bad Request")
    assert (account.own, envelopes.inner_status(account)) == (400, 429)
    assert account.documents[1] == inner


def test_json_in_a_message_that_has_no_words_gives_its_codes_and_stays_a_message(envelopes: Envelopes) -> None:
    text = '{"type": "exceeded_limit", "resetsAt": 1796000000}'
    account = read(envelopes, {"error": {"type": "rate_limit_error", "message": text}})
    assert (account.messages, account.types) == ((text,), ("exceeded_limit", "rate_limit_error"))
    assert (account.outer, account.documents[1]["resetsAt"]) == ((), 1796000000)


def test_a_gateways_words_become_outer(envelopes: Envelopes) -> None:
    text = (
        "litellm.RateLimitError: AcmeException - Error code: 429 - {'error': {'code': 'slow', 'message': 'm'}}\nGroup=x"
    )
    account = read(envelopes, {"error": {"message": text, "type": "throttling", "code": "500"}})
    assert (account.messages, account.codes, account.types) == (("m",), ("slow", "500"), ("throttling",))
    assert (account.outer, envelopes.inner_status(account)) == ((text,), 429)


def test_several_servers_behind_one_gateway(envelopes: Envelopes) -> None:
    text = 'All failed: a: status code: 429 Too Many: {"error":{"message":"m1"}}, b: status code: 403 No: {"error":{"message":"m2"}}'
    account = envelopes.read(MISSING, text)
    assert (account.messages, account.outer, envelopes.inner_status(account)) == (("m1", "m2"), (text,), 429)


def test_the_answer_of_the_server_behind_is_a_layer_of_its_own(envelopes: Envelopes) -> None:
    raw = json.dumps({"error": {"message": "m", "code": "c"}})
    account = read(envelopes, {"error": {"message": "Provider returned error", "code": 502, "metadata": {"raw": raw}}})
    assert account.messages == ("m", "Provider returned error")
    assert (account.outer, account.codes) == (("Provider returned error",), ("c", "502"))
    plain = read(
        envelopes, {"error": {"message": "p", "upstreamStatus": 429, "upstreamResponse": {"error": {"message": "m"}}}}
    )
    assert (plain.messages, envelopes.inner_status(plain), len(plain.documents)) == (("m", "p"), 429, 2)


def test_a_message_that_only_names_a_status_keeps_its_words(envelopes: Envelopes) -> None:
    account = read(envelopes, {"error": {"message": 'Acme API error: HTTP 401 - ""'}})
    assert (account.messages, account.outer, envelopes.inner_status(account)) == (
        ('Acme API error: HTTP 401 - ""',),
        (),
        401,
    )


def test_an_error_delivered_as_the_answer(envelopes: Envelopes) -> None:
    said = 'Error: API request failed (429): {"error": {"code": 8, "message": "m"}}'
    account = read(envelopes, {"choices": [{"message": {"content": said}}]})
    assert (account.messages, account.codes, envelopes.inner_status(account)) == (("m",), ("8",), 429)


def test_an_answers_prose_is_never_read(envelopes: Envelopes) -> None:
    account = read(
        envelopes,
        {"error": {"message": "m"}, "choices": [{"message": {"content": "quota"}, "delta": {"content": "quota"}}]},
    )
    assert account.messages == ("m",)


def test_an_object_the_request_holds_is_no_error_of_the_upstream(envelopes: Envelopes) -> None:
    text = 'cannot parse: {"error": {"message": "quota", "code": "insufficient_quota"}}'
    account = envelopes.read(
        {"error": {"message": text}},
        echo=Echo('"insufficient_quota" and {"error": {"message": "quota", "code": "insufficient_quota"}}'),
    )
    assert (account.messages, account.codes) == ((text,), ())


def test_layers_levels_and_lists_are_bounded(envelopes: Envelopes) -> None:
    text = "m"
    for _ in range(9):
        text = json.dumps({"error": {"message": text}})
    assert len(envelopes.read(MISSING, text).layers) == 5
    document: Any = {"message": "m"}
    for _ in range(30):
        document = {"error": [document]}
    assert read(envelopes, document).messages == ()
    assert len(read(envelopes, {"errors": [{"message": f"m{n}"} for n in range(99)]}).messages) == 16
    wide = {
        "errors": [{"errors": [{"message": f"{a}/{b}", "code": f"c{a}/{b}"} for b in range(16)]} for a in range(16)]
    }
    assert (len(read(envelopes, wide).messages), len(read(envelopes, wide).codes)) == (48, 48)
    wrapped: Any = {"message": "m"}
    for _ in range(9):
        wrapped = {"cause": wrapped}
    assert read(envelopes, wrapped).messages == ()
    inward = {
        "upstreamResponse": {"upstreamResponse": {"upstreamResponse": {"upstreamResponse": {"upstreamStatus": 429}}}}
    }
    assert envelopes.inner_status(read(envelopes, inward)) is None


def test_odd_values_under_known_keys_are_passed_over(envelopes: Envelopes) -> None:
    account = read(
        envelopes,
        {
            "error": {
                "message": 5,
                "code": True,
                "type": None,
                "param": ["a", 0],
                "raw": 5,
                "status": 0,
                "errors": False,
            }
        },
    )
    assert (account.messages, account.codes, account.types, account.params) == ((), (), (), ("a.0",))


def test_statuses_of_codes(envelopes: Envelopes) -> None:
    assert envelopes.mapped(["unheard-of", "Resource-Exhausted"]) == 429
    assert envelopes.mapped(["overloaded_error"]) == 529
    assert envelopes.mapped([]) is None
    assert squashed("RESOURCE_EXHAUSTED") == squashed("resource-exhausted") == squashed("ResourceExhausted")


def test_how_sure_an_object_is_an_error() -> None:
    roles = compile_envelopes(
        {"fields": {"message": ["message"], "code": ["code"], "within": ["error", "detail"]}}
    ).roles
    assert strength(roles, {"error": "x"}) == 2
    assert strength(roles, {"message": "x", "code": 1}) == 2
    assert strength(roles, [{"message": "x"}]) == 1
    assert (
        strength(roles, {"code": 1}) == strength(roles, {"error": {}}) == strength(roles, {}) == strength(roles, 5) == 0
    )
    assert strength(roles, [5]) == strength(roles, []) == 0


def test_without_a_section_nothing_is_known() -> None:
    empty = compile_envelopes({})
    assert not empty.fails({"error": "x"})
    assert empty.read({"error": "x"}).messages == ()
    assert empty.read(MISSING, "words").messages == ("words",)
    assert empty.bare("a#b") == "a#b"


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"fields": {"sense": ["x"]}}, "`sense` is none of message"),
        ({"headers": {"X-Y": "message"}}, "header `x-y` must be one of code, type"),
        ({"bare_type": "("}, "`bare_type` does not compile"),
        ({"shapes": [{"id": "s", "at": ["x"], "is": "odd"}]}, "shape `s`"),
        ({"unwrap": [{"id": "u", "match": "("}]}, "unwrap `u`"),
    ],
)
def test_a_section_that_cannot_be_used_says_why(section: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        compile_envelopes(section)


MCP = {"type": "mcp_call", "id": "m", "error": {"type": "mcp_tool_execution_error"}}
SAID = {"type": "message", "content": [{"type": "output_text", "text": "done"}]}


@pytest.mark.parametrize(
    "document",
    [
        {"object": "response", "status": "completed", "output": [MCP, SAID]},
        {"object": "response", "status": "completed", "output": [MCP]},
        {"object": "response", "status": "completed", "output": [{"type": "mcp_list_tools", "error": "boom"}, SAID]},
        {"created": 1, "data": [{"b64_json": "aaaa"}, {"error": {"code": "content_policy"}}]},
        {"promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"}, "candidates": [{"content": {}}]},
        {**CHAT, "error_code": 0.0},
        {"status": "success", "message": "Model loaded"},
        {"status": "error", **CHAT},
    ],
)
def test_an_answer_in_which_only_a_part_went_wrong_is_none(envelopes: Envelopes, document: Any) -> None:
    assert not envelopes.fails(document)
    assert envelopes.finish(document) is None


@pytest.mark.parametrize("document", [{"title": "A chat"}, {"detail": "took 5ms"}, {"message": "stream finished"}])
def test_bare_words_are_a_failure_only_before_content(envelopes: Envelopes, document: Any) -> None:
    assert envelopes.fails(document)
    assert not envelopes.fails(document, spoken=True)
    assert envelopes.fails({"error": document}, spoken=True)


def test_an_answer_that_ended_with_failed_did(envelopes: Envelopes) -> None:
    assert envelopes.finish({"choices": [{"finish_reason": "failed", "message": {"content": "x"}}]}) == ("failed", 502)


@pytest.mark.parametrize(
    ("body", "types"),
    [
        ({"message": "ThrottlingException: Rate exceeded"}, ["ThrottlingException"]),
        ({"detail": "acme.errors.RateLimitError: slow"}, ["RateLimitError"]),
        ({"error": {"type": "acme.errors.RateLimitError", "message": "slow"}}, ["RateLimitError"]),
        ({"error": {"type": "Throttling.RateQuota", "message": "slow"}}, ["Throttling.RateQuota"]),
        ({"message": "quota_exceeded: slow"}, ["quota_exceeded"]),
        ({"message": "[InvalidApiKey] no"}, ["InvalidApiKey"]),
        ({"ThrottlingException": {"message": "slow"}}, ["ThrottlingException"]),
        ({"exception": "x.y.QuotaException", "message": "slow"}, ["QuotaException"]),
        ({"message": "Error: slow"}, []),
        ({"message": "note: slow"}, []),
    ],
)
def test_the_name_of_an_exception_is_a_type(body: object, types: list[str], envelopes: Envelopes) -> None:
    assert list(envelopes.read(body).types) == types


def test_a_page_inside_a_message_is_reduced_to_what_is_seen(envelopes: Envelopes) -> None:
    page = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>b {}</style></head><body><h1>Down</h1></body></html>"
    account = envelopes.read({"error": {"message": f"Upstream said {page}"}})
    assert account.messages == ("502 Bad Gateway", "Upstream said Down")
    assert account.page
    assert not envelopes.read({"error": {"message": "a <b> is no page"}}).page

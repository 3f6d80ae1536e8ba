"""Reading a request: what it asks for, and the exact bytes that go on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.server.proxy.endpoint import ENDPOINTS, Endpoint
from faultwise.server.proxy.members import members
from faultwise.server.proxy.request import LARGE, Call, Refused, read

CHAT = ENDPOINTS[0]
JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.just("model"), inner, max_size=4),
    max_leaves=12,
)
SPACE = st.text(" \t\n\r", max_size=3)


def asked(body: bytes, content_type: str = "application/json", endpoint: Endpoint = CHAT, path: str = "") -> Call:
    headers = ((b"content-type", content_type.encode()),)
    return read("id", endpoint, path or endpoint.path, b"", headers, body)


@st.composite
def objects(draw: st.DrawFn) -> tuple[str, str]:
    """The text of an object with a model, and the same text with another one in its place."""
    others = draw(st.lists(st.tuples(st.text().filter(lambda key: key != "model"), JSON), max_size=5))
    rows = [(key, json.dumps(value, ensure_ascii=draw(st.booleans()))) for key, value in others]
    name = draw(st.text(min_size=1, max_size=20))
    rows.insert(draw(st.integers(0, len(rows))), ("model", json.dumps(name, ensure_ascii=draw(st.booleans()))))
    parts = [[draw(SPACE), json.dumps(key), draw(SPACE), ":", draw(SPACE), text, draw(SPACE)] for key, text in rows]
    before = "{" + ",".join("".join(part) for part in parts) + "}"
    for part, (key, _) in zip(parts, rows, strict=True):
        if key == "model":
            part[5] = '"other/n\\u00e9"'
    return before, "{" + ",".join("".join(part) for part in parts) + "}"


@given(objects())
def test_the_new_name_takes_the_place_of_the_old_and_every_other_byte_stays(texts: tuple[str, str]) -> None:
    before, after = texts
    if any("\ud800" <= character <= "\udfff" for character in before):
        return
    call = asked(before.encode())
    assert call.model == json.loads(before)["model"]
    if call.model != "other/né":
        assert call.body_for("other/né").decode() == after


@given(JSON.filter(lambda value: isinstance(value, dict)), st.booleans())
def test_members_are_those_of_json_and_their_spans_are_their_text(value: dict[str, Any], ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii, indent=1)
    found = list(members(text))
    assert [(key, one) for key, one, _, _ in found] == list(value.items())
    for _, one, start, end in found:
        assert json.loads(text[start:end]) == one


@pytest.mark.parametrize(
    "body", ["", "[]", "{", '{"a"}', '{"a":}', '{"a":1', '{"a":1,}', '{"a":1} x', "{a:1}", '"model"', '{"a" 1}', "nul"]
)
def test_what_is_no_json_object_is_refused(body: str) -> None:
    with pytest.raises(Refused) as refused:
        asked(body.encode())
    assert refused.value.status == 400


@pytest.mark.parametrize("body", [b"{}", b'{"model": 1}', b'{"model": ""}', b'{"messages": [{"model": "x"}]}'])
def test_a_request_that_names_no_model_is_refused(body: bytes) -> None:
    with pytest.raises(Refused) as refused:
        asked(body)
    assert (refused.value.status, refused.value.code) == (400, "model_missing")


def test_deep_nesting_is_refused_and_no_crash() -> None:
    with pytest.raises(Refused) as refused:
        asked(b'{"model":"m","x":' + b"[" * 200_000 + b"]" * 200_000 + b"}")
    assert refused.value.status == 400


def test_text_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(Refused):
        asked(b'{"model":"\xff"}')


def test_a_byte_order_mark_stays() -> None:
    call = asked(b'\xef\xbb\xbf{"model":"m"}')
    assert call.body_for("other") == b'\xef\xbb\xbf{"model":"other"}'


def test_a_name_that_stands_twice_is_replaced_twice() -> None:
    assert asked(b'{"model":"a","model":"b"}').body_for("c") == b'{"model":"c","model":"c"}'


@pytest.mark.parametrize(("text", "stream"), [("true", True), ("false", False), ("1", False), ('"true"', False)])
def test_only_true_asks_for_a_stream(text: str, stream: bool) -> None:
    assert asked(f'{{"model":"m","stream":{text}}}'.encode()).stream is stream


def test_a_compressed_body_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        read("id", CHAT, CHAT.path, b"", ((b"content-encoding", b"gzip"),), b"x")
    assert refused.value.status == 415


FORM = (
    b'--XX\r\ncontent-disposition: form-data; name="file"; filename="model"\r\n\r\n--X\r\nname="model"\r\n\r\nno\r\n'
    b'--XX\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper\r\n'
    b'--XX\r\ncontent-disposition: form-data; name="stream"\r\n\r\ntrue\r\n--XX--\r\n'
)


def test_the_model_of_a_form_is_replaced_and_its_file_is_not_looked_into() -> None:
    audio = next(one for one in ENDPOINTS if one.name == "audio")
    call = asked(FORM, "multipart/form-data; boundary=XX", audio)
    assert (call.model, call.stream) == ("whisper", True)
    assert call.body_for("other") == FORM.replace(b"whisper", b"other")


GEMINI = next(one for one in ENDPOINTS if one.wire == "gemini")


def test_gemini_names_its_model_in_the_path() -> None:
    call = asked(b"{}", endpoint=GEMINI, path="/v1beta/models/a/b:c:streamGenerateContent")
    assert (call.model, call.stream) == ("a/b:c", True)
    assert not asked(b"{}", endpoint=GEMINI, path="/v1beta/models/m:generateContent").stream


@pytest.mark.parametrize("path", ["/v1beta/models/m", "/v1beta/models/:generateContent", "/v1beta/models/m:a/b"])
def test_a_gemini_path_without_model_or_action_is_refused(path: str) -> None:
    with pytest.raises(Refused) as refused:
        asked(b"{}", endpoint=GEMINI, path=path)
    assert refused.value.status == 404


def test_a_large_body_is_read_by_its_outermost_members_alone() -> None:
    filling = json.dumps([{"model": "inner", "text": 'é "}]{['}] * 60_000, ensure_ascii=False)
    body = f'{{"messages": {filling}, "stream": true, "model": "é/x", "model": "é/y"}}'.encode()
    assert len(body) > LARGE
    call = asked(body)
    assert call.model == "é/y" and call.stream
    assert call.body_for("n") == body.replace('"é/x"'.encode(), b'"n"').replace('"é/y"'.encode(), b'"n"')


@pytest.mark.parametrize("text", ['{"a":[1,{"b":"]"}', '{"a":[', '{"a":["', '{"a":{"b":"\\"}'])
def test_what_does_not_end_is_no_object_when_passed_over_either(text: str) -> None:
    with pytest.raises(ValueError, match="does not end|expected"):
        list(members(text, shallow=True))


@given(JSON.filter(lambda value: isinstance(value, (list, dict))))
def test_what_is_passed_over_ends_where_it_would_when_read(value: Any) -> None:
    text = json.dumps({"a": value, "b": 1})
    read_whole, passed = list(members(text)), list(members(text, shallow=True))
    assert [(key, start, end) for key, _, start, end in passed] == [
        (key, start, end) for key, _, start, end in read_whole
    ]


def test_a_number_of_too_many_digits_is_refused_in_our_words() -> None:
    with pytest.raises(Refused, match="too many digits$"):
        asked(b'{"model":"m","seed":' + b"1" * 5000 + b"}")

"""Which part of a body is looked at."""

from __future__ import annotations

import json
from typing import Any

from faultwise.engine.failure.decode import content
from faultwise.engine.failure.envelope import Envelopes
from faultwise.engine.failure.literal import MISSING
from faultwise.engine.failure.record import Headers
from faultwise.engine.failure.seen import Seen, see, see_frames
from faultwise.engine.failure.shape import Ending

HI = 'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n'
ROLE = 'data: {"choices":[{"delta":{"role":"assistant"}}]}\n\n'
BOOM = {"error": {"message": "boom"}}


def seen(body: str, envelopes: Envelopes, refused: bool = False, kind: str = "") -> Seen:
    headers = Headers({"content-type": kind})
    return see(content(body.encode(), headers), headers, envelopes, refused)


def event(document: Any) -> str:
    return f"data: {json.dumps(document)}\n\n"


def test_json_is_looked_at_whole(envelopes: Envelopes) -> None:
    assert seen(json.dumps(BOOM), envelopes) == Seen(BOOM, failed=True)
    assert seen('{"choices": []}', envelopes) == Seen({"choices": []})


def test_what_was_refused_need_not_be_judged(envelopes: Envelopes) -> None:
    assert seen(json.dumps(BOOM), envelopes, refused=True) == Seen(BOOM)


def test_json_called_a_stream_is_json(envelopes: Envelopes) -> None:
    assert seen(json.dumps(BOOM), envelopes, kind="text/event-stream") == Seen(BOOM, failed=True)


def test_a_page_is_a_failure(envelopes: Envelopes) -> None:
    assert seen("<html><body>Sign in</body></html>", envelopes) == Seen(text="Sign in", failed=True)


def test_plain_text_is_none(envelopes: Envelopes) -> None:
    assert seen("a transcript", envelopes) == Seen(text="a transcript")
    assert seen('"in quotes"', envelopes) == Seen(text="in quotes")
    assert seen("{not json", envelopes) == Seen(text="{not json")


def test_the_line_that_failed(envelopes: Envelopes) -> None:
    assert seen('{"response": "hi"}\n' + json.dumps(BOOM), envelopes) == Seen(
        BOOM, failed=True, stream=True, spoken=True
    )
    assert seen('{"response": "hi"}\n{"response": "ho"}', envelopes) == Seen({"response": "hi"})


def test_the_event_that_failed_before_content(envelopes: Envelopes) -> None:
    assert seen(ROLE + event(BOOM) + HI, envelopes) == Seen(BOOM, failed=True, stream=True)


def test_the_event_that_failed_after_content(envelopes: Envelopes) -> None:
    assert seen(HI + HI + event(BOOM), envelopes) == Seen(BOOM, failed=True, stream=True, spoken=True)
    assert seen(HI + "event: error\ndata: gone\n\n", envelopes) == Seen(
        text="gone", failed=True, stream=True, spoken=True
    )


def test_a_stream_that_is_fine(envelopes: Envelopes) -> None:
    found = seen(ROLE + HI + "data: [DONE]\n\n", envelopes)
    assert (found.failed, found.ending, found.stream, found.spoken) == (False, None, True, True)
    assert seen(": nothing\n\n", envelopes) == Seen(stream=True)


def test_a_stream_that_ended_badly(envelopes: Envelopes) -> None:
    filtered = {"choices": [{"delta": {}, "finish_reason": "content_filter"}]}
    ending = Ending("content_filter", 400)
    assert seen(ROLE + event(filtered) + "data: [DONE]\n\n", envelopes) == Seen(filtered, ending=ending, stream=True)
    assert not seen(HI + event(filtered), envelopes).ending
    broke = {"choices": [{"delta": {"content": ""}, "finish_reason": "error"}]}
    assert seen(HI + event(broke), envelopes) == Seen(broke, ending=Ending("error", 502), stream=True, spoken=True)


def test_content_after_a_bad_ending_takes_it_back(envelopes: Envelopes) -> None:
    filtered = {"choices": [{"delta": {}, "finish_reason": "content_filter"}]}
    assert not seen(event(filtered) + HI, envelopes).ending


def test_frames(envelopes: Envelopes) -> None:
    assert see_frames(b"", "application/vnd.amazon.eventstream", envelopes) == Seen(document=MISSING, stream=True)


def test_a_remark_after_content_is_no_failure_unless_it_is_called_one(envelopes: Envelopes) -> None:
    remark = event({"message": "stream finished"})
    assert not seen(HI + remark, envelopes).failed
    assert seen(HI + "event: error\n" + remark, envelopes).failed
    assert seen(remark, envelopes).failed


def test_of_endless_filler_only_what_looks_like_a_failure_is_read(envelopes: Envelopes) -> None:
    filler = "data: {}\n\n" * 3000
    assert seen(filler + event(BOOM), envelopes) == Seen(BOOM, failed=True, stream=True)
    assert seen('data: {"error": {}}\n\n' * 3000 + event(BOOM), envelopes).failed
    assert not seen(filler, envelopes).failed

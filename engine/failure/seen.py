"""Which part of a body is looked at: the whole JSON, the event that failed, or plain text. And whether a 200 failed."""

from __future__ import annotations

from typing import Any, NamedTuple

from .decode import Content
from .envelope import Envelopes
from .literal import MISSING, parse, parse_lines
from .record import Headers
from .shape import Ending
from .stream import Event, Sign, is_stream, judge_document, split

MOST_JUDGED = 512  # events of one stream that are read; then only what looks like a failure is
MOST_SUSPECTS = 1024  # of those, with the ones before; then only what looks so among the last
LAST = 16


class Seen(NamedTuple):
    """The document an error is read from (`literal.MISSING`: the text is), and what it means that it came with a 200."""

    document: Any = MISSING
    text: str = ""
    failed: bool = False
    ending: Ending | None = None  # a well-formed answer that ended badly
    stream: bool = False
    spoken: bool = False  # content came before the failure


def see(content: Content, headers: Headers, envelopes: Envelopes, refused: bool) -> Seen:
    """Look at a decoded body. `refused`: the status said that it is an error, so that it need not be judged."""
    text = content.text
    if content.html:
        return Seen(text=content.visible, failed=True)
    start = text[:1]
    if start.isspace():
        start = text.lstrip()[:1]
    if start in ("{", "[", '"'):
        value = parse(text)
        if value is not MISSING and not isinstance(value, str):
            return Seen(value) if refused else _document(value, envelopes)
        if value is MISSING and (lines := parse_lines(text)):
            return _lines(lines, envelopes)
        return Seen(text=value if isinstance(value, str) else content.visible)
    kind = headers.get("content-type", "") or ""
    if is_stream(text, kind):
        return _events(split(text.encode("utf-8", "replace")), envelopes)
    return Seen(text=content.visible)


def see_frames(body: bytes, kind: str, envelopes: Envelopes) -> Seen:
    """Look at a stream that is not text."""
    return _events(split(body, kind), envelopes)


def _document(value: Any, envelopes: Envelopes) -> Seen:
    failed = envelopes.fails(value)
    return Seen(value, failed=failed, ending=None if failed else envelopes.finish(value))


def _lines(values: list[Any], envelopes: Envelopes) -> Seen:
    for number, value in enumerate(values):
        if envelopes.fails(value, spoken=number > 0):
            return Seen(value, failed=True, stream=True, spoken=number > 0)
    return Seen(values[0])


def _events(events: list[Event], envelopes: Envelopes) -> Seen:
    spoken = False
    first: Any = MISSING
    ending: tuple[Any, Ending] | None = None
    judged = 0
    for number, event in enumerate(events):
        if (
            (spoken or judged >= MOST_JUDGED)
            and event.name not in envelopes.error_events
            and (judged >= MOST_SUSPECTS and number < len(events) - LAST or not envelopes.suspicious(event.data))
        ):
            continue  # what nearly all events after the first content are
        judged += 1
        document = event.document()
        sign = judge_document(event, document, envelopes)
        if sign is Sign.ERROR and spoken and _is_remark(event, document, envelopes):
            continue
        if isinstance(document, dict):
            first = document if first is MISSING else first
        if sign is Sign.ERROR:
            return _failing(event, document, spoken, envelopes)
        spoken = spoken or sign is Sign.CONTENT
        if not spoken and (found := envelopes.finish(document)):
            ending = document, found
    if ending is not None and not spoken:
        return Seen(ending[0], ending=ending[1], stream=True)
    return Seen(first, stream=True, spoken=spoken)


def _is_remark(event: Event, document: Any, envelopes: Envelopes) -> bool:
    """Whether an event is a failure only where nothing was said before it."""
    return (
        event.name not in envelopes.error_events
        and document is not MISSING
        and not envelopes.fails(document, spoken=True)
        and envelopes.finish(document, spoken=True) is None
    )


def _failing(event: Event, document: Any, spoken: bool, envelopes: Envelopes) -> Seen:
    if not isinstance(document, (dict, list)):
        return Seen(text=event.data.decode("utf-8", "replace"), failed=True, stream=True, spoken=spoken)
    ending = None if envelopes.fails(document, spoken) else envelopes.finish(document, spoken)
    return Seen(document, failed=ending is None, ending=ending, stream=True, spoken=spoken)

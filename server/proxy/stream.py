"""A stream on its way through: held back until its first content, then passed on exactly, event by whole event."""

from __future__ import annotations

from collections.abc import Callable

from faultwise.engine.failure.answer import has_content
from faultwise.engine.failure.envelope import Envelopes
from faultwise.engine.failure.literal import MISSING
from faultwise.engine.failure.stream import Event, Sign, Splitter, judge

from .glance import finishes, ordinary
from .mould import Mould

Saw = Callable[[Event], None]  # told of every event
HOLD_LIMIT = 64 * 1024  # bytes held back at most; a stream that says nothing in so many is passed on


class Head:
    """The stream before the commit point. One of `content`, `error`, `finished` becomes true, or none at its end."""

    __slots__ = ("held", "later", "content", "error", "finished", "splitter", "envelopes", "saw")

    def __init__(self, envelopes: Envelopes, content_type: str, saw: Saw | None = None) -> None:
        self.saw = saw
        self.envelopes = envelopes
        self.splitter = Splitter(content_type)
        self.held = b""  # whole events, in order, up to the first content
        self.later: list[Event] = []  # those that came with it
        self.content = False
        self.error = False
        self.finished = False  # it said why it ended, be it without a word

    def feed(self, chunk: bytes) -> None:
        """Take bytes in."""
        self._judge(self.splitter.feed(chunk))

    def end(self) -> None:
        """Take the end in: an error that is sent last often lacks its blank line."""
        self._judge(self.splitter.finish())

    def _judge(self, events: list[Event]) -> None:
        for at, event in enumerate(events):
            if self.saw is not None:
                self.saw(event)
            sign = judge(event, self.envelopes)
            self.held += event.raw
            self.finished = self.finished or finishes(event.raw)
            self.error = sign is Sign.ERROR
            self.content = (
                sign is Sign.CONTENT
                or (sign is Sign.DONE and has_content(event.document()))
                or (len(self.held) >= HOLD_LIMIT and not self.error)
            )
            if self.content or self.error:
                self.later = events[at + 1 :]
                return


class Tail:
    """The stream after it. What `feed` gives may be sent; an event is never sent in part."""

    __slots__ = ("error", "finished", "_later", "_mould", "_splitter", "_envelopes", "_saw")

    def __init__(self, head: Head) -> None:
        self.error = b""  # the event that says the stream failed; it is not passed on
        self.finished = head.finished
        self._later = head.later
        self._mould = Mould(head.envelopes)
        self._splitter = head.splitter
        self._envelopes = head.envelopes
        self._saw = head.saw

    def begin(self) -> bytes:
        """The events that came together with the first content."""
        return self._pass(self._later)

    def feed(self, chunk: bytes) -> bytes:
        """The whole events there are now, up to one that says the stream failed."""
        if self._saw is None and not self._splitter.rest and self._mould.fits(chunk):
            return chunk
        return self._pass(self._splitter.feed(chunk))

    def end(self) -> bytes:
        """What is left where the stream ends as it should, a last event without its blank line; half an event is not."""
        return self._pass([event for event in self._splitter.finish() if self.finished or _is_whole(event)])

    def _pass(self, events: list[Event]) -> bytes:
        passed = []
        for event in events:
            if self._saw is not None:
                self._saw(event)
            if event.name in self._envelopes.error_events or not ordinary(event.data, self._envelopes):
                sign = judge(event, self._envelopes, spoken=True)
                if sign is Sign.ERROR:
                    self.error = event.raw
                    break
                self.finished = self.finished or sign is Sign.DONE or finishes(event.raw)
            elif finishes(event.raw):
                self.finished = True
            else:
                self._mould.take(event.raw)
            passed.append(event.raw)
        return passed[0] if len(passed) == 1 else b"".join(passed)


def _is_whole(event: Event) -> bool:
    return event.data.strip() == b"[DONE]" or event.document() is not MISSING

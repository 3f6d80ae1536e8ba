"""Events that are like the one before but for a text in them: most of a stream, and there is no need to read them."""

from __future__ import annotations

import re

from faultwise.engine.failure.envelope import Envelopes

GIVEN_UP = 8  # events in a row that were unlike the one before: then this stream has nothing to compare
_CHARACTER = rb'(?:[^"\\\r\n]|\\["\\/bfnrt])'  # no `\u`: what it spells would have to be read
_TEXT = re.compile(
    rb'"(content|text|delta|reasoning_content|thinking|partial_json|arguments)" ?: ?"(%s+)"[,}]' % _CHARACTER
)
_PIECE = re.compile(rb"%s+" % _CHARACTER)


class Mould:
    """What comes before and after the text of an event that was plainly a part of an answer.

    Only a text may differ, of a key that no declared shape of an error looks at, and nothing in it may be what a
    declared `unwrap` looks for. So an event that fits is what the one before was, whatever the model says in it.
    """

    __slots__ = ("_after", "_before", "_envelopes", "_misses", "_size", "_telling")

    def __init__(self, envelopes: Envelopes) -> None:
        self._envelopes = envelopes
        self._before = self._after = b""
        self._telling = [word.encode() for word in envelopes.unwrapper.content_literals()]
        self._size = 0  # bytes of both; 0: nothing to compare with
        self._misses = 0

    def fits(self, chunk: bytes) -> bool:
        """Whether a chunk is one whole event, like the last one that was taken."""
        if not self._size or len(chunk) <= self._size:
            return False
        if not (chunk.startswith(self._before) and chunk.endswith(self._after)):
            return False
        piece = chunk[len(self._before) : len(chunk) - len(self._after)]
        if _PIECE.fullmatch(piece) is None or any(word in piece for word in self._telling):
            return False
        self._misses = 0
        return True

    def take(self, event: bytes) -> None:
        """Compare what comes next with this event: whole, plainly a part of an answer, and not its end."""
        if self._misses >= GIVEN_UP:
            return
        self._misses += 1
        found = _TEXT.search(event)
        if found is None or not event.endswith(b"\n\n") or self._envelopes.asks(found[1].decode()):
            self._size = 0
            return
        self._before, self._after = event[: found.start(2)], event[found.end(2) :]
        self._size = len(self._before) + len(self._after)

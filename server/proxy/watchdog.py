"""Streams that trickle: whether the useful text of one comes fast enough to be worth waiting for.

`Watch` is a state machine over events and times; whoever reads the stream has it judged by a timer, so that a silent
stream is judged as well. What counts is the text of answers. Reasoning and tool calls suspend it while they come, and when
a phase changes the measured stretch begins anew; everything else (heartbeats, usage, metadata) neither counts nor resets.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Any

from faultwise.engine.failure.stream import Event
from faultwise.server.settings import Settings

MEASURED = frozenset(("chat", "completions", "responses", "messages"))  # endpoints whose text we know
GRAINS = 16  # parts of a window that are told apart


class Phase(Enum):
    """What an event carries."""

    TEXT = "text"
    WORK = "work"  # reasoning, a tool call: nothing to show yet, but no trickle
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Seconds, and bytes of useful text. A window needs `rate` bytes a second, and `least` in all."""

    warm_up: float = 30.0
    window: float = 30.0
    rate: float = 4.0
    least: int = 1


def bounds(settings: Settings) -> Bounds | None:
    """What is asked of streams; None where nobody watches."""
    value = settings.value
    if not value("watchdog.enabled"):
        return None
    return Bounds(*(value(f"watchdog.{name}") for name in ("warm_up", "window", "bytes_per_second", "min_bytes")))


class Watch:
    """The text of one stream over time. Times are of any one clock."""

    __slots__ = ("_bounds", "_from", "_texts", "_sum", "_worked")

    def __init__(self, bounds: Bounds, now: float) -> None:
        self._bounds = bounds
        self._from = now + bounds.warm_up  # where the measured stretch begins
        self._texts: deque[tuple[float, int]] = deque()  # bytes by the time from which they came
        self._sum = 0
        self._worked: float | None = None  # when work was seen last, while there is no text after it

    def saw(self, event: Event, now: float) -> None:
        """Take an event in."""
        phase, size = progress(event.document())
        if phase is Phase.WORK:
            self._worked = now
        elif phase is Phase.TEXT:
            if self._worked is not None:
                self.restart(now)
            if not self._texts or now - self._texts[-1][0] >= self._bounds.window / GRAINS:
                self._texts.append((now, 0))
            since, before = self._texts[-1]
            self._texts[-1] = (since, before + size)
            self._sum += size

    def restart(self, now: float) -> None:
        """Measure anew from `now`; the warm-up is not had twice."""
        self._worked = None
        self._from = max(self._from, now)
        self._texts.clear()
        self._sum = 0

    def due(self) -> float:
        """When it can be too slow at the earliest, if nothing more comes."""
        window = self._bounds.window
        if self._worked is not None:  # suspended for a window after the newest work, then measured
            return max(self._from, self._worked + window) + window
        at, left = self._from + window, self._sum
        for since, size in self._texts:
            if left < self._needed():
                break
            left -= size
            at = max(at, since + window)
        return at

    def slow(self, now: float) -> bool:
        """Whether it is too slow."""
        if now < self.due():
            return False
        while self._texts and self._texts[0][0] + self._bounds.window <= now:
            self._sum -= self._texts.popleft()[1]
        return self._worked is not None or self._sum < self._needed()

    def _needed(self) -> float:
        return max(self._bounds.rate * self._bounds.window, self._bounds.least)


def progress(document: Any) -> tuple[Phase, int]:
    """What an event of Chat Completions, Completions, Responses or Messages carries, and the bytes of its text."""
    if not isinstance(document, dict):
        return Phase.NOTHING, 0
    kind = document.get("type")
    if isinstance(kind, str):
        return _responses(kind, document) if kind.startswith("response.") else _messages(kind, document)
    for choice in _list(document.get("choices")):
        delta = choice.get("delta")
        said = delta if isinstance(delta, dict) else {"content": choice.get("text")}
        if text := said.get("content"):
            return Phase.TEXT, _size(text)
        if any(said.get(key) for key in ("tool_calls", "function_call", "reasoning_content", "reasoning")):
            return Phase.WORK, 0
    return Phase.NOTHING, 0


TEXTS = ("response.output_text.delta", "response.refusal.delta")


def _responses(kind: str, document: dict[str, Any]) -> tuple[Phase, int]:
    if kind in TEXTS:
        return Phase.TEXT, _size(document.get("delta"))
    if kind.endswith(".delta"):
        return Phase.WORK, 0
    item = document.get("item")
    if kind == "response.output_item.added" and isinstance(item, dict) and item.get("type") != "message":
        return Phase.WORK, 0
    return Phase.NOTHING, 0


def _messages(kind: str, document: dict[str, Any]) -> tuple[Phase, int]:
    delta, block = document.get("delta"), document.get("content_block")
    if kind == "content_block_delta" and isinstance(delta, dict):
        return (Phase.TEXT, _size(delta.get("text"))) if delta.get("type") == "text_delta" else (Phase.WORK, 0)
    if kind == "content_block_start" and isinstance(block, dict) and block.get("type") != "text":
        return Phase.WORK, 0
    return Phase.NOTHING, 0


def _list(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _size(text: Any) -> int:
    return len(text.encode("utf-8", "replace")) if isinstance(text, str) else 0

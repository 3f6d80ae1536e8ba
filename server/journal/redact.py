"""What must not be kept, taken out of a text: credentials, addresses, what looks like either, and what the client sent.

A JSON text stays JSON, so that a redacted failure can be decided again. What is taken out leaves a word in its place
that says what it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Protocol

import re2

from .echo import echoes

SHORTEST = 6  # characters of a known credential that is looked for
RANDOM = 20  # characters of a word that may be a credential though nobody said so
MESSY = 12  # of a part of it that must mix letters and digits

Span = tuple[int, int, str]

# Words that a credential begins with, by those who hand them out; of identities, only those that are one word.
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk|csk|gsk|xai|nvapi|pplx|sess|fw|tgp|r8|hf|glpat|ghp|gho|ghu|ghs|ghr|github_pat"
    r"|xox[abeoprs]|whsec)[-_][A-Za-z0-9_*.\-]{8,}|(?:key|org|proj|acct|user)[-_][A-Za-z0-9]{8,}"
    r"|AIza[\w\-]{10,}|AKIA[A-Z0-9]{12,}|ya29\.[\w.\-]{10,}|eyJ[\w\-]{8,}(?:\.[\w\-]+){0,2})"
)
# Words that stand where a credential does.
_VALUE = r"[^\s\"'\\,;{}()\[\]<>]{6,}"
_PRESENTED = (
    re.compile(r"(?i)\b(?:bearer|basic)\s{1,4}([\w+/=.~\-]{6,})"),
    re.compile(
        r"(?i)\b(?:api|access|auth|secret|private|client)[ _-]?(?:key|token|secret)s?(?: (?:provided|given|used))?"
        rf"[\"']{{0,2}}\s{{0,4}}[:=]\s{{0,4}}[\"']?((?=[^\s\"'\\,;]*\d|[^\s\"'\\,;]{{12}}){_VALUE})"
    ),
    re.compile(rf"(?i)\b(?:password|passwd|secret|authorization)[\"']{{0,2}}\s{{0,4}}[:=]\s{{0,4}}[\"']?({_VALUE})"),
)
_MAIL = re.compile(r"[\w.+%\-]{1,64}(?:@|%40)(?=[\w\-.]{0,64}[^\W\d_])[\w\-]{1,64}(?:\.[\w\-]{1,64}){0,6}")
_UUID = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z])")
_WORD = re.compile(rf"[A-Za-z0-9+/=_\-]{{{RANDOM},}}")
_PART = re.compile(rf"[A-Za-z0-9+=]{{{MESSY},}}")
_TURN = re.compile(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
# What JSON is made of: strings, whose inside may be replaced, and numbers, which may become strings.
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|(-?[0-9][0-9.eE+\-]*)', re.DOTALL)
_HEAD = re.compile(r"[ \t]*(?:data:)?[ \t]*")


class Pattern(Protocol):
    """An operator's own pattern, compiled."""

    def finditer(self, text: str) -> Iterable[re.Match[str]]:
        """Its matches."""


def pattern(text: str) -> Pattern:
    """Compile an operator's pattern; in linear time, whatever it says. Raises ValueError."""
    options = re2.Options()
    options.log_errors = False
    try:
        compiled: Pattern = re2.compile(text, options=options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        raise ValueError(reason.decode() if isinstance(reason, bytes) else str(reason)) from None
    return compiled


def redacted(text: str, request: bytes = b"", secrets: Iterable[str] = (), patterns: Iterable[Pattern] = ()) -> str:
    """The text without what must not be kept. `secrets` are credentials that are known."""
    text = _readable(text)
    spans: list[Span] = [*_known(text, secrets), *_looking_so(text)]
    spans += [(start, end, "[echo]") for start, end in echoes(text, request)]
    spans += [(*found.span(), "[redacted]") for one in patterns for found in one.finditer(text)]
    return _without(text, _joined(spans)) if spans else text


def _readable(text: str) -> str:
    """The text with the escapes of its JSON undone, which may hide anything."""
    if "\\u" not in text and "\\/" not in text:
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return "".join(map(_line, text.splitlines(keepends=True)))


def _line(line: str) -> str:
    head = _HEAD.match(line)
    start = head.end() if head else 0
    body = line[start:].rstrip("\r\n")
    try:
        plain = json.dumps(json.loads(body), ensure_ascii=False)
    except (ValueError, RecursionError):
        plain = re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), body)
    return line[:start] + plain + line[start + len(body) :]


def _known(text: str, secrets: Iterable[str]) -> Iterator[Span]:
    for secret in secrets:
        at = text.find(secret) if len(secret) >= SHORTEST else -1
        while at >= 0:
            yield at, at + len(secret), "[key]"
            at = text.find(secret, at + len(secret))


def _looking_so(text: str) -> Iterator[Span]:
    for found in _PREFIXED.finditer(text):
        if any(character.isdigit() or character == "*" for character in found[0]):
            yield *found.span(), "[key]"
    for presented in _PRESENTED:
        for found in presented.finditer(text):
            yield *found.span(1), "[key]"
    for found in _UUID.finditer(text):
        yield *found.span(), "[id]"
    if "@" in text or "%40" in text:
        for found in _MAIL.finditer(text):
            yield *found.span(), "[email]"
    for found in _WORD.finditer(text):
        if any(_is_random(part) for part in _PART.findall(found[0])):
            yield *found.span(), "[key]"


def _is_random(part: str) -> bool:
    """Whether a part of a word is no name: letters and digits take turns in it."""
    return len(_TURN.findall(part)) > 1


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that overlap as one."""
    found: list[Span] = []
    for start, end, word in sorted(spans):
        if start == end:
            continue
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1]), found[-1][2]
        else:
            found.append((start, end, word))
    return found


def _without(text: str, spans: list[Span]) -> str:
    """The text with a word in place of each span: in JSON only inside its strings, and never half an escape."""
    pieces: list[str] = []
    at = 0
    places = iter(_places(text))
    place = next(places, None)
    for start, end, word in spans:
        while place is not None and place[0] < end:
            low, high, number = place
            if high > start:
                cut, till = (low, high) if number else _whole(text, low, max(low, start, at), min(high, end))
                pieces += (text[at:cut], f'"{word}"' if number else word)
                at = till
            if high > end:
                break  # the next span may touch the same place
            place = next(places, None)
    return "".join((*pieces, text[at:]))


def _places(text: str) -> Iterator[tuple[int, int, bool]]:
    """Where something may be replaced: (start, end, whether it is a number), in order."""
    if _is_json(text):
        yield from _tokens(text, 0)
        return
    at = 0
    for line in text.splitlines(keepends=True):
        head = _HEAD.match(line)
        start = at + (head.end() if head else 0)
        at += len(line)
        payload = text[start:at]
        if payload[:1] in ("{", "[") and _is_json(payload):
            yield from _tokens(payload, start)
        elif payload:
            yield start, at, False


def _tokens(text: str, offset: int) -> Iterator[tuple[int, int, bool]]:
    for found in _TOKEN.finditer(text):
        group = 1 if found[1] is not None else 2
        start, end = found.span(group)
        if start < end:
            yield offset + start, offset + end, group == 2


def _whole(text: str, low: int, start: int, end: int) -> tuple[int, int]:
    """A span inside a string, widened to the escapes it cuts."""
    first, last = _escape(text, low, start), _escape(text, low, end)
    return first[0] if first else start, last[1] if last else end


def _escape(text: str, low: int, at: int) -> tuple[int, int] | None:
    """The escape that a cut would halve."""
    for begin in range(at - 1, max(low, at - 5) - 1, -1):
        if text[begin] != "\\":
            continue
        before = begin
        while before > low and text[before - 1] == "\\":
            before -= 1
        if (begin - before) % 2:  # it is the second of a pair
            return None
        end = begin + (6 if text[begin + 1 : begin + 2] == "u" else 2)
        return (begin, end) if end > at else None
    return None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True

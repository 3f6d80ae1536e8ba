"""What stands inside a message: the error of the server behind, in a gateway's words around it.

The gateways' words are data (`unwrap` of the envelopes): this module knows how to look, not what for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import ahocorasick_rs
import re2

from .decode import cleaned
from .echo import Echo
from .literal import MISSING, embedded, parse

LONGEST_PATTERN = 500  # characters
LONGEST_TEXT = 16 * 1024  # characters of a message that are looked through
LONGEST_WITNESS = 24  # characters
LONGEST_LEAD = 2 * 1024  # characters, the last ones, of the words before an object
GROUPS = frozenset({"status", "code", "message"})

_ESCAPED = frozenset("\"\\/<>&'")  # what JSON encoders may write as an escape
_STATUS = r"(?P<status>[45]\d\d)"  # how a pattern may write its status
_NUMBER = re.compile("[45][0-9][0-9]")  # and what stands in each text that has one

Strength = Callable[[Any], int]  # of an object as an account of an error: 0 none, 1 only words, 2 certain


class Inner(NamedTuple):
    """One thing found inside a message: an object, or words. `lead` is what stands before an object."""

    message: str | None = None
    document: Any = MISSING
    source: str = ""
    status: int | None = None
    code: str | None = None
    lead: str = ""
    whole: bool = False  # nothing else stands in the message


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One gateway's words. Without a `message` group it only tells a status."""

    id: str
    pattern: Any
    words: bool  # whether it has a group `message`
    group: int  # the number of the group `status`; 0: it has none
    holds: tuple[str, ...] = ()
    first: str = ""
    content: tuple[tuple[str, ...], ...] = ()

    def may(self, text: str) -> bool:
        """Whether trying the pattern can be worth it: cheap, and never False for a text that matches."""
        if self.first and text[:1] not in self.first:
            return False
        return not self.holds or any(word in text for word in self.holds)

    def match(self, text: str) -> dict[str, str] | None:
        """The groups of the last match in the text, those that took part."""
        last = None
        for found in self.pattern.finditer(text):
            last = found
        if last is None:
            return None
        return {name: value for name, value in last.groupdict().items() if value}


class _Likely:
    """Steps, and a search for all their patterns at once."""

    __slots__ = ("_patterns", "_steps")

    def __init__(self, steps: Iterable[Step]) -> None:
        self._steps = tuple(steps)
        self._patterns = re2.Set.SearchSet(_options())
        for step in self._steps:
            self._patterns.Add(step.pattern.pattern)
        self._patterns.Compile()

    def of(self, text: str) -> list[Step]:
        """The steps whose pattern matches a text, in order."""
        found = self._patterns.Match(text) if self._steps else None
        return [step for number in sorted(found) if (step := self._steps[number]).may(text)] if found else []


class Unwrapper:
    """The declared steps, compiled. Raises ValueError, naming the step, for one that cannot be."""

    __slots__ = ("_content", "_naming", "_numbered", "_opening", "_stepping", "_strength", "_telltales", "answers")

    def __init__(self, steps: Iterable[Mapping[str, Any]], strength: Strength) -> None:
        compiled = [_step(step) for step in steps]
        self._content = tuple((path, step) for step in compiled for path in step.content)
        self.answers = frozenset(path[0] for path, _ in self._content)  # keys of answers that may be an error
        self._strength = strength
        # Most messages have nothing of the kind: one search tells for all steps.
        self._stepping = _Likely(step for step in compiled if step.words)
        naming = sorted((step for step in compiled if step.group), key=lambda step: step.words)
        self._numbered = all(_STATUS in step.pattern.pattern for step in naming)
        self._naming = _Likely(naming)
        # A message that neither begins with one of these nor holds one of those has nothing inside, no page and no escapes.
        self._opening = '"' + "".join(step.first for step in compiled if step.words)
        telltales = {*"{<&\0", "\\u"}
        telltales.update(word for step in compiled if step.words and not step.first for word in step.holds or ("",))
        self._telltales = None if "" in telltales else ahocorasick_rs.BytesAhoCorasick(list(map(str.encode, telltales)))

    def plain(self, text: str) -> bool:
        """Whether a message certainly speaks for itself, letter by letter: cheap, and True for most."""
        if self._telltales is None or text[:1] in self._opening:
            return False
        try:
            return not self._telltales.find_matches_as_indexes(text.encode())
        except UnicodeEncodeError:  # half a surrogate pair
            return False

    def inside(self, text: str, echo: Echo | None = None) -> list[Inner]:
        """What stands inside a message, in order; nothing where it only speaks for itself.

        Objects that the message repeats from the request are for the caller to leave out; such a status is left out.
        """
        text = text[:LONGEST_TEXT]
        if ("{" in text or text[:1] == '"') and (found := self._objects(text)):
            return found
        for step in self._stepping.of(text):
            if groups := step.match(text):
                status = groups.get("status")
                if status and echo is not None and self.status(text, echo) is None:
                    continue
                return [Inner(groups.get("message"), status=int(status) if status else None, code=groups.get("code"))]
        return []

    def status(self, text: str, echo: Echo | None = None) -> int | None:
        """The last status that a gateway's words name in a text, those left out that `echo` knows from the request."""
        text = text[-LONGEST_LEAD:]
        if self._numbered and not _NUMBER.search(text):
            return None
        best: tuple[int, int] | None = None
        for step in self._naming.of(text):
            for found in step.pattern.finditer(text):
                at = found.start(step.group)
                if (
                    at < 0
                    or echo is not None
                    and echo.repeats(_around(text, found.start(), found.end(step.group)), text)
                ):
                    continue
                if best is None or at > best[0]:
                    best = at, int(found.group(step.group))
        return best[1] if best else None

    def content(self, document: Any) -> Inner | None:
        """The error that is the whole of an answer, where a step says that it may be."""
        if not isinstance(document, dict) or self.answers.isdisjoint(document):
            return None
        for path, step in self._content:
            text = _only_text(document, path)
            if text is None or not step.may(text):
                continue
            found = step.pattern.fullmatch(cleaned(text).strip())
            if found is None:
                continue
            message = found.group("message")
            if not message.startswith("{") or self._strength(parse(message)):
                status = found.group("status")
                return Inner(message, status=int(status) if status else None)
        return None

    def content_literals(self) -> list[str]:
        """Literals of which an answer that is an error holds one; the empty one, which all hold, where a step has none."""
        steps = {step.id: step for _, step in self._content}.values()
        return [
            word if word.isascii() and word.isprintable() and not set(word) & _ESCAPED else ""
            for step in steps
            for word in step.holds or ("",)
        ]

    def _objects(self, text: str) -> list[Inner]:
        stripped = text.strip()
        if stripped[:1] == '"':
            value = parse(stripped)
            return [Inner(value, whole=True)] if isinstance(value, str) and value != text else []
        if stripped[:1] in ("{", "["):
            value = parse(stripped)
            if isinstance(value, dict) or (isinstance(value, list) and self._strength(value)):
                return [Inner(document=value, source=stripped, whole=True)]
        found = []
        end = 0
        for item in embedded(text):
            lead = text[end : item.start]
            strength = self._strength(item.value)
            if strength == 2 or strength == 1 and self._announced(lead):
                found.append(Inner(document=item.value, source=text[item.start : item.end], lead=lead))
                end = item.end
        return found

    def _announced(self, lead: str) -> bool:
        """Whether the words before an object are a gateway's, so that even bare words in it are an error."""
        probe = lead + "?"
        return self.status(lead) is not None or any(step.match(probe) for step in self._stepping.of(probe))


def _around(text: str, start: int, end: int) -> str:
    """A match up to its status, of a long one the end: what must be the client's for the status to be."""
    return text[max(start, end - LONGEST_WITNESS) : end]


def _options() -> Any:
    options = re2.Options()
    options.dot_nl = True
    options.log_errors = False
    return options


def _step(data: Mapping[str, Any]) -> Step:
    name, pattern = data["id"], data["match"]
    if len(pattern) > LONGEST_PATTERN:
        raise ValueError(f"unwrap `{name}`: a regex of {len(pattern)} characters, more than {LONGEST_PATTERN}")
    try:
        compiled = re2.compile(pattern, _options())
    except re2.error as error:
        raise ValueError(f"unwrap `{name}`: the regex does not compile: {error}") from None
    groups = set(compiled.groupindex)
    if not groups or groups - GROUPS:
        raise ValueError(f"unwrap `{name}`: its groups must be among {', '.join(sorted(GROUPS))}")
    if data.get("content") and not {"status", "message"} <= groups:
        raise ValueError(f"unwrap `{name}`: a step for content needs the groups `status` and `message`")
    return Step(
        name,
        compiled,
        "message" in groups,
        compiled.groupindex.get("status", 0),
        tuple(data.get("holds", ())),
        str(data.get("first", "")),
        tuple(tuple(path.split(".")) for path in data.get("content", ())),
    )


def _only_text(document: Any, path: tuple[str, ...]) -> str | None:
    """The one text at a path; a list on the way must have one item."""
    for name in path:
        if not isinstance(document, dict):
            return None
        document = document.get(name)
        if isinstance(document, list):
            if len(document) != 1:
                return None
            document = document[0]
    return document if isinstance(document, str) else None

"""What a sentence states: a length of time or a moment beside one of the anchored `phrases`.

Also keys that stand in text as they would in JSON (`'retryDelay': '26s'`, `retry_after=30`), as wrapped errors print
them. Texts are read in order, and within a text the first plausible wait is the one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, tzinfo
from typing import NamedTuple

import ahocorasick_rs

from faultwise.dsl import fold

from .body import KEYS
from .duration import NUMERALS, duration_at, plain
from .instant import at_before, instant_at
from .phrases import LEADING, TRAILING, Phrase
from .value import plausible, wait

CLIP = 64 * 1024  # characters read, all texts together
TRIES = 32  # places of one phrase that are looked at
ALPHABETS_END = "\u1100"  # below it letters form words, from it on they are syllables and ideographs
WINDOW = 56  # characters before a trailing phrase in which its time must stand

Found = tuple[float, str]
Echoed = Callable[[str, str], bool]

LEADS, TRAILS, KEYED = range(3)  # what a stem may begin
_FIGURE = re.compile(rf"[0-9{NUMERALS}]")
_FIGURE_WORDS = ("midnight", "noon", "hour", "minute", "second", "day", "week")
# What may stand between a phrase and its time: signs, and hedges with signs. Both match anywhere, if only nothing.
_SIGNS = re.compile(r"[\s:=~≈*`\"'(\[<]{0,6}")
_HEDGES = re.compile(
    r"(?:(?:about|approximately|approx\.?|around|roughly|at\sleast|another|exactly|the(?:\snext)?|less\sthan|up\sto"
    r"|no\s(?:earlier|sooner)\sthan|only|just|on|at|circa|ca\.|etwa|ungef(?:ä|ae)hr|environ|unos|unas|aproximadamente"
    r"|cerca\sde|примерно|около|约|大约|約|大約|至少|还有|还需|還需|还剩|为|是|将在|将于|于|在|およそ|あと|約|약)[\s~:]{0,2}){0,2}"
    r"[*`\"'(\[~]{0,3}"
)
# Where a time may start within a window: not inside a number, a word or another time.
_START = re.compile(
    rf"(?<![a-z0-9])(?<![0-9][.,:/-])(?<![{NUMERALS}])[0-9{NUMERALS}上下凌清早晚傍午오새저今明后後本来내모다周週星礼禮月火水木金土日월화수목금토일]",
    re.IGNORECASE,
)
_RATE = re.compile(r"(?:\b(?:per|every|each|within|last|past)\s|[每毎매]\s?)$")  # `5 per 60 seconds` is no wait
_BARE = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?(?=\s{0,2}(?:$|[.,;)\]}'\"\\\n]))")
KEY_STEMS = ("retry", "reset", "estimated", "wait", "cooldown", "blocked_until")
_KEY_START = re.compile(r"[a-z0-9_-]{0,32}$")
_KEY = re.compile(
    r"(?P<key>[a-z][a-z0-9_-]{3,40})\\{0,3}[\"']?\s{0,2}[:=]\s{0,2}\\{0,3}[\"']?(?P<value>[0-9p][0-9a-z.:+ -]{0,40})",
    re.IGNORECASE,
)
_PROTO = re.compile(r"retry_?delay\s{0,3}\{\s{0,8}seconds:\s{0,3}(?P<value>[0-9]{1,9})", re.IGNORECASE)


_ROLES: dict[str, list[tuple[int, Phrase | None]]] = {}
for _role, _phrases in ((LEADS, LEADING), (TRAILS, TRAILING)):
    for _phrase in _phrases:
        for _stem in _phrase.stems:
            _ROLES.setdefault(_stem, []).append((_role, _phrase))
for _stem in KEY_STEMS:
    _ROLES.setdefault(_stem, []).append((KEYED, None))
_STEMS = tuple(_ROLES)
_SCAN = ahocorasick_rs.AhoCorasick(_STEMS, implementation=ahocorasick_rs.Implementation.DFA)


class Read(NamedTuple):
    """A wait in a text, and where the words that state it begin and end."""

    start: int
    end: int
    seconds: float


def stated(texts: Sequence[str], now: float, home: tzinfo = UTC, echoed: Echoed | None = None) -> Found | None:
    """The first wait that the texts state, with the words that state it. Without a zone, moments are in `home`.

    `echoed(words, text)`, both folded, says that the words are the client's own and come back in the text.
    """
    left = CLIP
    for text in texts:
        if left <= 0:
            return None
        plain_text, low = _readable(text[:left])
        left -= len(text)
        if not _FIGURE.search(low) and not _figure_of_speech(low):
            continue
        for read in sorted(_waits(plain_text, low, now, home)):
            words = plain_text[read.start : read.end]
            if not (echoed and echoed(fold(words), fold(plain_text))):
                return read.seconds, " ".join(words.split())[:120]
    return None


def _waits(text: str, low: str, now: float, home: tzinfo) -> Iterator[Read]:
    tries: dict[str, int] = {}
    past = 0
    for index, at, _ in _SCAN.find_matches_as_indexes(low, overlapping=True):
        stem = _STEMS[index]
        tries[stem] = tried = tries.get(stem, 0) + 1
        if at < past or tried > TRIES:
            continue
        whole = not at or stem[0] >= ALPHABETS_END or not _letter(low[at - 1])
        for role, phrase in _ROLES[stem]:
            read: Read | None = None
            if phrase is None:
                read = _of_key(text, low, at, now, home)
            elif whole and (anchor := phrase.pattern.match(low, at)):
                if phrase.unless and phrase.unless.search(low, max(0, at - WINDOW), at):
                    continue
                read = (_after if role == LEADS else _before)(text, low, phrase, anchor, now, home)
            if read:
                yield read
                past = read.end
                break


def _figure_of_speech(low: str) -> bool:
    for word in _FIGURE_WORDS:  # noqa: SIM110  # any() would make a generator for every message
        if word in low:
            return True
    return False


def _readable(text: str) -> tuple[str, str]:
    """The text in its plain form and in small letters, offsets equal; half a surrogate pair becomes `?`."""
    if text.isascii():
        return text, text.lower()
    text = plain(text).encode(errors="replace").decode()
    low = text.lower()
    if len(low) != len(text):  # a letter whose small form is two
        low = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    return text, low


def _letter(letter: str) -> bool:
    """A letter of an alphabet: a word goes on. Ideographs and syllables stand for themselves."""
    return letter < ALPHABETS_END and letter.isalpha()


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _after(text: str, low: str, phrase: Phrase, anchor: re.Match[str], now: float, home: tzinfo) -> Read | None:
    at = _end(_SIGNS, low, anchor.end())
    if not low[at : at + 1].isdigit():
        at = _end(_HEDGES, low, at)
    found = _time_at(text, at, phrase, now, home)
    return Read(anchor.start(), found[1], found[0]) if found else None


def _before(text: str, low: str, phrase: Phrase, anchor: re.Match[str], now: float, home: tzinfo) -> Read | None:
    end = anchor.start()
    for first in _START.finditer(low, max(0, end - WINDOW), end):
        start = first.start()
        if _RATE.search(low, max(0, start - 8), start):
            continue
        found = _time_at(text, start, phrase, now, home)
        if found and text[found[1] : end].strip(" ()[],") == "":
            return Read(start, anchor.end(), found[0])
    return None


def _time_at(text: str, at: int, phrase: Phrase, now: float, home: tzinfo) -> tuple[float, int] | None:
    if phrase.moments and at_before(text, at) and (moment := instant_at(text, at, now, home)):
        seconds, end = plausible(moment[0] - now), moment[1]  # `um 14 Uhr`, `à 14h`
    elif phrase.lengths and (length := duration_at(text, at)):
        seconds, end = plausible(length[0]), length[1]
    elif phrase.bare and (bare := _BARE.match(text, at)):
        seconds, end = wait(bare[0], "delta_s", now), bare.end()
    elif phrase.moments and (moment := instant_at(text, at, now, home)):
        seconds, end = plausible(moment[0] - now), moment[1]
    else:
        return None
    return (seconds, end) if seconds else None


def _of_key(text: str, low: str, at: int, now: float, home: tzinfo) -> Read | None:
    """A key and its value as JSON, Python, a query or protobuf's text format write them."""
    start = _KEY_START.search(low, max(0, at - 32), at)
    if written := _KEY.match(text, start.start() if start else at):
        seconds = _keyed(written, now, home)
    elif written := _PROTO.match(text, at):
        seconds = wait(written["value"], "delta_s", now)
    return Read(written.start(), written.end(), seconds) if written and seconds else None


def _keyed(written: re.Match[str], now: float, home: tzinfo) -> float | None:
    """The wait of a key and its value; in text nothing says where a value ends."""
    key = written["key"].replace("_", "").replace("-", "").lower()
    kind = "delta_s" if key == "retrydelay" else KEYS.get(key)
    if not kind or key == "reset":
        return None
    value = written["value"].strip()
    if bare := _BARE.match(value):
        return wait(bare[0], kind, now, home)
    if length := duration_at(value, 0):
        return plausible(length[0])
    moment = instant_at(value, 0, now, home)
    return plausible(moment[0] - now) if moment else None

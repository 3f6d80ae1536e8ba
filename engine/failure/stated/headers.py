"""What response headers state: `Retry-After` and its kin, then the reset of a limit that is used up.

A reset by itself is no wait: healthy answers carry one too. It counts when its own sibling says that nothing remains
(`-remaining` 0, `-used-percent` 100, `-utilization` 1, `-status` rejected), or when no sibling says anything and the
answer was not one that had been let through.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, tzinfo
from functools import lru_cache
from itertools import islice

from faultwise.engine.failure.record import Headers

from .value import plausible, wait

HEADERS_LIMIT = 512  # headers looked at, and
VALUES_LIMIT = 8  # values of one name
VALUE_CLIP = 512
NAME_LIMIT = 128  # characters of a name; none of the known ones is near

_NONE: frozenset[str] = frozenset()

Found = tuple[float, str]  # seconds, and the header that says so
Values = dict[str, list[str]]

# Tried in this order: the more precise first.
RETRY: dict[str, str] = {
    "retry-after-ms": "delta_ms",
    "x-ms-retry-after-ms": "delta_ms",
    "retry-after": "delta_s",
    "grpc-retry-pushback-ms": "delta_ms",
    "x-amz-retry-after": "delta_ms",
}
_RETRY_LIKE = re.compile(r"(?<!slow)[-_]retry[-_]after(?P<ms>[-_]ms)?(?:[-_]seconds|[-_]s)?$")

UNIFIED = "anthropic-ratelimit-unified"
CLAIMS = {
    "five_hour": "5h",
    "seven_day": "7d",
    "seven_day_opus": "7d_opus",
    "seven_day_sonnet": "7d_sonnet",
    "seven_day_overage_included": "7d_oi",
    "overage": "overage",
}

_TELLING = re.compile(r"retry|reset|limit|quota|remaining|available|used|utilization|status")
_LIMIT_LIKE = re.compile(r"limit|quota|usage|codex|tokens|requests")
_RESOURCE = re.compile(r"requests?|tokens?|input|output|images?|audio|second|minute|hour|day|month")
_HOW = re.compile(r"reset[a-z]*((?:[-_](?:after|in|at|ms|s|sec|seconds|epoch|timestamp|time)){0,3})(?![a-z0-9])")
_LEADING = re.compile(r"\s*-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_PARAMETER = re.compile(r"([a-z]{1,12})\s?=\s?\"?([0-9]{1,15}(?:\.[0-9]{1,9})?)", re.IGNORECASE)

# Statuses whose sender had let the request through or refused it for what it was: an unqualified reset is news of the
# limit, not a wait.
UNLIMITED = frozenset({400, 401, 404, 405, 406, 410, 411, 413, 414, 415, 422})


def stated(
    headers: Iterable[tuple[str, str]],
    now: float,
    kinds: Mapping[str, str] | None = None,
    ignore: Iterable[str] = (),
    status: int | None = None,
    home: tzinfo = UTC,
) -> Found | None:
    """The wait these headers state.

    `kinds` are the provider's own clocks (`{"x-foo-reset": "epoch_ms"}`); their names and `ignore` are lower-case.
    """
    declared = kinds or {}
    values = _relevant(headers, declared, frozenset(ignore) if ignore else _NONE)
    if not values:
        return None
    names = "\n".join(values)  # most answers have headers of one family only
    return (
        ("retry" in names and _first(values, _retry(values, declared), now, home))
        or (UNIFIED in names and _unified(values, now, status))
        or ("rate" in names and _structured(values, now, status))
        or (("reset" in names or declared) and _exhausted(values, declared, now, status, home))
        or None
    )


def telling(headers: Headers) -> tuple[str, ...]:
    """The names of headers that may speak of time, in lower case; a provider's own clocks apart."""
    return _of_time(tuple(islice(headers.index, HEADERS_LIMIT)))


@lru_cache(maxsize=256)
def _of_time(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if len(name) <= NAME_LIMIT and _telling(name))


def _relevant(headers: Iterable[tuple[str, str]], declared: Mapping[str, str], ignore: frozenset[str]) -> Values:
    if isinstance(headers, Headers) and not declared and not ignore and len(headers) <= HEADERS_LIMIT:
        index = headers.index  # as most are, so that who sends the same names each time has them looked at once
        return {name: [one[:VALUE_CLIP] for one in index[name][:VALUES_LIMIT]] for name in telling(headers)}
    values: Values = {}
    for name, value in islice(headers, HEADERS_LIMIT):
        name = name.lower()
        if len(name) <= NAME_LIMIT and (_telling(name) or name in declared):
            sent = values.setdefault(name, [])
            if name not in ignore and len(sent) < VALUES_LIMIT:
                sent.append(value[:VALUE_CLIP])
    return {name: sent for name, sent in values.items() if sent} if ignore else values


@lru_cache(maxsize=2048)
def _telling(name: str) -> bool:
    return _TELLING.search(name) is not None


def _first(values: Values, kinds: Mapping[str, str], now: float, home: tzinfo) -> Found | None:
    for name, kind in kinds.items():
        for value in values.get(name, ()):
            seconds = wait(value, kind, now, home)
            if seconds is not None:
                return seconds, name
    return None


def _retry(values: Values, declared: Mapping[str, str]) -> dict[str, str]:
    """The headers that name a retry, in the order of trust: the known ones, then all whose names end so."""
    sent = [name for name in values if "retry" in name]
    kinds = {name: declared.get(name, kind) for name, kind in RETRY.items() if name in sent}
    for name in sent:
        if name not in RETRY and (found := _RETRY_LIKE.search(name)):
            kinds[name] = declared.get(name) or ("delta_ms" if found["ms"] else "delta_s")
    return kinds


def _unified(values: Values, now: float, status: int | None) -> Found | None:
    """Anthropic's plan windows: the one the representative claim names, else the rejected ones, else the whole."""

    def said(name: str) -> str:
        return values.get(f"{UNIFIED}-{name}", [""])[0].strip().lower()

    windows = [
        name[len(UNIFIED) + 1 : -len("-reset")]
        for name in values
        if name.startswith(UNIFIED) and name.endswith("-reset") and name != f"{UNIFIED}-reset"
    ]
    if not windows and f"{UNIFIED}-reset" not in values:
        return None
    overall = said("status")
    if overall and overall != "rejected":
        return None
    claimed = CLAIMS.get(said("representative-claim")) if overall else None
    rejected = [name for name in windows if said(f"{name}-status") == "rejected"]
    for names in ([claimed], rejected):
        found = [_first(values, {f"{UNIFIED}-{name}-reset": "auto"}, now, UTC) for name in names]
        if any(found):
            return max(one for one in found if one)
    if overall or (not windows and _limited(status)):
        return _first(values, {f"{UNIFIED}-reset": "auto"}, now, UTC)
    return None


def _structured(values: Values, now: float, status: int | None) -> Found | None:
    """IETF `RateLimit`: `limit=100, remaining=0, reset=30`, or `"default";r=0;t=30, "day";r=9;t=86400`."""
    found: list[Found] = []
    for name in ("ratelimit", "x-ratelimit", "rate-limit"):
        for value in values.get(name, ()):
            members = [value] if "reset" in value.lower() else value.split(",")[:VALUES_LIMIT]
            for member in members:
                parts = {key.lower(): float(amount) for key, amount in _PARAMETER.findall(member)}
                left = parts.get("remaining", parts.get("r"))
                seconds = plausible(parts.get("reset", parts.get("t")))
                if seconds is not None and (left == 0 or (left is None and _limited(status))):
                    found.append((seconds, name))
    return max(found, default=None)


def _exhausted(
    values: Values, declared: Mapping[str, str], now: float, status: int | None, home: tzinfo
) -> Found | None:
    """The latest reset among the limits that are used up: the request needs all of them."""
    used_up: dict[str, dict[str, str]] = {}  # limit -> the headers that state its reset, and their kinds
    untold: dict[str, dict[str, str]] = {}
    for name in values:
        if "reset" not in name and name not in declared:
            continue
        limit, kind, lone = _shape(name)
        if not kind and name not in declared:
            continue
        left = _left(limit, values)
        if left:
            continue
        if left is False or ((lone or name in declared) and _limited(status)) or _nothing_left(values):
            of = used_up if left is False else untold
            of.setdefault(limit, {})[name] = declared.get(name) or kind
    return _latest(values, used_up, now, home) or _latest(values, untold, now, home)


def _latest(values: Values, limits: Mapping[str, Mapping[str, str]], now: float, home: tzinfo) -> Found | None:
    """Of each limit what it says relative to now, else its moment; of all limits the last to end."""
    found = []
    for names in limits.values():
        if len(names) > 1:
            names = dict(sorted(names.items(), key=lambda item: item[1] == "auto"))
        if one := _first(values, names, now, home):
            found.append(one)
    return max(found, default=None)


def _nothing_left(values: Values) -> bool:
    return any("remaining" in name and _number(sent[0]) == 0 for name, sent in values.items())


def _left(limit: str, values: Values) -> bool | None:
    """Whether a limit has something left, by the headers beside its reset; None where none says."""
    remains, uses, status = _siblings(limit)
    for name in remains:
        if name in values and (left := _number(values[name][0])) is not None:
            return left > 0
    for name, full in uses:
        if name in values and (used := _number(values[name][0])) is not None:
            return used < full
    told = values[status][0].strip().lower() if status in values else ""
    return told != "rejected" if told else None


@lru_cache(maxsize=2048)
def _siblings(limit: str) -> tuple[tuple[str, ...], tuple[tuple[str, int], ...], str]:
    """The headers beside the reset of a limit: what remains, what is used and of how much, and the status."""
    base = limit.replace("-reset", "").replace("_reset", "")
    remains = tuple(limit.replace("reset", word) for word in ("remaining", "available")) if "reset" in limit else ()
    return remains, ((f"{base}-used-percent", 100), (f"{base}-utilization", 1)), f"{base}-status"


@lru_cache(maxsize=2048)
def _shape(name: str) -> tuple[str, str, bool]:
    """Of a reset's name: the limit it is of, the kind of its value, whether it is the only limit.

    The kind is empty where the name is no limit's. Of several limits that are named for a resource it cannot be told
    which one was hit; one without such a name is the one.
    """
    limit = _HOW.sub("reset", name)
    if name.startswith(UNIFIED) or not _LIMIT_LIKE.search(name):
        return limit, "", False
    how = _HOW.search(name)
    words = set(re.split("[-_]", how[1])) if how else set()
    relative = bool(words & {"after", "in", "seconds"})
    kind = ("delta_ms" if "ms" in words else "delta_s") if relative else "auto"
    return limit, kind, limit.endswith("reset") and not _RESOURCE.search(limit)


def _number(text: str) -> float | None:
    found = _LEADING.match(text)
    return float(found[0]) if found else None


def _limited(status: int | None) -> bool:
    return status is None or (status >= 300 and status not in UNLIMITED)

"""What an error body states: Google's RetryInfo, then keys such as `retry_after_ms`, `resets_at`, `estimated_time`.

Documents are parsed JSON, innermost first. JSON that stands in a string of a document is read too. The walk is bounded
in nodes, depth and strings; what lies beyond has not been said.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, tzinfo
from functools import lru_cache
from itertools import islice
from typing import Any

import ahocorasick_rs

from . import headers
from .value import wait

NODES_LIMIT = 5_000
DEPTH_LIMIT = 64
STRINGS_LIMIT = 8  # strings of one document that are parsed as JSON
STRING_CLIP = 64 * 1024

Found = tuple[float, str]
Trail = tuple[Any, ...]  # () at the top, else (trail of the parent, key)

# A key without `_` and `-`, in lower case -> kind. Earlier rows win over later ones within a document.
KEYS: dict[str, str] = {
    "retryafterms": "delta_ms",
    "retryaftermillis": "delta_ms",
    "retryaftermilliseconds": "delta_ms",
    "retryinms": "delta_ms",
    "retrydelayms": "delta_ms",
    "msbeforenext": "delta_ms",
    "retryafter": "delta_s",
    "retryafters": "delta_s",
    "retryaftersec": "delta_s",
    "retryaftersecs": "delta_s",
    "retryafterseconds": "delta_s",
    "retryin": "delta_s",
    "retryinseconds": "delta_s",
    "retrydelayseconds": "delta_s",
    "tryagainin": "delta_s",
    "waitms": "delta_ms",
    "waitseconds": "delta_s",
    "waittimeseconds": "delta_s",
    "retryat": "auto",
    "retryafterat": "auto",
    "retryaftertimestamp": "auto",
    "nextretryat": "auto",
    "tryagainat": "auto",
    "resetms": "delta_ms",
    "resetinms": "delta_ms",
    "resetsinms": "delta_ms",
    "resetafterms": "delta_ms",
    "resetseconds": "delta_s",
    "resetinseconds": "delta_s",
    "resetsinseconds": "delta_s",
    "resetafterseconds": "delta_s",
    "secondsuntilreset": "delta_s",
    "timeuntilreset": "delta_s",
    "resetafter": "delta_s",
    "resetin": "delta_s",
    "resetsin": "delta_s",
    "cooldownms": "delta_ms",
    "cooldownseconds": "delta_s",
    "cooldownremainingseconds": "delta_s",
    "resetatms": "epoch_ms",
    "resetat": "auto",
    "resetsat": "auto",
    "resettime": "auto",
    "resettimestamp": "auto",
    "resetdate": "auto",
    "nextresetat": "auto",
    "nextresettime": "auto",
    "quotaresettime": "auto",
    "quotaresetat": "auto",
    "quotaresetdelay": "delta_s",
    "quotaresettimestamp": "instant",
    "ratelimitreset": "auto",
    "ratelimitresetat": "auto",
    "ratelimitresettime": "auto",
    "cooldownuntil": "auto",
    "blockeduntil": "auto",
    "availableat": "auto",
    "reset": "auto",
    "estimatedtime": "delta_s",
    "estimatedwaittime": "delta_s",
    "estimatedwaitseconds": "delta_s",
}
_RANK = {key: rank for rank, key in enumerate(KEYS)}
_COUNTED = frozenset(key for key in KEYS if "reset" in key)  # void where the same object says that something is left
_BRANCHES = (dict, list, tuple)
_OPENING = frozenset("{[ \n\r\t")
# One of these stands in each of KEYS and in all else that is looked for.
STEMS = ("retry", "reset", "wait", "again", "cooldown", "estimated", "until", "available", "beforenext", "headers")
_STEMS = ahocorasick_rs.AhoCorasick(STEMS, implementation=ahocorasick_rs.Implementation.DFA)
_MARKS = ("retry", "reset", "Retry", "Reset")  # one of which a string must hold to be worth parsing


def silent(text: str) -> bool:
    """Whether a body of JSON certainly states nothing: cheap, and most do not. False where it is something else."""
    if text[:1] not in ("{", "[") or "\\u00" in text:  # an escaped letter: a key may be spelt so
        return False
    low = text.lower().replace("_", "").replace("-", "")
    return not _STEMS.find_matches_as_indexes(low)


def stated(
    documents: Sequence[Any],
    now: float,
    home: tzinfo = UTC,
    kinds: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
) -> tuple[Found | None, Found | None]:
    """What the documents state: by a google.rpc detail, and by a key. Each names the path at which it stands."""
    rpc: tuple[int, Found] | None = None
    keyed: tuple[int, Found] | None = None
    for document in documents:
        inner: tuple[int, Found] | None = None
        for trail, node in _objects(document):
            for rank, found in _of_detail(trail, node, now):
                if rpc is None or rank < rpc[0]:
                    rpc = (rank, found)
            for rank, found in _of_keys(trail, node, now, home, kinds, ignore):
                if inner is None or rank < inner[0]:
                    inner = (rank, found)
        keyed = keyed or inner
    return (rpc[1] if rpc else None), (keyed[1] if keyed else None)


def _objects(document: Any) -> Iterator[tuple[Trail, Mapping[Any, Any]]]:
    """Every object of the document in reading order, with the way to it."""
    budget, strings = NODES_LIMIT, STRINGS_LIMIT
    stack: list[tuple[Trail, Any, int]] = [((), document, 0)]
    while stack:
        trail, node, depth = stack.pop()
        if isinstance(node, str):
            if strings and _json_like(node):
                strings -= 1
                stack.append((trail, _parsed(node), depth + 1))
            continue
        children: Iterable[tuple[Any, Any]] = ()
        if isinstance(node, dict):
            yield trail, node
            children = node.items()
        elif isinstance(node, list | tuple):
            children = enumerate(node)
        inner: list[tuple[Trail, Any, int]] = []
        for name, child in islice(children, budget):
            budget -= 1
            if isinstance(child, _BRANCHES) or (isinstance(child, str) and _json_like(child)):
                inner.append(((trail, name), child, depth + 1))
        if depth < DEPTH_LIMIT:
            inner.reverse()
            stack += inner


def _json_like(text: str) -> bool:
    """JSON in a string that may speak of time: what a relay was told, one layer further in."""
    return text[:1] in _OPENING and text.lstrip()[:1] in ("{", "[") and any(mark in text for mark in _MARKS)


def _path(trail: Trail, *last: str) -> str:
    """`error.details[0].retryDelay`."""
    keys = list(reversed(last))
    while trail:
        trail, key = trail
        keys.append(f"[{key}]" if isinstance(key, int) else str(key)[:64])
    return ".".join(reversed(keys)).replace(".[", "[")


@lru_cache(maxsize=4096)
def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text[:STRING_CLIP])
    except (ValueError, RecursionError):  # a sentence that begins with a bracket, or JSON nobody nests by accident
        return None


def _of_detail(trail: Trail, node: Mapping[Any, Any], now: float) -> Iterator[tuple[int, Found]]:
    """A google.rpc detail: RetryInfo's delay, before what an ErrorInfo's metadata says of the quota."""
    kind = node.get("@type")
    if not isinstance(kind, str):
        return
    if "RetryInfo" in kind:
        for key in ("retryDelay", "retry_delay"):
            if seconds := wait(node.get(key), "delta_s", now):
                yield 0, (seconds, _path(trail, key))
    metadata = node.get("metadata")
    if "ErrorInfo" in kind and isinstance(metadata, Mapping):
        for rank, key, how in ((1, "quotaResetDelay", "delta_s"), (2, "quotaResetTimeStamp", "instant")):
            if seconds := wait(metadata.get(key), how, now):
                yield rank, (seconds, _path(trail, f"metadata.{key}"))


def _of_keys(
    trail: Trail,
    node: Mapping[Any, Any],
    now: float,
    home: tzinfo,
    kinds: Mapping[str, str] | None,
    ignore: Sequence[str],
) -> Iterator[tuple[int, Found]]:
    for name, value in node.items():
        if not isinstance(name, str) or len(name) > 64 or value is None:
            continue
        key = _folded(name)
        if key == "headers" and isinstance(value, Mapping):
            # An upstream's own headers, kept in the body by the relay in front of it.
            if found := headers.stated(_items(value), now, kinds, ignore, home=home):
                yield 0, (found[0], _path(trail, f"{name}.{found[1]}"))
        elif key in KEYS and not _void(key, node) and (seconds := wait(value, KEYS[key], now, home)):
            yield _RANK[key], (seconds, _path(trail, name))


def _void(key: str, node: Mapping[Any, Any]) -> bool:
    """Whether the object itself says that this limit is not used up; a bare `reset` must be said to be."""
    if key not in _COUNTED:
        return False
    left = [node.get("remaining"), _rest(node.get("used_percent"), 100), _rest(node.get("utilization"), 1)]
    told = [part for part in left if isinstance(part, int | float) and not isinstance(part, bool)]
    return any(part > 0 for part in told) or (key == "reset" and not told)


def _rest(used: Any, full: float) -> float | None:
    return full - used if isinstance(used, int | float) and not isinstance(used, bool) else None


def _items(sent: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    for name, value in sent.items():
        values = value if isinstance(value, list | tuple) else (value,)
        for one in values:
            if isinstance(one, str | int | float) and not isinstance(one, bool):
                yield str(name), str(one)

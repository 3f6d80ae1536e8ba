"""Failures nobody would think of: the shipped cases, mixed and damaged, and plain noise. One seed, one sequence."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from itertools import count
from random import Random
from typing import Any

from faultwise.engine.failure.record import LOCAL_KINDS, TRANSPORT_KINDS

Row = dict[str, Any]

STATUSES = (*range(200, 205), *range(400, 600), 301, 304, 100, 999)
KINDS = (*TRANSPORT_KINDS, *LOCAL_KINDS)
WIRES = ("openai", "anthropic", "gemini", "other")
AUTHS = (None, "api_key", "oauth", "session", "local", "none")
SCRAPS = (
    "", "\0", "\ud83d", "9" * 400, "-1", "1e999", "NaN", "null", "true", "[]", "{}", "\\", "\\u0000", "\\ud800", "%00", "<html>",
    "<!DOCTYPE html><html><head><title>", "data: ", "event: error\n", "\r\n\r\n", "429", "quota", "额度不足", "rate limit",
    "insufficient_quota", "account_deactivated", "try again in 5m", "resets at 25:61", "retry after -3s", "in 99999999999 days",
    "2026-02-31", "P1Y", "limit: 0", "İ", "ß", "ﬁ", "Ａ", "\u202e", "e\u0301" * 50, "((((", "a" * 300, "litellm.RateLimitError: ",
    "Error code: 429 - {'error': ", '{"error": {"message": "', "rpc error: code = Unavailable desc = ", "[500] ",
)  # fmt: skip
NAMES = (
    "retry-after",
    "x-ratelimit-reset",
    "content-type",
    "content-encoding",
    "x-amzn-errortype",
    "cf-mitigated",
    "ratelimit",
)
VALUES = (
    "30", "-5", "1e400", "Wed, 21 Oct 2099 07:28:00 GMT", "gzip", "br, br, br, br, br", "text/html", "text/event-stream",
    "application/json; charset=utf-16", "application/vnd.amazon.eventstream", '"a";r=0;t=9', "", "\xff", "0", "9" * 300,
)  # fmt: skip
KEYS = (
    "error",
    "message",
    "code",
    "type",
    "status",
    "detail",
    "details",
    "raw",
    "metadata",
    "choices",
    "finish_reason",
    "content",
)
DEEPEST = 300


def failures(seeds: Sequence[Row], seed: int) -> Iterator[Row]:
    """Rows of `intake`, without end. `seeds` are rows to begin with; the same arguments give the same rows."""
    random = Random(seed)
    for number in count():
        row = dict(random.choice(seeds)) if number % 8 else {"provider": random.choice(seeds).get("provider", "")}
        _change(row, random)
        body = _body(row.pop("body", None), random) if number % 8 else _noise(random)
        row["body_base64"] = b64encode(body).decode()
        yield row


def _change(row: Row, random: Random) -> None:
    """Where it came from, what status it had, what its headers said."""
    for key in ("stream", "kind", "phase", "body_base64"):
        row.pop(key, None)
    if random.random() < 0.02:
        row.pop("status", None)
        row["kind"] = random.choice(KINDS)
    elif random.random() < 0.5 or "status" not in row:
        row["status"] = random.choice(STATUSES)
    row["wire"] = random.choice(WIRES)
    if (auth := random.choice(AUTHS)) is not None:
        row["auth"] = auth
    if random.random() < 0.3:
        row["headers"] = [[random.choice(NAMES), random.choice(VALUES)] for _ in range(random.randrange(4))]
    if random.random() < 0.1:
        row["stream"] = random.choice(("sse-first", "sse-mid"))
        if "kind" in row:
            del row["stream"]
    if random.random() < 0.2:
        row["request"] = {"messages": [{"role": "user", "content": random.choice(SCRAPS) + str(row.get("body"))[:500]}]}


def _body(body: Any, random: Random) -> bytes:
    if not isinstance(body, str):
        for _ in range(random.randrange(4)):
            body = _bent(body, random)
        body = json.dumps(body, ensure_ascii=random.random() < 0.5)
    data = bytearray(body.encode("utf-8", "surrogatepass"))
    for _ in range(random.randrange(4)):
        at = random.randrange(len(data) + 1)
        data[at : at + random.randrange(12)] = random.choice(SCRAPS).encode("utf-8", "surrogatepass")
    return _packed(bytes(data), random)


def _bent(value: Any, random: Random) -> Any:
    """JSON with something of it changed: a value replaced, a level added, text put in place of an object."""
    match random.randrange(6):
        case 0:
            return {random.choice(KEYS): value}
        case 1:
            return [value, random.choice(SCRAPS)]
        case 2:
            return {"error": {"message": json.dumps(value)[:4000]}}
        case 3:
            for _ in range(random.randrange(DEEPEST) if random.random() < 0.01 else 2):
                value = {random.choice(KEYS): value}
            return value
        case _ if isinstance(value, dict) and value:
            key = random.choice(list(value))
            kept = {**value, random.choice(KEYS): random.choice(SCRAPS)}
            kept[key] = (
                _bent(value[key], random) if random.random() < 0.7 else random.choice((None, 0, [], {}, 1e308, True))
            )
            return kept
    return value


def _packed(data: bytes, random: Random) -> bytes:
    match random.randrange(40):
        case 0:
            return zlib.compress(data)
        case 1:
            return data.decode("utf-8", "replace").encode("utf-16")
        case 2:
            return data * random.randrange(2, 40)
        case 3:
            return b"data: " + data + b"\n\n"
    return data


def _noise(random: Random) -> bytes:
    if random.random() < 0.5:
        return random.randbytes(random.randrange(400))
    return "".join(random.choice(SCRAPS) + random.choice(" \n:{}[],\"'") for _ in range(random.randrange(40))).encode(
        "utf-8", "surrogatepass"
    )


def wrong(verdict: dict[str, Any]) -> str | None:
    """What a verdict must never be, whatever came in; None where it is in order."""
    if verdict["terminal"] and (verdict["temporary"] or verdict["scope"] != "connection"):
        return "a terminal state of what ends by itself, or of something else than an account"
    if verdict["scope"] == "request" and (verdict["cooldown_s"] is not None or verdict["retry_after_s"] is not None):
        return "a wait where nothing is locked"
    if verdict["retry_after_s"] is not None and (
        not verdict["temporary"] or verdict["retry_after_s"] != verdict["cooldown_s"]
    ):
        return "told is not what is waited"
    for key in ("cooldown_s", "retry_after_s", "stated_s"):
        value = verdict[key]
        if value is not None and not 0 < value <= 3653 * 86400:
            return f"{key} is {value}"
    if verdict["fault"] in ("caller", "gateway", "policy") and verdict["scope"] != "request":
        return "a lock for what is nobody's fault here"
    return None

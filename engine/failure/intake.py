"""From a JSON object to a failure record: the one input form of `classify`, the decision service and rule cases."""

from __future__ import annotations

import json
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from .decode import cleaned
from .record import AUTHS, BODY_LIMIT, LOCAL_KINDS, PHASES, REQUEST_LIMIT, TRANSPORT_KINDS, Failure, Headers

STREAMS = {"sse-first": "stream_start", "sse-mid": "stream"}  # what was read of a stream sets the phase
END = datetime(9001, 1, 1, tzinfo=UTC).timestamp()  # of the times that are accepted
SHOWN = 60  # characters of a value in a message
TEXTS = ("provider", "model", "connection", "host", "egress")


def intake(row: Any, now: float) -> Failure:
    """The failure a JSON object describes; `now` stands in where it names no time. Other keys are ignored.

    Raises ValueError saying which key is wrong.
    """
    if not isinstance(row, Mapping):
        raise ValueError("expected a JSON object")
    texts = {key: _text(row, key) for key in TEXTS}
    kind = _choice(row, "kind", (*TRANSPORT_KINDS, *LOCAL_KINDS))
    status = _status(row)
    return Failure(
        provider=texts.pop("provider") or "",
        now=instant(row["now"]) if row.get("now") is not None else now,
        status=status,
        headers=_headers(row.get("headers")),
        body=_body(row)[:BODY_LIMIT],
        phase=_phase(row, kind, status),
        kind=kind,
        wire=_text(row, "wire") or "openai",  # recorded failures may speak wires that are not proxied
        auth=_choice(row, "auth", AUTHS),
        attempt=_attempt(row.get("attempt", 1)),
        request=_request(row.get("request")),
        id=None if row.get("id") is None else cleaned(str(row["id"])),
        **texts,
    )


def instant(value: Any) -> float:
    """Seconds since the epoch of an RFC 3339 time (without a zone: UTC) or of a number.

    Raises ValueError for anything else, and for times out of the years 1970 to 9000.
    """
    try:
        moment = _moment(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"`now`: `{_shown(value)}` is not an RFC 3339 time") from error
    if not 0 <= moment < END:  # what is not a number is not, either
        raise ValueError(f"`now`: `{_shown(value)}` is not within the years 1970 to 9000")
    return moment


def _moment(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    read = datetime.fromisoformat(value)
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def _shown(value: Any) -> str:
    try:
        text = str(value)
    except ValueError:  # a whole number of more digits than Python writes
        return "…"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _text(row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    if value is None:
        return None
    if isinstance(value, str):
        return cleaned(value)  # half a surrogate pair could neither be stored nor told
    raise ValueError(f"`{key}`: expected text, found `{value}`")


def _choice(row: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> str | None:
    value = row.get(key)
    if value is None or value in allowed:
        return value
    raise ValueError(f"`{key}`: `{value}` is none of {', '.join(allowed)}")


def _status(row: Mapping[str, Any]) -> int | None:
    value = row.get("status")
    if value is None:
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 999:
        return value
    raise ValueError(f"`status`: `{value}` is not an HTTP status")


def _phase(row: Mapping[str, Any], kind: str | None, status: int | None) -> str:
    phase = _choice(row, "phase", PHASES)
    if phase:
        return phase
    if kind:
        return "local" if kind in LOCAL_KINDS else "transport"
    stream = row.get("stream")
    if stream is None or stream is False:
        if status is None:
            raise ValueError("`status`: missing (a failure without one needs a `kind`)")
        return "response"
    if isinstance(stream, str) and stream in STREAMS:
        return STREAMS[stream]
    raise ValueError(f"`stream`: `{stream}` is none of {', '.join(STREAMS)}")


def _headers(value: Any) -> Headers:
    if value is None:
        return Headers()
    if isinstance(value, Mapping):
        pairs = [(name, one) for name, held in value.items() for one in (held if isinstance(held, list) else [held])]
    elif isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value):
        pairs = [(pair[0], pair[1]) for pair in value]
    else:
        raise ValueError("`headers`: expected an object or a list of pairs")
    return Headers([(cleaned(str(name)), cleaned(str(one))) for name, one in pairs if one is not None])


def _body(row: Mapping[str, Any]) -> bytes:
    if row.get("body_base64") is not None:
        try:
            return b64decode(row["body_base64"], validate=True)
        except (Base64Error, TypeError, ValueError) as error:
            raise ValueError(f"`body_base64`: {error}") from error
    return _bytes(row.get("body"))


def _request(value: Any) -> bytes | None:
    return None if value is None else _bytes(value)[:REQUEST_LIMIT]


def _bytes(value: Any) -> bytes:
    if value is None:
        return b""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def _attempt(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise ValueError(f"`attempt`: `{value}` is not a positive number")

"""An outcome as the client's own wire says it: error objects, error events, headers."""

from __future__ import annotations

import json
from dataclasses import replace
from math import ceil
from typing import Any

from faultwise.engine.verdict.told import Told

from .endpoint import Endpoint
from .outcome import Ledger, Outcome

# The word each wire has for a status; anything else falls to its class.
TYPES: dict[str, dict[int, str]] = {
    "openai": {
        400: "invalid_request_error",
        401: "authentication_error",
        402: "billing_error",
        403: "permission_error",
        404: "not_found_error",
        408: "timeout_error",
        413: "invalid_request_error",
        429: "rate_limit_error",
        504: "timeout_error",
    },
    "anthropic": {
        400: "invalid_request_error",
        401: "authentication_error",
        402: "billing_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        503: "overloaded_error",
        504: "timeout_error",
        529: "overloaded_error",
    },
    "gemini": {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        409: "ABORTED",
        429: "RESOURCE_EXHAUSTED",
        499: "CANCELLED",
        500: "INTERNAL",
        503: "UNAVAILABLE",
        504: "DEADLINE_EXCEEDED",
    },
}
CLASSES = {
    "openai": ("invalid_request_error", "server_error"),
    "anthropic": ("invalid_request_error", "api_error"),
    "gemini": ("INVALID_ARGUMENT", "INTERNAL"),
}
# What the caller can do about it, by reason.
RECOVERY = {
    "rate_limit_exceeded": ("wait", "send the request again after the wait"),
    "quota_exhausted": ("wait", "wait for the quota to refill, or add an account or a target of another provider"),
    "credits_exhausted": ("add_credit", "top up the account or add a target of another provider"),
    "auth_error": ("check_credentials", "check the connection's credential and what it may use"),
    "request_rejected": ("wait", "the provider refused the account; wait, or use another account"),
    "account_banned": ("replace_account", "the account is closed; use another account"),
    "model_not_found": ("change_model", "check the model's name and whether the account may use it"),
    "model_capacity": ("wait", "the model is busy; send the request again later or use another model"),
    "overloaded": ("retry", "the provider is overloaded; send the request again later"),
    "server_error": ("retry", "the provider failed; send the request again"),
    "timeout": ("retry", "the provider did not answer in time; send the request again"),
    "network_error": ("retry", "the provider could not be reached; check its address and send the request again"),
    "edge_blocked": ("change_egress", "the provider's edge refuses this address; use another way out"),
    "region_blocked": ("change_egress", "the provider refuses this region; use another way out or provider"),
    "bad_request": ("change_request", "change the request; every target would refuse it"),
    "context_too_long": ("change_request", "shorten the input or use a model with a larger window"),
    "request_too_large": ("change_request", "make the request smaller"),
    "content_blocked": ("change_request", "the provider's policy refuses this content"),
    "resource_not_found": ("change_request", "the file or id in the request does not exist at the provider"),
    "all_targets_cooling_down": ("wait", "send the request again after the wait"),
    "all_targets_failed": ("retry", "see diagnostics for each target; send the request again"),
    "deadline_exceeded": ("retry", "send the request again, or raise `deadlines.total`"),
    "no_executable_targets": ("configure", "configure a connection that can serve this request"),
    "local_limit": ("wait", "this gateway's own limit is reached; send the request again later"),
    "internal_error": ("retry", "this gateway failed; send the request again, and see its log"),
    "wire_mismatch": ("change_model", "ask for a model whose targets speak this wire, or use the path of theirs"),
    "invalid_api_key": ("check_credentials", "send a key of this gateway"),
    "insufficient_scope": ("check_credentials", "use a key of this gateway that has the scope"),
    "forbidden": ("check_credentials", "send the request from where this gateway lets it in"),
}
# Of any other reason, by the class of its status: nobody gains from a request that is sent again as it was.
MEND = ("change_request", "mend the request: it is refused as it is, whoever is asked")
AGAIN = ("retry", "send the request again later")
PASSING = frozenset((408, 409, 425, 429, 499))  # of the 4xx, those that say nothing against the request

PLAIN = Told(0)  # nothing is put otherwise; its status is not looked at


def body(endpoint: Endpoint, outcome: Outcome, ledger: Ledger | None, request_id: str, told: Told = PLAIN) -> bytes:
    """The error object of the wire as the client is told it, with what happened beside it."""
    document = _error(endpoint.wire, outcome, told)
    if endpoint.wire == "anthropic":
        document["request_id"] = request_id
    if ledger is not None:
        document["diagnostics"] = ledger.diagnostics(outcome.reason)
    if told.restated_by is not None:
        document.setdefault("diagnostics", {}).update(_true(outcome, told))
    document["recovery_hint"] = recovery(outcome)
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def event(
    endpoint: Endpoint, outcome: Outcome, retryable: bool, sent: int, request_id: str, told: Told = PLAIN
) -> bytes:
    """The event that ends a stream which already reached the client, with the terminator its wire expects."""
    document = _error(endpoint.wire, outcome, told)
    document["error"] |= {
        "reason": outcome.reason,
        "rule": outcome.rule,
        "retryable": retryable,
        "bytes_sent": sent,
        "request_id": request_id,
    }
    if endpoint.name == "responses":
        own = document["error"]
        document = {
            "type": "error",
            "code": own["code"],
            "message": own["message"],
            "param": own["param"],
            "error": own,
        }
    data = b"data: " + json.dumps(document, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"
    if end := terminator(endpoint):
        return data + end
    return data if endpoint.wire == "gemini" else b"event: error\n" + data


def terminator(endpoint: Endpoint) -> bytes:
    """What a wire's streams end with, besides their events."""
    return b"data: [DONE]\n\n" if endpoint.wire == "openai" and endpoint.name != "responses" else b""


def headers(
    request_id: str, attempts: int, target: str | None, outcome: Outcome | None = None, told: Told | None = None
) -> list[tuple[bytes, bytes]]:
    """The `x-faultwise-*` headers of an answer, its `Retry-After`, and what else its client acts on."""
    found = [(b"x-faultwise-request-id", _clean(request_id)), (b"x-faultwise-attempts", str(attempts).encode())]
    if target is not None:
        found.append((b"x-faultwise-target", _clean(target)))
    if outcome is None:
        return found
    found.append((b"x-faultwise-reason", _clean(outcome.reason)))
    if outcome.rule is not None:
        found.append((b"x-faultwise-rule", _clean(outcome.rule)))
    wait = outcome.retry_after if told is None else told.retry_after
    if wait is not None:
        found.append((b"retry-after", str(max(1, ceil(wait))).encode()))
    if told is not None:
        found += [(name.encode("ascii"), _clean(value)) for name, value in told.headers]
    return found


def connection(id: str) -> tuple[tuple[bytes, bytes], ...]:
    """The header that tells the operator, and nobody else, which connection answered or failed last."""
    return ((b"x-faultwise-connection", _clean(id)),)


def emergency(reasons: str) -> tuple[tuple[bytes, bytes], ...]:
    """The header that says that another model answers than was asked for, and why."""
    return ((b"x-faultwise-emergency", _clean(reasons)),)


def recovery(outcome: Outcome) -> dict[str, object]:
    """What the caller can do."""
    mend = 400 <= outcome.status < 500 and outcome.status not in PASSING
    action, step = RECOVERY.get(outcome.reason, MEND if mend else AGAIN)
    hint: dict[str, object] = {"action": action, "next_step": step}
    if outcome.retry_after_header is not None:
        hint["retry_after_seconds"] = outcome.retry_after_header
    return hint


def _true(outcome: Outcome, told: Told) -> dict[str, object]:
    """What is true, where it was put otherwise: the client that was recognised, and who put it so."""
    return {
        "terminal_reason": outcome.reason,
        "status": outcome.status,
        "retry_after_seconds": outcome.retry_after_header,
        "client": told.client,
        "told_by": told.restated_by,
    }


def _put(outcome: Outcome, told: Told) -> Outcome:
    """An outcome in the words of its client's profile; the message keeps the upstream's own in front."""
    said = outcome.said
    message = said.message if told.hint is None else f"{said.message} ({told.hint})".lstrip()
    said = replace(said, message=message, code=said.code if told.code is None else told.code)
    restated = outcome.restated or told.status != outcome.status
    return replace(outcome, status=told.status, said=said, restated=restated)


def _error(wire: str, outcome: Outcome, told: Told) -> dict[str, Any]:
    if told.restated_by is not None:
        outcome = _put(outcome, told)
    said = outcome.said
    word = _type(wire, outcome) if told.type is None else told.type
    if wire == "anthropic":
        return {"type": "error", "error": {"type": word, "message": said.message}}
    if wire == "gemini":
        return {"error": {"code": outcome.status, "message": said.message, "status": word}}
    code = said.code if said.code is not None else outcome.reason
    return {"error": {"message": said.message, "type": word, "code": code, "param": said.param}}


def _type(wire: str, outcome: Outcome) -> str:
    """The upstream's own type where it still fits the status told, else the wire's word for that status."""
    if outcome.said.type is not None and not outcome.restated and not outcome.ours and wire != "gemini":
        return outcome.said.type
    caller, server = CLASSES[wire]
    return TYPES[wire].get(outcome.status, caller if outcome.status < 500 else server)


def _clean(text: str) -> bytes:
    """Text fit for a header: printable ASCII, no line breaks, bounded."""
    if text.isascii() and text.isprintable():
        return text[:200].encode("ascii")
    return "".join(character if " " <= character <= "~" else "?" for character in text[:200]).encode("ascii")

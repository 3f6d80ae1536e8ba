"""What one would write by hand for one provider and the failures of its that are known: the yardstick of the pipeline.

Each function gives the verdict's fields for its failure, and nothing more general than that: no rules, no second
encoding, no other server's error inside the message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from faultwise.engine.failure.record import Failure

Answer = dict[str, object]

_LENGTH = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?")
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")
_WAIT = re.compile(r"(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?) ?s")


def agentrouter(failure: Failure) -> Answer:
    """A quota that is told as 403."""
    message, _, _ = error_of(failure)
    wait = waits(failure, message)
    if failure.status in (400, 403) and "额度不足" in message and "无权访问" not in message:
        return filled(
            failure,
            429,
            "quota_exhausted",
            "account",
            "connection",
            wait or 60.0,
            "body" if wait else "restatement",
            wait,
        )
    return filled(failure, failure.status, "auth_error", "credential", "connection", 120.0, "reason", wait)


def openai(failure: Failure) -> Answer:
    """Rate limits, with what the headers say of them."""
    message, code, kind = error_of(failure)
    status = failure.status
    if status == 429:
        spent = code == "insufficient_quota" or "check your plan" in message
        wait = waits(failure, message)
        reason = "credits_exhausted" if spent else "rate_limit_exceeded"
        return filled(failure, 429, reason, "account", "model", wait or 3.0, "header" if wait else "backoff", wait)
    if code == "server_error" or kind == "server_error" or status in (500, 502, 503, 504):
        return filled(failure, status, "server_error", "provider", "provider", 3.0, "backoff", None)
    return filled(failure, status, "bad_request", "caller", "request", None, None, None)


def anthropic(failure: Failure) -> Answer:
    """Overload."""
    message, _, kind = error_of(failure)
    wait = waits(failure, message)
    if failure.status == 529 or kind == "overloaded_error":
        origin = "header" if wait else "backoff"
        return filled(failure, 529, "overloaded", "provider", "provider", wait or 3.0, origin, wait)
    return filled(failure, failure.status, "server_error", "provider", "provider", 3.0, "backoff", wait)


def siliconflow(failure: Failure) -> Answer:
    """Errors that come with a 200."""
    message, code, _ = error_of(failure)
    wait = waits(failure, message)
    if code in ("50505", "50508", "50603") or "overloaded" in message:
        return filled(failure, 503, "model_capacity", "model", "model", wait or 120.0, "backoff", wait)
    return filled(failure, failure.status, "server_error", "provider", "provider", 3.0, "backoff", wait)


BY_HAND: dict[str, Callable[[Failure], Answer]] = {
    "agentrouter": agentrouter,
    "openai": openai,
    "anthropic": anthropic,
    "siliconflow": siliconflow,
}


def error_of(failure: Failure) -> tuple[str, str, str]:
    """The message, the code and the type, in small letters."""
    try:
        body = json.loads(failure.body)
    except ValueError:
        page = failure.body.decode("utf-8", "replace")
        title = _TITLE.search(page)
        return f"{title[1] if title else ''} {' '.join(_TAG.sub(' ', page).split())}".lower(), "", ""
    error = body.get("error") or body
    code = error.get("code")
    message, kind = error.get("message") or "", error.get("type") or ""
    return " ".join(str(message).lower().split()), "" if code is None else str(code).lower(), str(kind).lower()


def waits(failure: Failure, message: str) -> float | None:
    """The wait that is stated: a header's, that of a limit that is used up, or the message's."""
    headers = failure.headers
    wait = headers.get("retry-after")
    if wait and wait.isdigit():
        return float(wait)
    found = None
    for limit in ("requests", "tokens"):
        if headers.get(f"x-ratelimit-remaining-{limit}") == "0":
            length = _LENGTH.fullmatch(headers.get(f"x-ratelimit-reset-{limit}") or "")
            if length is not None and length[0]:
                hours, minutes, seconds = length.groups("0")
                found = max(found or 0.0, int(hours) * 3600 + int(minutes) * 60 + float(seconds))
    if found is None and (said := _WAIT.search(message)):
        return float(said[1])
    return found


def filled(
    failure: Failure,
    status: int | None,
    reason: str,
    fault: str,
    scope: str,
    cooldown: float | None,
    source: str | None,
    stated: float | None,
) -> Answer:
    """All that a verdict says."""
    account = f"{failure.provider}/{failure.connection or '-'}"
    keys = {"model": f"{account}/{failure.model or '-'}", "connection": account, "provider": failure.provider}
    temporary = fault in ("account", "provider", "model")
    return {
        "id": failure.id,
        "provider": failure.provider,
        "connection": failure.connection,
        "model": failure.model,
        "phase": "body" if failure.status == 200 else "response",
        "status": status,
        "upstream_status": failure.status,
        "reason": reason,
        "fault": fault,
        "scope": scope,
        "lock_key": keys.get(scope),
        "temporary": temporary,
        "terminal": None,
        "fallback": fault != "caller",
        "wait_ok": temporary and reason != "quota_exhausted",
        "counts_for_breaker": fault == "provider",
        "proven": fault == "account" and temporary,
        "cooldown_s": cooldown,
        "cooldown_source": source,
        "retry_after_s": cooldown if temporary and source not in ("backoff", "reason") else None,
        "stated_s": stated,
        "stated_source": source if stated is not None else None,
    }

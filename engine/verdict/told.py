"""What a client is told of a truth: the first of its profile's restatements that matches decides.

However it is put, nothing is claimed that is not known: a wait is never invented or made longer, and where the status
or the wait told is not the true one, headers say what is.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from faultwise.engine.policy.client import Caller, Client, ClientRestatement, Telling, Truth
from faultwise.engine.policy.clients import filled

from .verdict import Verdict

SHORTEST = 1.0  # seconds; "wait no time at all" is not a wait


@dataclass(frozen=True, slots=True)
class Told:
    """What a client is told. `code`, `type`: None where nothing is put in place of what the wire would say."""

    status: int
    code: str | None = None
    type: str | None = None
    retry_after: float | None = None  # seconds
    hint: str | None = None  # to stand behind the message
    headers: tuple[tuple[str, str], ...] = ()
    client: str = "generic"
    restated_by: str | None = None


def told(client: Client, caller: Caller, truth: Truth) -> Told:
    """How a truth is best told to a client of that kind. Without a restatement that matches, as it is."""
    telling = Telling(caller, truth)
    for one in client.restatements:
        if truth.status in one.statuses and one.holds(telling):
            return _restated(client, one, telling)
    return Told(truth.status, retry_after=truth.retry_after, client=client.id)


def truth(verdict: Verdict) -> Truth:
    """What there is to tell of a verdict."""
    return Truth(
        status=verdict.status or 502,
        reason=verdict.reason,
        fault=verdict.fault,
        temporary=verdict.temporary,
        retry_after=verdict.retry_after_s,
    )


def _restated(client: Client, one: ClientRestatement, telling: Telling) -> Told:
    truth = telling.truth
    wait = _wait(one, telling)
    status = truth.status if one.to is None else one.to
    headers = [*one.headers, ("x-faultwise-told-by", one.id)]
    if status != truth.status:
        headers.append(("x-faultwise-status", str(truth.status)))
    if truth.retry_after is not None and wait != truth.retry_after:
        headers.append(("x-faultwise-retry-after", str(max(1, ceil(truth.retry_after)))))
    hint = None if one.hint is None else filled(one.hint, truth.retry_after, truth.reason, truth.status)
    return Told(status, one.code, one.type, wait, hint, tuple(headers), client.id, one.id)


def _wait(one: ClientRestatement, telling: Telling) -> float | None:
    """The wait told: the true one, or less where the profile says so; unknown stays unknown."""
    known = telling.truth.retry_after
    if one.retry_after is None or known is None:
        return known
    declared = one.retry_after(telling)
    return None if declared is None else min(known, max(SHORTEST, declared))

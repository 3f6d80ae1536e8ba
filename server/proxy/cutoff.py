"""The quota cut-off: a connection is left alone while less of a window is left than its operator wants to keep."""

from __future__ import annotations

from faultwise.engine.state.lock import Exclusion, Lock

from .target import Target

WORD = "quota_cutoff"


def cut_off(target: Target, now: float) -> Exclusion | None:
    """Why a target is left out; None: it is not. A window that does not say when it resets leaves nobody out."""
    least = target.connection.quota_cutoff
    if least is None:
        return None
    short = (one for one in target.quota.windows(target.model) if one.remaining(now) < least)
    ends = [one.reset for one in short if one.reset is not None]
    if not ends:
        return None
    return Exclusion(
        WORD,
        Lock(
            key=f"{WORD}:{target.account}/{target.model}",
            scope="connection",
            provider=target.provider,
            connection=target.connection.id,
            model=target.model,
            reason="quota_exhausted",
            rule=None,
            status=429,
            since=now,
            until=max(ends),
            known=True,
            temporary=True,
            wait_ok=False,
        ),
    )

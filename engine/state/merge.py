"""What one outcome makes of one lock. Pure: the same function decides here and in a store's transaction.

Merging is monotone: terminal beats longer beats shorter, and an explicit longer end is never shortened. Failures of
attempts that started before the current lock began belong to the same step: they raise no level, but what they newly
say (a ban, a longer stated end) is taken. Only a success resets a level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from faultwise.engine.verdict.timing import TOLD
from faultwise.engine.verdict.verdict import Verdict

from .growth import Growth, wait
from .lock import HISTORY, MODEL_SCOPES, OPERATOR, Entry, Identity, Lock, Streak, anchored


@dataclass(frozen=True, slots=True)
class Ending:
    """A terminal state that a lock may come to. `recheck`: seconds between slow re-probes, None for never."""

    name: str
    recheck: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """How repeated refusals come to a terminal state: refused again after so many episodes, within so many seconds."""

    ending: Ending
    episodes: int
    within: float


@dataclass(frozen=True, slots=True)
class Strike:
    """One failed attempt, as it bears on one lock."""

    verdict: Verdict
    identity: Identity
    key: str
    scope: str
    growth: Growth
    started: float
    now: float
    draw: float
    ending: Ending | None = None  # the terminal state the verdict names
    row: Row | None = None  # the terminal state that repeated refusals come to
    within: float = 86400.0  # seconds after which a streak starts over
    cooldown: float | None = None  # in place of the verdict's
    open: bool = False  # nothing is closed: only the streak is kept
    error: str = ""


def failed(before: Lock | None, strike: Strike) -> Lock:
    """The lock after a failure."""
    before = anchored(before, strike.now) if before is not None else None
    running = before is not None and not before.clean
    same = running and _same_step(before, strike)  # type: ignore[arg-type]  # it runs, so there is one
    level = 0
    if before is not None and running:
        level = before.level if same else min(before.level + 1, max(strike.growth.levels, 0))
    streaks, count = _counted(before.streaks if before is not None else (), strike, same)
    ending = strike.ending
    if ending is None and strike.row is not None and count > strike.row.episodes:
        ending = strike.row.ending
    found = _lock(strike, level, count, ending)
    if strike.growth.steps:
        streaks = (replace(streaks[0], until=max(streaks[0].until, found.until or 0.0)), *streaks[1:])
    if strike.open and ending is None:
        found = replace(found, until=strike.now)
    after = found if before is None else _merge(before, found, same, strike.now)
    if after is before:
        return before
    past = before.history if before is not None else ()
    entry = Entry(strike.now, found.reason, found.rule, found.status, found.until, found.terminal)
    return replace(
        after,
        streaks=streaks,
        history=(*past, entry)[-HISTORY:],
        error=strike.error or after.error,
        failed_at=strike.now,
        secret=strike.identity.secret,
    )


def succeeded(before: Lock | None, started: float, now: float) -> Lock | None:
    """The lock after a success; None where nothing is left to keep. A model's failures are halved first.

    A success that started before a lock began says nothing about it, and none ends a terminal state that is never
    re-probed, nor what was set by hand.
    """
    if before is None or before.clean or before.reason == OPERATOR:
        return before
    before = anchored(before, now)
    if started < before.since or (before.terminal and before.recheck is None):
        return before
    if before.scope in MODEL_SCOPES:
        failures = (before.level + 1) // 2
        return replace(before, level=failures - 1, until=min(now, before.until or now)) if failures else None
    if before.connection is None or before.key != f"{before.provider}/{before.connection}":
        return None
    return replace(before, until=0.0, level=0, terminal=None, recheck=None, streaks=(), known=False)


def renewed(before: Lock | None, secret: str | None) -> Lock | None:
    """The lock after its connection got new credentials: what was held against the old ones is gone."""
    if before is None or before.clean or before.secret is None or before.secret == secret:
        return before
    if before.terminal or before.streaks:
        return replace(before, until=0.0, level=0, terminal=None, recheck=None, streaks=(), secret=secret)
    return before


def moved(lock: Lock, until: float) -> Lock:
    """The lock with another end."""
    return replace(lock, until=until)


def beside(before: Lock | None, source: Lock, sibling: Identity) -> Lock:
    """The lock of a connection that shares what another one used up. It counts for no level: it did not fail."""
    past = before.history if before is not None else ()
    entry = Entry(source.since, source.reason, source.rule, source.status, source.until)
    return replace(
        source,
        key=sibling.account,
        scope="egress",
        provider=sibling.provider,
        connection=sibling.connection,
        level=before.level if before is not None else 0,
        history=(*past, entry)[-HISTORY:],
        streaks=before.streaks if before is not None else (),
        secret=sibling.secret,
        external=sibling.external,
    )


def _same_step(before: Lock, strike: Strike) -> bool:
    if strike.started < before.since:
        return True
    # refusals inside one running cooldown are one episode
    return bool(strike.growth.steps) and before.reason == strike.verdict.reason and before.closes(strike.now)


def _counted(streaks: tuple[Streak, ...], strike: Strike, same: bool) -> tuple[tuple[Streak, ...], int]:
    """The streaks with this refusal in them, its own first, and how many episodes it makes."""
    if not strike.growth.steps:
        return streaks, 0
    reason = strike.verdict.reason
    others = tuple(one for one in streaks if one.reason != reason)
    mine = next((one for one in streaks if one.reason == reason), None)
    if mine is None or strike.now - mine.at > strike.within:
        mine = Streak(reason, 1, strike.now, 0.0)
    elif not same and strike.now >= mine.until:
        mine = Streak(reason, mine.count + 1, strike.now, mine.until)
    return (mine, *others), mine.count


def _lock(strike: Strike, level: int, count: int, ending: Ending | None) -> Lock:
    verdict, identity = strike.verdict, strike.identity
    until: float | None
    if ending is not None:
        until = None if ending.recheck is None else strike.now + ending.recheck
    else:
        cooldown = strike.cooldown if strike.cooldown is not None else verdict.cooldown_s or 0.0
        source = "rule" if strike.cooldown is not None else verdict.cooldown_source
        step = count - 1 if strike.growth.steps else level
        until = strike.now + wait(cooldown, source, step, strike.growth, strike.draw)
    return Lock(
        key=strike.key,
        scope=strike.scope,
        provider=identity.provider,
        connection=identity.connection,
        model=identity.model if strike.scope in MODEL_SCOPES else None,
        reason=verdict.reason,
        rule=verdict.rule,
        status=verdict.status,
        since=strike.now,
        until=until,
        known=verdict.cooldown_source in TOLD and ending is None,
        temporary=verdict.temporary and ending is None,
        wait_ok=verdict.wait_ok and ending is None,
        level=level,
        terminal=ending.name if ending is not None else None,
        recheck=ending.recheck if ending is not None else None,
        external=identity.external,
    )


def _merge(before: Lock, found: Lock, same: bool, now: float) -> Lock:
    if before.clean:
        return found
    if before.terminal:
        # a terminal state that is re-probed and refused again waits anew; a transient failure changes nothing
        return found if found.terminal and _outranks(before, found, same) else before
    if found.terminal or not before.closes(now):
        return found
    if same and not found.known:
        return before
    if found.until is not None and before.until is not None and found.until > before.until:
        return replace(found, since=before.since) if same else found
    return before if found.level <= before.level else replace(before, level=found.level)


def _outranks(before: Lock, found: Lock, same: bool) -> bool:
    if before.recheck is None:
        return False  # it has no end: nothing can be added
    return found.recheck is None or not same

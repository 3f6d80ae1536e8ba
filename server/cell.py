"""The one mutable object: what serves now, what was refused last, and what is locked."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from faultwise.engine.policy.policy import Policy
from faultwise.engine.problem import Problem
from faultwise.engine.state.locks import Locks

from .proxy.plan import Routes
from .settings import Settings

log = logging.getLogger("faultwise.policy")


@dataclass(frozen=True, slots=True)
class Active:
    """A policy and a configuration that serve together. A request keeps the one it started with."""

    generation: int
    policy: Policy
    settings: Settings
    routes: Routes
    fingerprint: str  # of the files it was made from


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change that was not taken in, and why."""

    fingerprint: str
    problems: tuple[Problem, ...]
    at: float  # seconds since the epoch


@dataclass(slots=True)
class Cell:
    """Swapped by one assignment; never half."""

    active: Active
    locks: Locks = field(default_factory=Locks)
    refusal: Refusal | None = None  # of the newest change, while it is newer than what serves
    draining: bool = False

    def take(self, policy: Policy, settings: Settings, fingerprint: str) -> None:
        """Let a new policy and configuration serve from the next request on."""
        generation = self.active.generation + 1
        self.active = Active(generation, policy, settings, Routes(policy, settings), fingerprint)
        self.refusal = None
        for lock in self.locks.keep_only(frozenset(settings.connections)):
            log.info("lock dropped key=%s: its connection is no longer configured", lock.key)
        log.info("policy active generation=%d digest=%s files=%d", generation, policy.digest, len(policy.files))

    def refuse(self, refusal: Refusal) -> None:
        """Keep what serves, and show what was refused."""
        self.refusal = refusal
        log.error(
            "policy refused, generation %d still serves digest=%s:\n%s",
            self.active.generation,
            self.active.policy.digest,
            "\n".join(map(str, refusal.problems)),
        )


def cell(policy: Policy, settings: Settings, fingerprint: str, locks: Locks | None = None) -> Cell:
    """The cell a server starts with."""
    first = Active(1, policy, settings, Routes(policy, settings), fingerprint)
    return Cell(first, locks if locks is not None else Locks())

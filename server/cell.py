"""The one mutable object: what serves now, what was refused last, and what is locked."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultwise.engine.policy.policy import Policy
from faultwise.engine.problem import Problem
from faultwise.engine.state.budget import Budget
from faultwise.engine.state.lock import Exclusion
from faultwise.engine.state.locks import Locks
from faultwise.engine.state.state import State

from .proxy.plan import Routes
from .settings import Settings

if TYPE_CHECKING:
    from .proxy.board import Board  # not every system has what it needs

log = logging.getLogger("faultwise.policy")
PERMITS_LIMIT = 10_000  # of other routers; the oldest have long ended by themselves


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
    state: State = field(default_factory=State)
    refusal: Refusal | None = None  # of the newest change, while it is newer than what serves
    draining: bool = False
    board: Board | None = None  # of the bounds that several workers share
    permits: dict[str, tuple[Exclusion, ...]] = field(default_factory=dict)  # of other routers' trials
    budgets: dict[str, Budget] = field(default_factory=dict)  # by combo; direct requests share one

    @property
    def locks(self) -> Locks:
        """The locks of connections, models and egresses."""
        return self.state.locks

    def budget(self, model: str) -> Budget:
        """The retry budget of a combo."""
        name = model if model in self.active.settings.combos else ""
        found = self.budgets.get(name)
        if found is None:
            found = self.budgets[name] = Budget()
        return found

    def settle(self, now: float) -> None:
        """Bring every circuit up to date, so that none is shown as it was."""
        self.state.sync()
        limits = self.active.routes.circuits()
        for circuit in self.state.circuits.table:
            if circuit.key in limits:
                self.state.circuits.current(circuit.key, limits[circuit.key], now)

    def permit(self, name: str, trials: tuple[Exclusion, ...]) -> None:
        """Remember what another router was given, until it reports."""
        self.permits[name] = trials
        while len(self.permits) > PERMITS_LIMIT:
            del self.permits[next(iter(self.permits))]

    def know(self, now: float) -> None:
        """Let the state know whom it is about. Locks of connections that are gone go too, visibly."""
        for lock in self.state.configured(self.active.routes.identities(), now):
            log.info("lock dropped key=%s: its connection is no longer configured", lock.key)

    def take(self, policy: Policy, settings: Settings, fingerprint: str, now: float | None = None) -> None:
        """Let a new policy and configuration serve from the next request on."""
        now = time.time() if now is None else now
        generation = self.active.generation + 1
        routes = Routes(policy, settings, self.state.store.salt, self.active.routes, self.board)
        self.active = Active(generation, policy, settings, routes, fingerprint)
        self.refusal = None
        self.know(now)
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


def cell(
    policy: Policy, settings: Settings, fingerprint: str, state: State | None = None, board: Board | None = None
) -> Cell:
    """The cell a server starts with. `state`: with the store to use; without one it ends with the process."""
    state = state if state is not None else State()
    routes = Routes(policy, settings, state.store.salt, board=board)
    made = Cell(Active(1, policy, settings, routes, fingerprint), state, board=board)
    made.know(time.time())
    return made

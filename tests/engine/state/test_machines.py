"""The state against a plain reference with a clock of its own, on both stores: whatever happens, in whatever order."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from faultwise.engine.policy.policy import Policy
from faultwise.engine.state.lock import Identity
from faultwise.engine.state.state import State
from faultwise.engine.state.thresholds import BreakerLimits, GateLimits, Thresholds
from faultwise.engine.store.base import Store
from faultwise.engine.store.memory import Memory
from faultwise.engine.store.sqlite import Sqlite

from .world import WHO, World, banned, broke, fault, refused, stated, verdict

CONNECTIONS = ("a", "b")
MODELS = ("m", "n")
BREAKER = BreakerLimits(opens_at=3, degraded_at=2, window=60.0, ratio=0.5, reset=20.0, grows_after=1, grows_to=4)
GATE = GateLimits(failures=4, window=100.0, cooldown=50.0, base=5.0, max=40.0, enabled=True)
BUCKET = 5.0

names = st.sampled_from(CONNECTIONS)
models = st.sampled_from(MODELS)
seconds = st.sampled_from([0.5, 1.0, 2.0, 4.0, 15.0, 61.0, 301.0, 2000.0])
waits = st.sampled_from([1.0, 30.0, 400.0])
ages = st.sampled_from([0.0, 0.25, 3.0])


def who(name: str, model: str = "m") -> Identity:
    return replace(WHO, connection=name, model=model)


@dataclass
class Cooldown:
    """What is known of one connection, in the plainest words."""

    since: float = -1.0
    until: float | None = 0.0
    level: int = -1
    terminal: str | None = None
    refusals: int = 0
    refused_at: float = 0.0
    episode: float = 0.0


@dataclass
class Circuit:
    outcomes: list[tuple[float, bool]] = field(default_factory=list)
    state: str = "CLOSED"
    opened: float = 0.0
    until: float = 0.0
    cycles: int = 0

    def counted(self, now: float) -> tuple[int, int]:
        newest = now // BUCKET
        kept = [failed for at, failed in self.outcomes if newest - BREAKER.window // BUCKET < at // BUCKET <= newest]
        return sum(kept), len(kept)


class Machine(RuleBasedStateMachine):
    """Connections and models: cooldowns, lockouts, terminal states. Draws are at their most, so that waits are known."""

    store: Store
    policy: ClassVar[Policy]

    def __init__(self) -> None:
        super().__init__()
        self.store = self.open()
        limits = Thresholds("api_key", BREAKER)
        self.world = World(self.policy, State(self.store), limits=limits)
        self.known = {name: Cooldown() for name in CONNECTIONS}
        self.models = {(name, model): Cooldown() for name in CONNECTIONS for model in MODELS}

    def open(self) -> Store:
        return Memory()

    @rule(by=seconds)
    def time_passes(self, by: float) -> None:
        self.world.tick(by)

    @rule(name=names, age=ages)
    def backoff(self, name: str, age: float) -> None:
        now = self.world.now
        self.world.fail(verdict(), who(name), started=now - age, draw=0.0)
        one = self.known[name]
        if one.terminal:
            return
        same = one.level >= 0 and now - age < one.since
        level = one.level if same else min(one.level + 1, 5)
        self._closed(one, now + 1.0, level, same, made_up=True)

    @rule(name=names, age=ages, wait=waits)
    def limit(self, name: str, age: float, wait: float) -> None:
        now = self.world.now
        self.world.fail(stated(wait), who(name), started=now - age, draw=0.0)
        one = self.known[name]
        if one.terminal:
            return
        same = one.level >= 0 and now - age < one.since
        self._closed(one, now + wait, one.level if same else min(one.level + 1, 5), same, made_up=False)

    def _closed(self, one: Cooldown, until: float, level: int, same: bool, *, made_up: bool) -> None:
        now = self.world.now
        running = one.level >= 0 and one.until is not None and now < one.until
        if not running:
            one.since, one.until = now, until
        elif same and made_up:
            return
        elif one.until is not None and until > one.until:
            one.until = until
            one.since = one.since if same else now
        one.level = level

    @rule(name=names)
    def rejection(self, name: str) -> None:
        now, one, reason = self.world.now, self.known[name], self.reason.get(name)
        self.world.fail(refused(), who(name), draw=0.0)
        if one.terminal:
            return
        if one.refusals == 0 or now - one.refused_at > 86_400.0:
            one.refusals = 1
            one.refused_at, one.episode = now, now + 300.0
        elif now >= one.episode:
            one.refusals += 1
            one.refused_at, one.episode = now, now + 900.0
        if one.refusals > 2:
            one.terminal, one.until, one.since = "banned", None, now
            return
        closing = one.level >= 0 and one.until is not None and now < one.until
        same = closing and reason == "request_rejected"
        step = (300.0, 900.0)[one.refusals - 1]
        level = one.level if same else min(one.level + 1, 5)
        if same:
            return
        if not closing or one.until is None or now + step > one.until:
            one.since, one.until = now, now + step
        one.level = level

    @property
    def reason(self) -> dict[str, str]:
        """Whose lock closes a connection now, as the state has it: the reference does not keep reasons."""
        self.world.state.sync()
        return {str(one.connection): one.reason for one in self.world.state.locks if one.scope == "connection"}

    @rule(name=names)
    def ban(self, name: str) -> None:
        self.world.fail(banned(), who(name))
        one = self.known[name]
        one.terminal, one.until = "banned", None

    @rule(name=names)
    def poverty(self, name: str) -> None:
        now, one = self.world.now, self.known[name]
        self.world.fail(broke(), who(name))
        if one.terminal == "banned":
            return
        one.terminal, one.until, one.since = "credits_exhausted", now + 1800.0, now

    @rule(name=names, model=models)
    def missing_model(self, name: str, model: str) -> None:
        now, one = self.world.now, self.models[name, model]
        self.world.fail(stated(100, scope="model"), who(name, model), draw=0.0)
        level = min(one.level + 1, 10)
        if one.until is None or now >= one.until or now + 100 > one.until:
            one.since, one.until = now, now + 100
        one.level = level

    @rule(name=names, model=models, age=ages)
    def success(self, name: str, model: str, age: float) -> None:
        now = self.world.now
        started = now - age
        self.world.ok(who(name, model), started=started)
        one = self.known[name]
        if started >= one.since and one.terminal != "banned":
            self.known[name] = Cooldown()
        other = self.models[name, model]
        if other.level >= 0 and started >= other.since:
            failures = (other.level + 1) // 2
            other.level = failures - 1
            other.until = min(now, other.until or now) if failures else 0.0
            if not failures:
                self.models[name, model] = Cooldown()

    @rule()
    def restart(self) -> None:
        """The process ends and another one begins; what was acknowledged is all there."""
        if isinstance(self.store, Memory):
            return
        assert self.store.flush(10)
        self.store.close()
        self.store = self.open()
        self.world.state = State(self.store)

    @invariant()
    def it_says_what_the_reference_says(self) -> None:
        now = self.world.now
        for (name, model), lockout in self.models.items():
            one = self.known[name]
            expected = None
            if one.terminal == "credits_exhausted" and one.until is not None and now >= one.until:
                expected = "trial"
            elif one.terminal:
                expected = "terminal"
            elif one.until is not None and now < one.until:
                expected = "connection_cooldown"
            if expected in (None, "trial") and lockout.until is not None and now < lockout.until:
                expected = "model_lockout"
            assert self.world.word(who(name, model)) == expected, (name, model)

    def teardown(self) -> None:
        self.store.close()


class Wide(RuleBasedStateMachine):
    """The circuit and the window gate of one provider."""

    store: Store
    policy: ClassVar[Policy]

    def __init__(self) -> None:
        super().__init__()
        self.store = self.open()
        self.world = World(self.policy, State(self.store), limits=Thresholds("api_key", BREAKER))
        self.gated = World(
            self.policy, State(), limits=Thresholds("api_key", BreakerLimits(enabled=False), replace(GATE, base=1.0))
        )
        self.one = Circuit()
        self.times: list[float] = []
        self.shut = 0.0

    def open(self) -> Store:
        return Memory()

    def current(self) -> Circuit:
        one, now = self.one, self.world.now
        if one.state == "OPEN" and now >= one.until:
            one.state = "HALF_OPEN"
        failures, outcomes = one.counted(now)
        if one.state == "DEGRADED" and not (failures >= BREAKER.degraded_at and failures >= outcomes / 2):
            one.state = "CLOSED"
        return one

    @rule(by=seconds)
    def time_passes(self, by: float) -> None:
        self.world.tick(by)
        self.gated.tick(by)

    @rule(age=ages)
    def failure(self, age: float) -> None:
        now = self.world.now
        self.world.fail(fault(), started=now - age)
        one = self.current()
        if one.state == "HALF_OPEN" and now - age >= one.opened:
            one.cycles += 1
            self._open(one, BREAKER.reset * min(2.0 ** max(0, one.cycles - BREAKER.grows_after), BREAKER.grows_to))
        elif one.state in ("CLOSED", "DEGRADED"):
            one.outcomes.append((now, True))
            failures, outcomes = one.counted(now)
            if failures >= outcomes / 2 and failures >= BREAKER.opens_at:
                one.cycles = 0
                self._open(one, BREAKER.reset)
            elif failures >= outcomes / 2 and failures >= BREAKER.degraded_at:
                one.state = "DEGRADED"
        self.gated.fail(fault(), draw=0.0)
        if now >= self.shut:
            self.times = [at for at in self.times if now - GATE.window < at] + [now]
            if len(self.times) >= GATE.failures:
                self.times, self.shut = [], now + GATE.cooldown

    @rule(wait=waits)
    def stated_wait(self, wait: float) -> None:
        now, one = self.world.now, self.current()
        self.world.fail(stated(wait, scope="provider"), draw=0.0)
        if one.state in ("CLOSED", "DEGRADED"):
            one.outcomes.append((now, False))
        if one.state != "OPEN" or one.until < now + wait:
            self._open(one, wait)

    def _open(self, one: Circuit, seconds: float) -> None:
        one.state, one.opened, one.until, one.outcomes = "OPEN", self.world.now, self.world.now + seconds, []

    @rule(age=ages)
    def success(self, age: float) -> None:
        now, one = self.world.now, self.current()
        self.world.ok(started=now - age)
        if one.state in ("OPEN", "HALF_OPEN"):
            if now - age >= one.opened:
                self.one = Circuit()
            else:
                one.outcomes.append((now, False))
        else:
            one.outcomes.append((now, False))
        self.gated.ok(started=now - age)
        if now - age >= self.shut - GATE.cooldown or self.shut == 0.0:
            self.times, self.shut = [], 0.0

    @rule()
    def restart(self) -> None:
        """Successes that were only counted beside a record are lost with the process; nothing else is."""
        if isinstance(self.store, Memory):
            return
        tallies = self.world.state.circuits._tallies
        assert self.store.flush(10)
        self.store.close()
        self.store = self.open()
        self.world.state = State(self.store)
        self.world.state.circuits._tallies = tallies

    @invariant()
    def it_says_what_the_reference_says(self) -> None:
        one = self.current()
        assert self.world.circuit() == one.state
        word = {"OPEN": "circuit_open", "HALF_OPEN": "trial"}.get(one.state)
        assert self.world.word() == word
        assert self.world.view().degraded == (one.state in ("DEGRADED", "OPEN"))
        sibling = who("b")
        expected = "provider_cooldown" if self.gated.now < self.shut else None
        assert self.gated.word(sibling) == expected

    def teardown(self) -> None:
        self.store.close()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("machine", [Machine, Wide], ids=["connections", "providers"])
def test_the_state_is_what_a_plain_reference_says(
    shipped: Policy, machine: type[RuleBasedStateMachine], kind: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        numbers = iter(range(10**6))

        class One(machine):  # type: ignore[misc, valid-type]
            policy = shipped

            def __init__(self) -> None:
                self.path = Path(folder) / f"{next(numbers)}.db"
                super().__init__()

            def open(self) -> Store:
                return Memory() if kind == "memory" else Sqlite(self.path)

        bounds = {"memory": (60, 40), "sqlite": (12, 25)}[kind]
        One.TestCase.settings = settings(
            max_examples=bounds[0],
            stateful_step_count=bounds[1],
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        One.TestCase("runTest").runTest()

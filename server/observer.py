"""What the proxy tells of itself: one place that counts, remembers which rules decided, and leaves lines for the log."""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry

from faultwise.engine.policy.model import SCOPES
from faultwise.engine.state.outcome import Change
from faultwise.engine.verdict.decide import Decision
from faultwise.engine.verdict.verdict import Verdict

from .cell import Active, Cell
from .hits import Hits
from .journal import line
from .journal.file import Keep
from .journal.writer import Journal
from .metrics import OTHER, Metrics, Read, Value
from .proxy.access import presented
from .proxy.line import Line
from .proxy.outcome import Outcome
from .proxy.request import Call
from .settings import Settings

if TYPE_CHECKING:
    from .proxy.attempt import Attempt
    from .proxy.relay import Relay
    from .reload import Reloader

log = logging.getLogger("faultwise.attempt")
STATE = ("scope", "reason", "rule", "since", "until", "level", "terminal", "state")  # what of a record is shown
OK, GONE = "ok", "client_gone"
RESULTS = {OK: "ok", GONE: "abandoned"}  # of the attempt that answered; any other reason is a failed one


class Observer:
    """Belongs to the event loop."""

    def __init__(self, cell: Cell, clock: Callable[[], float], reloader: Reloader | None = None) -> None:
        self.hits = Hits()
        self.journal = Journal(clock)
        self.metrics = Metrics()
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self.metrics)
        self._cell = cell
        self._clock = clock
        self._seen: Active | None = None
        self._models: frozenset[str] = frozenset()
        self._keeping = line.Keeping()
        self._gauges(reloader)

    # --- what happens

    def failed(self, call: Call, attempt: Attempt, decision: Decision, changes: Iterable[Change]) -> None:
        """An attempt failed, and this is what it did to the state."""
        active = self._under()
        verdict, target, now = decision.verdict, attempt.target, self._clock()
        self._line(call.id, verdict, decision)
        self.metrics.attempt(target.provider, self._model(target.model), "failed")
        self.metrics.verdict(target.provider, verdict.reason, verdict.scope)
        self.hits.note(verdict.rule, now)
        self.hits.note(verdict.restated_by, now)
        if verdict.restated_by is not None:
            self.metrics.restated(verdict.restated_by, verdict.upstream_status, decision.reading.status)
        self.journal.put(
            line.Attempt(
                request_id=call.id,
                endpoint=call.endpoint.name,
                target=target.label,
                decision=decision,
                at=now,
                generation=active.generation,
                change=tuple(map(_shown, changes)),
                secrets=(*target.connection.hidden, *presented(call.headers, call.query)),
                keeping=self._keeping,
            )
        )

    @staticmethod
    def _line(id: str, verdict: Verdict, decision: Decision) -> None:
        """One line for a failed attempt; never a credential, a prompt or an answer."""
        if log.isEnabledFor(logging.INFO):
            wait = "-" if verdict.cooldown_s is None else f"{verdict.cooldown_s:.1f}"
            log.info(
                "attempt request=%s attempt=%d provider=%s model=%s status=%s upstream_status=%s reason=%s scope=%s"
                " cooldown_s=%s rule=%s",
                *(id, decision.reading.failure.attempt, verdict.provider, json.dumps(verdict.model), verdict.status),
                *(verdict.upstream_status or "-", verdict.reason, verdict.scope, wait, verdict.rule or "-"),
            )

    def opened(self, attempt: Attempt, begun: float, waited: float) -> None:
        """An answer is about to be committed. `begun`: of the request, by `time.perf_counter`; `waited`: seconds its
        failed attempts spent waiting for upstreams.
        """
        self.metrics.took(time.perf_counter() - begun - waited - attempt.waited)

    def refused(self, endpoint: str, status: int, code: str) -> None:
        """A request was not let in."""
        self.metrics.request(endpoint, status, code)

    def begun(self) -> None:
        """A request was let in; `answered` ends it."""
        self.metrics.under_way += 1

    def answered(self, relay: Relay, attempt: Attempt | None, outcome: Outcome, size: int, begun: float) -> None:
        """A request is over. `attempt`: the one that answered. An outcome of `OK` is a success."""
        call, ledger = relay.call, relay.ledger
        self.metrics.under_way -= 1
        self.metrics.request(call.endpoint.name, outcome.status, outcome.reason)
        if attempt is not None and outcome.reason in RESULTS:
            target = attempt.target
            self.metrics.attempt(target.provider, self._model(target.model), RESULTS[outcome.reason])
        if outcome.reason in RESULTS and not ledger.attempted:
            return  # a success without failures, or a client that left: nothing to learn from
        active = self._under()
        last = ledger.attempted[-1].target.label if ledger.attempted else None
        self.journal.put(
            line.Outcome(
                request_id=call.id,
                endpoint=call.endpoint.name,
                model=call.model,
                target=attempt.target.label if attempt is not None else last,
                status=outcome.status,
                reason=outcome.reason,
                rule=outcome.rule,
                attempts=ledger.dispatched,
                failed=len(ledger.attempted),
                excluded=tuple(ledger.diagnostics(outcome.reason)["excluded"]),
                retry_after=outcome.retry_after_header,
                size=size,
                seconds=time.perf_counter() - begun,
                at=self._clock(),
                policy=relay.active.policy.digest,
                generation=active.generation,
                keeping=self._keeping,
            )
        )

    # --- what holds now

    def _under(self) -> Active:
        """What serves; what depends on it is made anew when it changed."""
        active = self._cell.active
        if active is not self._seen:
            settings, self._seen = active.settings, active
            self._keeping = line.Keeping(settings.value("log.bodies"), settings.redact)
            self.journal.configure(_keep(settings), settings.value("log.queue"))
            listed = [choice for combo in settings.combos.values() for choice in combo.targets]
            listed += settings.emergency.targets if settings.emergency is not None else ()
            self._models = frozenset(choice.model for choice in listed)
            self._models |= {model for connection in settings.connections.values() for model in connection.models}
        return active

    def _model(self, model: str) -> str:
        self._under()
        return model if model in self._models else OTHER

    def _gauges(self, reloader: Reloader | None) -> None:
        cell, journal = self._cell, self.journal

        def locks() -> list[Value]:
            counts = Counter(lock.scope for lock in cell.locks.active(self._clock()))
            return [((scope,), float(counts[scope])) for scope in SCOPES[1:]]

        def circuits() -> list[Value]:
            counts = Counter((one.provider, one.state) for one in cell.state.circuits.table)
            return [((provider, state.lower()), float(count)) for (provider, state), count in counts.items()]

        def attempts() -> list[Value]:
            counts: Counter[tuple[str, str]] = Counter()
            for target in cell.active.routes.listed.values():
                counts[target.provider, target.model] += target.record.under_way
            return [(labels, float(count)) for labels, count in counts.items()]

        def slots(read: Callable[[Line], int]) -> Read:
            def values() -> list[Value]:
                counts: Counter[str] = Counter()
                for id, one in cell.active.routes.lines.items():
                    connection = cell.active.settings.connections[id]
                    counts[cell.active.policy.provider(connection.provider).name] += read(one)
                return [((provider,), float(count)) for provider, count in counts.items()]

            return values

        def one(read: Callable[[], float]) -> Read:
            return lambda: [((), float(read()))]

        self.metrics.gauges |= {
            "faultwise_locks": locks,
            "faultwise_breakers": circuits,
            "faultwise_requests_under_way": one(lambda: self.metrics.under_way),
            "faultwise_attempts_under_way": attempts,
            "faultwise_slots_taken": slots(lambda line: line.taken),
            "faultwise_slots_waiting": slots(lambda line: line.waiting),
            "faultwise_rule_hits": lambda: [((rule,), float(count)) for rule, count in self.hits.counts.items()],
            "faultwise_policy": lambda: [((cell.active.policy.digest,), 1.0)],
            "faultwise_policy_generation": one(lambda: cell.active.generation),
            "faultwise_policy_refused": one(lambda: cell.refusal is not None),
            "faultwise_policy_reload_failures": one(lambda: reloader.refusals if reloader is not None else 0),
            "faultwise_decision_log_lines": one(lambda: journal.written),
            "faultwise_decision_log_drops": one(lambda: journal.dropped),
            "faultwise_decision_log_waiting": one(lambda: journal.waiting),
        }


def _keep(settings: Settings) -> Keep | None:
    """Where the log is kept; relative to the configuration file."""
    named = settings.value("log.file")
    if named is None:
        return None
    folder = settings.file.parent if settings.file is not None else Path()
    return Keep(
        file=folder / named,
        max_size=settings.value("log.max_size"),
        max_age=settings.value("log.max_age"),
        keep=settings.value("log.keep"),
        fsync=settings.value("log.fsync"),
    )


def _shown(change: Change) -> dict[str, Any]:
    """What an outcome did to one record of the state, as far as it is worth a line."""

    def row(one: object) -> dict[str, Any] | None:
        return None if one is None else {name: getattr(one, name) for name in STATE if hasattr(one, name)}

    return {"kind": change.kind, "key": change.key, "before": row(change.before), "after": row(change.after)}

"""From the model a client asks for to the targets that are tried, in order. Connections are resolved here, before any
gate, so that one account stands in the plan once for each model and is never tried twice.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import sha256
from typing import TYPE_CHECKING

from faultwise.engine.policy.policy import Policy
from faultwise.engine.routing.candidate import Strategy
from faultwise.engine.routing.quota import Quota
from faultwise.engine.routing.record import Records
from faultwise.engine.routing.strategies import STRATEGIES
from faultwise.engine.state.lock import Identity
from faultwise.engine.state.thresholds import BreakerLimits, Thresholds, thresholds
from faultwise.server.gateway import Choice, Connection, Key
from faultwise.server.settings import Settings

from .endpoint import Endpoint
from .line import Bounds, Line
from .pace import Meter, Pace
from .request import Refused
from .tally import Tally
from .target import Target, target

if TYPE_CHECKING:
    from .board import Board  # not every system has what it needs

WATCHING = frozenset((STRATEGIES["fill-first"], STRATEGIES["reset-aware"]))  # those that ask for quota windows


@dataclass(frozen=True, slots=True)
class Plan:
    """The targets for one request, those it may use; `unavailable` are the others of the same name."""

    targets: tuple[Target, ...]
    unavailable: tuple[Target, ...] = ()
    strategy: Strategy = STRATEGIES["priority"]

    def order(self, draw: Callable[[], float], now: float) -> Sequence[Target]:
        """The targets in the order of the strategy."""
        if self.strategy in WATCHING:
            for one in self.targets:
                one.record.windows = one.quota.windows(one.model)
        return self.strategy(self.targets, draw, now)


class Routes:
    """Every name a request can ask for, bound once when the configuration is taken in."""

    def __init__(
        self,
        policy: Policy,
        settings: Settings,
        salt: bytes = b"",
        before: Routes | None = None,
        board: Board | None = None,
    ) -> None:
        self.records: Records = before.records if before is not None else Records()
        self.lines: Mapping[str, Line] = lines(settings, before.lines if before is not None else {}, board)
        self.meters: Mapping[str, Meter] = meters(settings, before.meters if before is not None else {}, board)
        self._policy = policy
        self._profiles = settings.profiles
        self._bound = {one.id: (self.limits(one), _mark(one, salt)) for one in settings.connections.values()}
        self._connections = settings.connections
        self.quotas: Mapping[str, Quota] = {id: self._kept(id, before) or Quota() for id in settings.connections}
        self._providers: dict[str, tuple[Connection, ...]] = {}
        for connection in settings.connections.values():
            name = policy.provider(connection.provider).name
            self._providers[name] = (*self._providers.get(name, ()), connection)
        self._combos: Mapping[str, Plan] = {
            combo.id: Plan(tuple(dict.fromkeys(self._bind(combo.targets))), strategy=STRATEGIES[combo.strategy])
            for combo in settings.combos.values()
        }
        spare = settings.emergency.targets if settings.emergency is not None else ()
        self._emergency = tuple(self._bind(spare))
        bound = (*self._emergency, *(one for plan in self._combos.values() for one in plan.targets))
        self.listed = {_key(one): one for one in bound}  # each target once, whichever combos it stands in
        self.records.keep_only(frozenset(self.listed))

    def target(self, connection: Connection, model: str) -> Target:
        """A model at a connection, with everything bound."""
        id = connection.id
        return target(self._policy, connection, model, *self._bound[id], self.lines.get(id), self.quotas[id])

    def _kept(self, id: str, before: Routes | None) -> Quota | None:
        """What was heard of a connection, where it is still the same account."""
        known = before._connections.get(id) if before is not None else None
        if before is None or known is None or known.base_url != self._connections[id].base_url:
            return None
        return before.quotas[id] if before._bound[id][1] == self._bound[id][1] else None

    def _bind(self, choices: Iterable[Choice]) -> Iterator[Target]:
        """The targets that are listed, with what is known about them."""
        for choice in choices:
            for connection in self._eligible(choice.connection, choice.provider):
                one = self.target(connection, choice.model)
                weight = choice.weight if choice.weight is not None else connection.weight
                yield replace(one, record=self.records.of(_key(one)), weight=weight)

    def limits(self, connection: Connection | None, auth: str = "api_key") -> Thresholds:
        """The thresholds of a connection; without one, those of a class of credential."""
        over = [self._profiles]
        if connection is not None:
            auth = connection.auth or self._policy.provider(connection.provider).auth
            over.append(connection.profile)
        return thresholds(self._policy.profiles, auth, self._policy.caps["synthetic"], over)

    def identities(self) -> Iterator[Identity]:
        """Each connection, as the state knows it."""
        for connection in self._connections.values():
            yield self.target(connection, "").identity

    def circuits(self) -> Mapping[str, BreakerLimits]:
        """The thresholds of each circuit; of several connections behind one, those of the first."""
        found: dict[str, BreakerLimits] = {}
        for connection in self._connections.values():
            one = self.target(connection, "")
            for key in filter(None, (one.identity.circuit, one.identity.way)):
                found.setdefault(key, one.limits.breaker)
        return found

    def connection(self, id: str) -> Connection | None:
        """A configured connection."""
        return self._connections.get(id)

    def plan(self, model: str, endpoint: Endpoint, key: Key | None) -> Plan:
        """The plan for a request. Raises `Refused` for a name nobody knows and for a wire none of its targets speaks."""
        combo = self._combos.get(model)
        found = combo.targets if combo is not None else self._named(model, key)
        strategy = combo.strategy if combo is not None else STRATEGIES["priority"]
        if not found or (combo is not None and not _allowed(key.allowed_combos if key else None, model)):
            message = f"the model `{model[:200]}` does not exist or this key may not use it"
            raise Refused(404, message + self._nearest(model, key), "model_not_found")
        speaking = tuple(one for one in found if one.connection.wire == endpoint.wire)
        if not speaking:
            wires = ", ".join(sorted({one.connection.wire for one in found}))
            message = f"`{model[:200]}` has no target that speaks the {endpoint.wire} wire; its targets speak {wires}"
            raise Refused(400, message, "wire_mismatch")
        usable = tuple(one for one in speaking if _usable(one.connection, endpoint, key))
        if len(usable) == len(found):
            return combo or Plan(found)
        return Plan(usable, tuple(one for one in found if one not in usable), strategy)

    def emergency(self, endpoint: Endpoint, key: Key | None) -> Iterator[Target]:
        """Who may answer a request when nothing else is left."""
        return (
            one
            for one in self._emergency
            if one.connection.wire == endpoint.wire and _usable(one.connection, endpoint, key)
        )

    def names(self, key: Key | None) -> Iterator[tuple[str, str]]:
        """Every model to list, and who owns it: combos, then what connections declare."""
        for name in self._combos:
            if _allowed(key.allowed_combos if key else None, name):
                yield name, "faultwise"
        for connection in self._connections.values():
            if _direct(key, connection) and _permitted(key, connection):
                provider = self._policy.provider(connection.provider).name
                yield from ((f"{connection.id}/{model}", provider) for model in connection.models)

    def _nearest(self, model: str, key: Key | None) -> str:
        """What may have been meant, of what this key may use."""
        names = [name for name, _ in self.names(key)]
        _, slash, name = model.partition("/")
        if slash:
            usable = (one for one in self._connections.values() if _direct(key, one) and _permitted(key, one))
            names += [
                f"{owner}/{name}" for one in usable for owner in (self._policy.provider(one.provider).name, one.id)
            ]
        near = get_close_matches(model[:200], names, 1)
        return f"; did you mean `{near[0]}`?" if near else ""

    def _named(self, model: str, key: Key | None) -> tuple[Target, ...]:
        for slash in reversed([at for at, character in enumerate(model) if character == "/"]):
            owner, name = model[:slash], model[slash + 1 :]
            eligible = self._eligible(owner if owner in self._connections else None, owner)
            if eligible and name:
                return tuple(self.target(one, name) for one in eligible if _direct(key, one))
        return ()

    def _eligible(self, connection: str | None, provider: str | None) -> tuple[Connection, ...]:
        if connection is not None:
            return (self._connections[connection],)
        return self._providers.get(self._policy.provider(provider or "").name, ())


def lines(settings: Settings, before: Mapping[str, Line], board: Board | None = None) -> Mapping[str, Line]:
    """The lines of the connections that have bounds. Those that had one keep who waits in it. `board`: of the workers."""
    value = settings.value
    found: dict[str, Line] = {}
    for connection in settings.connections.values():
        slots = connection.max_concurrent if value("slots.enabled") else None
        if slots is None and connection.rpm is None and connection.tpm is None:
            continue
        waits = value("queue.max_queue_depth"), value("queue.max_wait"), value("queue.slot_wait")
        line = before.get(connection.id) or Line(Bounds(), _tally(board, f"connection {connection.id}"))
        line.bounds = Bounds(*waits, slots, connection.rpm, connection.tpm)
        found[connection.id] = line
    return found


def meters(settings: Settings, before: Mapping[str, Meter], board: Board | None = None) -> Mapping[str, Meter]:
    """The meters of the keys that have bounds. What was spent stays spent."""
    found: dict[str, Meter] = {}
    for key in settings.keys:
        if key.rpm is not None or key.tpm is not None:
            known, pace = before.get(key.id), Pace(key.rpm, key.tpm)
            found[key.id] = Meter(pace, known.tally if known is not None else _tally(board, f"key {key.id}"))
    return found


def _tally(board: Board | None, name: str) -> Tally:
    return Tally() if board is None else board.tally(name)


def _key(target: Target) -> str:
    return f"{target.connection.id}/{target.model}"


def _mark(connection: Connection, salt: bytes) -> str | None:
    """A keyed hash of a credential, so that a new one is known without keeping either."""
    if connection.secret is None:
        return None
    return hmac.new(salt, connection.secret.reveal().encode(), sha256).hexdigest()[:32]


def _usable(connection: Connection, endpoint: Endpoint, key: Key | None) -> bool:
    if connection.endpoints is not None and endpoint.name not in connection.endpoints:
        return False
    return _permitted(key, connection)


def _permitted(key: Key | None, connection: Connection) -> bool:
    return _allowed(key.allowed_connections if key else None, connection.id)


def _direct(key: Key | None, connection: Connection) -> bool:
    """Whether a key may name a connection or its provider past its combos."""
    if key is None or key.allowed_combos is None:
        return True
    return key.allowed_connections is not None and connection.id in key.allowed_connections


def _allowed(allowed: frozenset[str] | None, name: str) -> bool:
    return allowed is None or name in allowed

"""What can be asked for a model: connections with everything bound that a request needs of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from faultwise.engine.policy.model import Provider
from faultwise.engine.policy.policy import Policy
from faultwise.engine.routing.quota import Quota
from faultwise.engine.routing.record import Record
from faultwise.engine.state.lock import Identity
from faultwise.engine.state.thresholds import Thresholds
from faultwise.server.gateway import Connection

from .endpoint import BEARER, CREDENTIALS, root
from .line import Line
from .outlet import Outlet, outlet


@dataclass(frozen=True, slots=True)
class Target:
    """One model at one connection. `account` is the connection as the state knows it, `limits` its thresholds."""

    connection: Connection
    provider: str
    model: str
    auth: str
    identity: Identity
    account: str
    limits: Thresholds
    outlet: Outlet = field(compare=False, repr=False)
    weight: float = field(default=1.0, compare=False)
    line: Line | None = field(default=None, compare=False, repr=False)  # where its connection is bounded
    quota: Quota = field(default_factory=Quota, compare=False, repr=False)  # of its connection
    record: Record = field(default_factory=Record, compare=False, repr=False)

    @property
    def label(self) -> str:
        """How clients are told of it: never by its connection."""
        return f"{self.provider}/{self.model}"


def target(
    policy: Policy,
    connection: Connection,
    model: str,
    limits: Thresholds,
    secret: str | None = None,
    line: Line | None = None,
    quota: Quota | None = None,
) -> Target:
    """Bind a model to a connection. `secret`: a keyed hash of its credential; `line`: where its bounds are kept; `quota`:
    what its answers say.
    """
    provider = policy.provider(connection.provider)
    auth = connection.auth or provider.auth
    identity = Identity(
        provider=provider.name,
        connection=connection.id,
        model=model,
        host=connection.host,
        egress=connection.egress,
        family=family(provider, model),
        cooling=connection.cooling,
        group=provider.family,
        auth=auth,
        secret=secret,
    )
    base, credential = root(connection.base_url, connection.wire), _credential(connection, auth)
    return Target(
        connection=connection,
        provider=provider.name,
        model=model,
        auth=auth,
        identity=identity,
        account=identity.account,
        limits=limits,
        outlet=outlet(base, connection.headers, credential),
        line=line,
        quota=quota if quota is not None else Quota(),
    )


def _credential(connection: Connection, auth: str) -> tuple[bytes, bytes] | None:
    if connection.secret is None:
        return None
    header, prefix = BEARER if auth == "oauth" else CREDENTIALS[connection.wire]
    return header, prefix + connection.secret.reveal().encode()


def family(provider: Provider, model: str) -> str | None:
    """The family a provider declares for a model."""
    for name, patterns in provider.families.items():
        if any(fnmatchcase(model, pattern) for pattern in patterns):
            return name
    return None

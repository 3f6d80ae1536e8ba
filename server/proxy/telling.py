"""Which client asks, and how it is best told what happened. Looked at for answers that are errors, and only then."""

from __future__ import annotations

from faultwise.engine.failure.record import Headers
from faultwise.engine.policy.client import Caller, Truth
from faultwise.engine.policy.policy import Policy
from faultwise.engine.verdict.told import Told, told

from .endpoint import Endpoint
from .outcome import Ledger, Outcome
from .request import Pairs


def tell(policy: Policy, endpoint: Endpoint, headers: Pairs, outcome: Outcome, ledger: Ledger | None = None) -> Told:
    """What the client that sent `headers` is told of an outcome."""
    caller = Caller(
        Headers((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers),
        endpoint.wire,
        endpoint.name,
    )
    return told(policy.client(caller), caller, _truth(policy, outcome, ledger))


def _truth(policy: Policy, outcome: Outcome, ledger: Ledger | None) -> Truth:
    """Whose doing it is and whether it ends: as the verdict of an attempt says, else as the reason does."""
    verdicts = (one.verdict for one in ledger.attempted) if ledger is not None else ()
    known = next((one for one in verdicts if one.reason == outcome.reason), None) or policy.reasons.get(outcome.reason)
    return Truth(
        status=outcome.status,
        reason=outcome.reason,
        fault=known.fault if known is not None else None,
        temporary=known.temporary if known is not None else None,
        retry_after=outcome.retry_after,
        code=outcome.said.code,
        type=outcome.said.type,
        message=outcome.said.message,
    )

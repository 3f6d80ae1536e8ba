"""When a verdict may name a terminal state: only on proof, and never for what ends by itself."""

from __future__ import annotations

from collections.abc import Mapping

from faultwise.engine.failure.reading import Reading
from faultwise.engine.policy.model import Reason, Rule, Terminal


def terminal(
    reading: Reading,
    rule: Rule,
    reason: Reason,
    scope: str,
    temporary: bool,
    auth: str,
    terminals: Mapping[str, Terminal],
) -> tuple[Terminal | None, str]:
    """The terminal state a failure proves, and why there is one or none.

    Guards no rule can cross: what is temporary or wider or narrower than a connection never is; providers without an
    account have none to end; an upstream status or a structured code must prove it.
    """
    name = rule.terminal or reason.terminal
    state = terminals.get(name) if name else None
    if state is None:
        return None, "none declared"
    if temporary:
        return None, f"not {state.name}: it ends by itself"
    if auth == "none":
        return None, f"not {state.name}: there is no account"
    if scope != "connection":
        return None, f"not {state.name}: the scope is {scope}"
    if reading.upstream_status in state.statuses:
        return state, f"{state.name}: proved by status {reading.upstream_status}"
    proof = sorted(state.codes.intersection(reading.tokens))
    if proof:
        return state, f"{state.name}: proved by code {proof[0]}"
    return None, f"not {state.name}: neither the upstream status nor a code proves it"

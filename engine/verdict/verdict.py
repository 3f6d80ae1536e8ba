"""The verdict: what happened, what it means, what to do. One per failure, consumed by every layer."""

from __future__ import annotations

from typing import Any, NamedTuple

WAITS = ("cooldown_s", "retry_after_s", "stated_s")


class Verdict(NamedTuple):
    """The decision about one failure. Waits are float seconds. The field order is the order of the JSON."""

    id: str | None
    provider: str
    connection: str | None
    model: str | None
    phase: str
    status: int | None  # what the client is told
    upstream_status: int | None  # what was on the wire
    reason: str
    fault: str | None
    scope: str
    lock_key: str | None
    temporary: bool
    terminal: str | None
    fallback: bool
    wait_ok: bool
    counts_for_breaker: bool
    proven: bool
    cooldown_s: float | None
    cooldown_source: str | None
    retry_after_s: float | None
    stated_s: float | None
    stated_source: str | None
    rule: str | None
    layer: str | None
    restated_by: str | None
    policy: str

    @property
    def failed(self) -> bool:
        """Whether there was a failure at all."""
        return self.reason != "not_an_error"

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON-ready data, keys in the documented order; waits to the millisecond."""
        data = self._asdict()
        return data | {name: round(data[name], 3) for name in WAITS if data[name] is not None}

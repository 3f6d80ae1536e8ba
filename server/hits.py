"""How often each rule and restatement decided in this process, and when last."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Hits:
    """By rule id. A rule that is gone keeps its row: it says what was decided."""

    counts: dict[str, int] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)  # seconds since the epoch

    def note(self, rule: str | None, at: float) -> None:
        """Count a decision."""
        if rule is not None:
            self.counts[rule] = self.counts.get(rule, 0) + 1
            self.last[rule] = at

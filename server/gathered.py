"""The metrics of all workers as those of one server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prometheus_client.core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

# Gauges of which each worker has its own part; of the others each knows the whole.
PARTS = frozenset(
    (
        *("faultwise_requests_under_way", "faultwise_attempts_under_way", "faultwise_slots_waiting"),
        "faultwise_decision_log_waiting",
    )
)
ADDED = frozenset(("counter", "histogram"))


@dataclass(frozen=True, slots=True)
class Gathered:
    """A registry to encode: what several processes counted, added where it adds up, else the highest."""

    texts: tuple[str, ...]  # of each, as OpenMetrics

    def collect(self) -> Iterator[Metric]:
        """Every family with its values."""
        found: dict[str, Metric] = {}
        values: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]] = {}
        for family in self._families():
            found.setdefault(family.name, family)
            adds = family.type in ADDED or family.name in PARTS
            known = values.setdefault(family.name, {})
            for sample in family.samples:
                key = sample.name, tuple(sorted(sample.labels.items()))
                before = known.get(key)
                known[key] = sample.value if before is None else _joined(before, sample.value, adds)
        for name, family in found.items():
            made = Metric(name, family.documentation, family.type)
            for (sample_name, labels), value in values[name].items():
                made.add_sample(sample_name, dict(labels), value)
            yield made

    def _families(self) -> Iterable[Metric]:
        for text in self.texts:
            yield from text_string_to_metric_families(text)  # type: ignore[no-untyped-call]  # the library's


def _joined(before: float, now: float, adds: bool) -> float:
    return before + now if adds else max(before, now)

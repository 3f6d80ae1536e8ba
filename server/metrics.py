"""What `/metrics` shows (Prometheus). Counting is plain arithmetic in the event loop; families are made when asked for.

Labels come from configuration and policy alone, so that no client can make the table grow.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)

OTHER = "other"  # a model that no configuration names
# Seconds. What is added is a few milliseconds; more is a queue, or a machine that is too small.
BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


@dataclass(frozen=True, slots=True)
class Family:
    """One metric: its kind, its labels and what it says."""

    kind: str  # counter | gauge | histogram | info
    help: str
    labels: tuple[str, ...] = ()


# Every metric of ours, without the `_total` of counters.
FAMILIES: dict[str, Family] = {
    "faultwise_requests": Family("counter", "Requests answered.", ("endpoint", "status", "reason")),
    "faultwise_attempts": Family("counter", "Attempts at targets.", ("provider", "model", "result")),
    "faultwise_requests_under_way": Family("gauge", "Requests that are being answered."),
    "faultwise_attempts_under_way": Family(
        "gauge", "Attempts at targets of combos, not over yet.", ("provider", "model")
    ),
    "faultwise_slots_taken": Family("gauge", "Slots taken at connections with a bound.", ("provider",)),
    "faultwise_slots_waiting": Family("gauge", "Requests that wait for such a connection.", ("provider",)),
    "faultwise_verdicts": Family("counter", "Verdicts on failed attempts.", ("provider", "reason", "scope")),
    "faultwise_rule_hits": Family("counter", "Decisions by rule.", ("rule",)),
    "faultwise_restatements": Family("counter", "Statuses put right, by restatement.", ("rule", "from", "to")),
    "faultwise_added_latency_seconds": Family(
        "histogram", "From the request to the commit point, without the time spent waiting for upstreams."
    ),
    "faultwise_locks": Family("gauge", "Locks that close something now.", ("scope",)),
    "faultwise_breakers": Family("gauge", "Circuits by state.", ("provider", "state")),
    "faultwise_policy": Family("info", "The policy that serves.", ("digest",)),
    "faultwise_policy_generation": Family("gauge", "How many policies have served in this process."),
    "faultwise_policy_refused": Family("gauge", "1 while the newest change of the files is refused."),
    "faultwise_policy_reload_failures": Family("counter", "Changes of the files that were refused."),
    "faultwise_decision_log_lines": Family("counter", "Lines written to the decision log."),
    "faultwise_decision_log_drops": Family("counter", "Lines lost: too many waited, or the disk refused them."),
    "faultwise_decision_log_waiting": Family("gauge", "Lines that wait to be written."),
}

Labels = tuple[str, ...]
Value = tuple[Labels, float]
Read = Callable[[], Iterable[Value]]


@dataclass(slots=True, eq=False)
class Metrics:
    """The counts of one process. `gauges` are read from where they are kept, at each scrape."""

    gauges: dict[str, Read] = field(default_factory=dict)
    requests: dict[tuple[str, int, str], int] = field(default_factory=dict)
    attempts: dict[tuple[str, str, str], int] = field(default_factory=dict)
    verdicts: dict[tuple[str, str, str], int] = field(default_factory=dict)
    restatements: dict[tuple[str, str, str], int] = field(default_factory=dict)
    added: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    added_sum: float = 0.0
    under_way: int = 0  # requests

    def request(self, endpoint: str, status: int, reason: str) -> None:
        """Count a request."""
        key = endpoint, status, reason
        self.requests[key] = self.requests.get(key, 0) + 1

    def attempt(self, provider: str, model: str, result: str) -> None:
        """Count an attempt."""
        key = provider, model, result
        self.attempts[key] = self.attempts.get(key, 0) + 1

    def verdict(self, provider: str, reason: str, scope: str) -> None:
        """Count a verdict."""
        key = provider, reason, scope
        self.verdicts[key] = self.verdicts.get(key, 0) + 1

    def restated(self, rule: str, was: int | None, became: int | None) -> None:
        """Count a restatement."""
        key = rule, str(was), str(became)
        self.restatements[key] = self.restatements.get(key, 0) + 1

    def took(self, seconds: float) -> None:
        """Enter the time added to a request."""
        self.added[bisect_left(BUCKETS, seconds)] += 1
        self.added_sum += seconds

    def collect(self) -> Iterator[Metric]:
        """Every family with its values, for a registry."""
        counted: dict[str, Iterable[Value]] = {
            "faultwise_requests": _values(self.requests),
            "faultwise_attempts": _values(self.attempts),
            "faultwise_verdicts": _values(self.verdicts),
            "faultwise_restatements": _values(self.restatements),
        }
        for name, family in FAMILIES.items():
            if family.kind == "histogram":
                yield self._histogram(name, family)
                continue
            read = self.gauges.get(name)
            yield _family(name, family, counted[name] if name in counted else read() if read is not None else ())

    def _histogram(self, name: str, family: Family) -> Metric:
        metric = HistogramMetricFamily(name, family.help)
        total, buckets = 0, []
        for bound, count in zip((*BUCKETS, float("inf")), self.added, strict=True):
            total += count
            buckets.append(("+Inf" if bound == float("inf") else str(bound), float(total)))
        metric.add_metric([], buckets, self.added_sum)
        return metric


def _values(counts: Mapping[tuple[str, str, str], int] | Mapping[tuple[str, int, str], int]) -> list[Value]:
    return [(tuple(map(str, key)), float(count)) for key, count in tuple(counts.items())]


def _family(name: str, family: Family, values: Iterable[Value]) -> Metric:
    if family.kind == "info":
        info = InfoMetricFamily(name, family.help)
        for labels, _ in values:
            info.add_metric([], dict(zip(family.labels, labels, strict=True)))
        return info
    made: CounterMetricFamily | GaugeMetricFamily = (
        CounterMetricFamily(name, family.help, labels=family.labels)
        if family.kind == "counter"
        else GaugeMetricFamily(name, family.help, labels=family.labels)
    )
    for labels, value in values:
        made.add_metric(labels, value)
    return made

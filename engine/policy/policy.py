"""The policy: everything the files said, compiled, in one immutable object that the pipeline reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from faultwise.engine.failure.envelope import Envelopes
from .bucket import Bucket
from .model import Allowlists, Provider, Reason, Restatement, Rule, Terminal
from .parsed import Entry
from .scan import Scan, scan


@dataclass(frozen=True)
class Policy:
    """A compiled policy. Two with the same digest decide alike."""

    digest: str
    files: tuple[str, ...]
    reasons: Mapping[str, Reason]
    terminals: Mapping[str, Terminal]
    allowlists: Allowlists
    caps: Mapping[str, float]
    profiles: Mapping[str, Any]  # waits already in seconds
    markers: Mapping[str, tuple[str, ...]]
    envelopes: Envelopes
    providers: Mapping[str, Provider]  # by lower-cased name and alias
    general: tuple[Rule, ...]  # operator-general, then shipped-general
    defaults: Mapping[int | str, Rule]
    cases: tuple[Entry, ...] = ()
    _buckets: dict[tuple[str | None, int | str | None], Bucket[Rule]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _restatements: dict[tuple[str, int | str | None], Bucket[Restatement]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def provider(self, name: str) -> Provider:
        """The provider of that name or alias, whatever its case; one without a file is a plain one."""
        known = self.providers.get(name) or self.providers.get(name.lower())
        return known if known is not None else Provider(name.lower())

    def rules(self, provider: Provider, key: int | str | None) -> Bucket[Rule]:
        """The rules that speak about a provider's effective status or kind of failure, in the order they are tried."""
        bucket = self._buckets.get((provider.name, key))
        if bucket is None:
            bucket = Bucket((rule for rule in provider.rules if key in rule.statuses), then=self._after(key))
            # INVARIANT: filled once a key; two threads may build the same bucket, and either will do
            self._buckets[provider.name, key] = bucket
        return bucket

    def warm(self) -> None:
        """Do now what the first failure would have to wait for."""
        _ = self._scan_general

    def _after(self, key: int | str | None) -> Bucket[Rule]:
        """The general rules for a status or kind, one bucket for all providers."""
        bucket = self._buckets.get((None, key))
        if bucket is None:
            bucket = Bucket((rule for rule in self.general if key in rule.statuses), shared=self._scan_general)
            self._buckets[None, key] = bucket
        return bucket

    @cached_property
    def _scan_general(self) -> Scan:
        """One automaton for the general rules of all statuses."""
        return scan(marker for rule in self.general for marker in rule.needs or ())

    def restatements(self, provider: Provider, key: int | str | None) -> Bucket[Restatement]:
        """The restatements of a provider for a status, in the order they are tried."""
        bucket = self._restatements.get((provider.name, key))
        if bucket is None:
            bucket = Bucket(one for one in provider.restatements if key in one.statuses)
            self._restatements[provider.name, key] = bucket
        return bucket

    def default(self, key: int | str | None) -> Rule:
        """The status default: what a status or kind means when no rule says more."""
        return self.defaults.get(key if key is not None else 200) or self.defaults[200]

"""The policy: everything the files said, compiled, in one immutable object that the pipeline reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from faultwise.engine.failure.envelope import Envelopes

from .bucket import Bucket
from .client import GENERIC, Caller, Client
from .model import Allowlists, Provider, Reason, Restatement, Rule, Terminal
from .parsed import Entry
from .scan import Scan

JOINED = 64  # markers

_NOBODY = Provider("")
_NONE: Bucket[Restatement] = Bucket(())


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
    clients: tuple[Client, ...] = ()  # in the order in which they are tried
    client_cases: tuple[Entry, ...] = ()
    _buckets: dict[tuple[str | None, int | str | None], Bucket[Rule]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _restatements: dict[tuple[str, int | str | None], Bucket[Restatement]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _scans: dict[str | None, Scan] = field(default_factory=dict, init=False, repr=False, compare=False)

    def provider(self, name: str) -> Provider:
        """The provider of that name or alias, whatever its case; one without a file is a plain one."""
        known = self.providers.get(name) or self.providers.get(name.lower())
        return known if known is not None else Provider(name.lower())

    def rules(self, provider: Provider, key: int | str | None) -> Bucket[Rule]:
        """The rules that speak about a provider's effective status or kind of failure, in the order they are tried.

        The general ones among them are one bucket for all providers, unless they are few.
        """
        # INVARIANT: a name without rules leaves nothing behind, for anybody may make names up
        name = provider.name if provider.rules else None
        bucket = self._buckets.get((name, key))
        if bucket is None:
            after = None
            if name is None:
                rules = self.general
            elif self._joined:
                rules = provider.rules + self.general
            else:
                rules, after = provider.rules, self.rules(_NOBODY, key)
            bucket = Bucket(_about(key, rules), after, self._scan(name, rules))
            # INVARIANT: filled once a key; two threads may build the same bucket, and either will do
            self._buckets[name, key] = bucket
        return bucket

    def restatements(self, provider: Provider, key: int | str | None) -> Bucket[Restatement]:
        """The restatements of a provider for a status, in the order they are tried."""
        if not provider.restatements:
            return _NONE
        bucket = self._restatements.get((provider.name, key))
        if bucket is None:
            bucket = Bucket(one for one in provider.restatements if key in one.statuses)
            self._restatements[provider.name, key] = bucket
        return bucket

    def client(self, caller: Caller) -> Client:
        """The first profile that recognises a caller; one that none does is told things as they are."""
        return next((client for client in self.clients if client.recognises(caller)), GENERIC)

    def counts(self) -> tuple[int, int]:
        """How many rules and restatements there are, each once however many inherit it, and how many cases."""
        origins = {rule.origin for rule in self.general}
        for provider in self.providers.values():
            origins.update(rule.origin for rule in provider.rules)
            origins.update(one.origin for one in provider.restatements)
        for client in self.clients:
            origins.update(one.origin for one in client.restatements)
        return len(origins), len(self.cases) + len(self.client_cases)

    def warm(self) -> None:
        """Do now what the first failure would have to wait for."""
        self._scan(None, self.general)

    def _scan(self, name: str | None, rules: Iterable[Rule]) -> Scan:
        """One scan for the markers of a provider's rules, or of the general ones, whatever their statuses."""
        found = self._scans.get(name)
        if found is None:
            found = self._scans[name] = Scan(marker for rule in rules for marker in rule.needs or ())
        return found

    @property
    def _joined(self) -> bool:
        """Whether the general rules are looked for together with a provider's: they have so few markers that a pass over
        the text saved is worth more than their place in every provider's scan."""
        return len(self._scan(None, self.general).markers) <= JOINED

    def default(self, key: int | str | None) -> Rule:
        """The status default: what a status or kind means when no rule says more."""
        return self.defaults.get(key if key is not None else 200) or self.defaults[200]


def _about(key: int | str | None, rules: Iterable[Rule]) -> Iterator[Rule]:
    return (rule for rule in rules if key in rule.statuses)

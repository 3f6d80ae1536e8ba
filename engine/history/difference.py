"""What changed between two sets of rules: which entries came, went, or differ, and in which keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from faultwise.engine.policy.overlay import FACTS, merge_general, merge_policy, merge_providers
from faultwise.engine.policy.parsed import parse
from faultwise.engine.policy.source import Sources

ORDER = "order"  # the key under which the order of the rules of a provider is compared


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """One entry that is not the same: `what` came (`added`), went (`removed`) or `changed` in `keys`."""

    entry: str  # `rule acme/acme-quota`, `reason quota_exhausted`, `provider acme`
    what: str
    keys: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.what:<8} {self.entry}" + (f": {', '.join(self.keys)}" if self.keys else "")


def differences(old: Sources, new: Sources) -> tuple[Difference, ...]:
    """Every entry that differs, in order of their names. Both sets have loaded; cases and layout are no difference."""
    before, after = dict(_entries(old)), dict(_entries(new))
    found = [Difference(name, "removed") for name in before.keys() - after.keys()]
    found += [Difference(name, "added") for name in after.keys() - before.keys()]
    for name in before.keys() & after.keys():
        if keys := _differing(before[name], after[name]):
            found.append(Difference(name, "changed", keys))
    return tuple(sorted(found))


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    keys = [key for key in (*before, *(key for key in after if key not in before)) if key != ORDER]
    differing = [key for key in keys if before.get(key) != after.get(key)]
    if _moved(before.get(ORDER, ()), after.get(ORDER, ())):
        differing.append(ORDER)
    return tuple(differing)


def _moved(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Whether the ids that both have stand in another order."""
    both = set(before) & set(after)
    return [one for one in before if one in both] != [one for one in after if one in both]


def _entries(sources: Sources) -> Iterator[tuple[str, Mapping[str, Any]]]:
    files = tuple(parsed for file in sources.files if (parsed := parse(file)[0]) is not None)
    yield from _tables(merge_policy(one for one in files if one.kind == "policy"))
    drafts, _ = merge_providers(one for one in files if one.kind == "provider")
    for draft in drafts.values():
        facts = {key: draft.facts[key] for key in FACTS if key in draft.facts}
        order = tuple(entry.data["id"] for entry, _ in (*draft.restatements, *draft.rules))
        yield f"provider {draft.name}", {**facts, "aliases": sorted(set(draft.aliases)), ORDER: order}
        for kind, held in (("restatement", draft.restatements), ("rule", draft.rules)):
            for entry, layer in held:
                yield f"{kind} {draft.name}/{entry.data['id']}", {**entry.data, "layer": layer}
    general = merge_general(one for one in files if one.kind == "rules")
    yield "general rules", {ORDER: tuple(entry.data["id"] for entry, _ in general)}
    for entry, layer in general:
        yield f"rule {entry.data['id']}", {**entry.data, "layer": layer}
    for parsed in files:
        if parsed.kind == "clients":
            yield (
                f"clients {parsed.name.rpartition('/')[2]}",
                {key: parsed.data.get(key) for key in ("clients", "disable")},
            )


def _tables(merged: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tables of the policy: a row of a table of rows is an entry of its own."""
    for name, table in merged.items():
        rows = table if isinstance(table, Mapping) else {}
        if rows and all(isinstance(row, Mapping) for row in rows.values()):
            for key, row in rows.items():
                yield f"{name.removesuffix('s')} {key}", row
        else:
            yield name, {str(key): row for key, row in rows.items()} if rows else {name: table}

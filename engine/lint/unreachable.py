"""FW103: a rule that an earlier one always forestalls."""

from __future__ import annotations

from collections.abc import Iterator

from faultwise.engine.policy.model import StatusSet
from faultwise.engine.problem import Problem

from .catalogue import Catalogue, Written
from .conditions import Conditions

CODE = "FW103"


def check(written: Catalogue) -> Iterator[Problem]:
    """Within one layer; that an operator's rule stands before a shipped one is what overlays are for."""
    for chain in written.chains:
        for number, later in enumerate(chain):
            for earlier in chain[:number]:
                if earlier.layer == later.layer and _forestalls(earlier, later):
                    message = (
                        f"`{later.id}` is never reached: `{earlier.id}` ({earlier.entry.origin}) matches all it matches"
                    )
                    yield later.warning(("id",), CODE, message, "put the narrower rule first, or remove one")
                    break


def _forestalls(earlier: Written, later: Written) -> bool:
    """Whether whatever the later rule matches, the earlier one has matched. Only what can be shown counts."""
    if earlier.data.get("mode") == "shadow" or {"expires", "rollout"} & earlier.data.keys():
        return False
    if earlier.phases and not (later.phases and later.phases <= earlier.phases):
        return False
    return _covers(earlier.statuses, later.statuses) and _follows(earlier.conditions, later.conditions)


def _covers(wide: StatusSet, narrow: StatusSet) -> bool:
    return narrow.numbers <= wide.numbers and narrow.kinds <= wide.kinds


def _follows(wide: Conditions, narrow: Conditions) -> bool:
    """Whether the wide conditions hold whenever the narrow ones do."""
    return (
        all(any(_within(have, want) for have in narrow.groups) for want in wide.groups)
        and all(any(veto in unwanted for veto in narrow.vetoes) for unwanted in wide.vetoes)
        and all(node in narrow.others for node in wide.others)
    )


def _within(have: frozenset[str], want: frozenset[str]) -> bool:
    """Whether a text that holds one of `have` holds one of `want`: each is, or contains, one of them."""
    return all(any(marker in longer for marker in want) for longer in have)

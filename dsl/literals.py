"""What literals may not say: statuses that no server sends, markers that say nothing, regexes that are none."""

from __future__ import annotations

from collections.abc import Iterator
from unicodedata import category

from .fold import fold
from .nodes import Compare, List, Name, Number, Pattern, Span
from .regex import Regex

SHORTEST_MARKER = 2  # folded characters
STATUS_FIELDS = frozenset({"status", "upstream_status", "inner_status"})

Complaint = tuple[str, Span, str]  # message, place, help


def about_statuses(node: Compare) -> Iterator[Complaint]:
    """Complaints about what a field that holds an HTTP status is compared with."""
    for side, other in ((node.left, node.right), (node.right, node.left)):
        if not isinstance(side, Name) or side.name not in STATUS_FIELDS:
            continue
        for literal in other.items if isinstance(other, List) else (other,):
            if isinstance(literal, Number) and not _is_status(literal.value):
                yield f"`{literal.value}` is not an HTTP status", literal.span, "they go from 100 to 599"


def about_marker(
    value: str, span: Span, raw: bool, owner: str = "", *, shortest: int = SHORTEST_MARKER
) -> Complaint | None:
    """A complaint about a text that is looked for, if there is one; `owner` names the list it came from."""
    form = value.strip() if raw else fold(value)
    if not form:
        return f"an empty marker{owner}", span, "it stands in every text"
    if not any(map(_is_visible, form)):
        return f"the marker{owner} holds nothing that can be seen", span, "write out what the text says"
    if len(form) < shortest:
        return f"the marker `{form}`{owner} is too short", span, "one character turns up everywhere"
    if not raw and value != value.strip():
        hint = r"folding removes it; for a whole word write `matches /\b…\b/`"
        return f"the marker `{value}`{owner} begins or ends with white space", span, hint
    return None


def about_regex(node: Pattern, raw: bool, groups: int = 0) -> Complaint | None:
    """A complaint about a regex that does not compile, or captures fewer than `groups` groups."""
    try:
        regex = Regex(node.pattern, folded=not raw)
    except ValueError as error:
        hint = "RE2 has no look-around and no back-references" if "invalid" in str(error) else ""
        return str(error), node.span, hint
    if regex.groups < groups:
        return "the regex captures nothing", node.span, r"put brackets around the number: `/limit (\d+)/`"
    return None


def _is_visible(character: str) -> bool:
    """Not white space, nor a mark on another character, nor one that only steers how others are shown."""
    return category(character)[0] not in "ZMC" or category(character) == "Co"


def _is_status(value: float) -> bool:
    return isinstance(value, int) and 100 <= value <= 599

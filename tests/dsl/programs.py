"""Random well-typed programs and subjects, from a vocabulary small enough for the two to meet."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from faultwise.dsl.clock import Clock
from faultwise.dsl.nodes import (
    EQUALITY,
    ORDER,
    And,
    Call,
    Compare,
    Duration,
    Else,
    Entry,
    Exists,
    List,
    ListName,
    Lookup,
    Name,
    Node,
    Not,
    Number,
    Or,
    Pattern,
    Text,
    Truth,
    Until,
)

WORDS = (
    "quota",
    "Quota",
    "ＱＵＯＴＡ",
    "rate  limit",
    "rate limit",
    "Straße",
    "STRASSE",
    "额度不足",
    "1302",
    "60s",
    "2 minutes",
)
NUMBERS = (0, 1, 1.0, 2.5, 60, 429, -3)
SPELLED = ("60", "1,200", "2.5", "60s", "1h30m", "PT5M", "soon", "-1", "")
PATTERNS = ("quota", "^rate", "LIMIT$", r"\d+", "额度", "stra(ss|ß)e")
CAPTURES = (r"(\d+)", r"quota (\d+)|limit (\d+)", r"(\d+)s?$")
CLOCKS = (Clock(0, 0, "UTC"), Clock(8, 30, "Asia/Shanghai"), Clock(2, 30, "America/New_York"))
PATHS = ("a", "a.b", "list[*]", "list[0]", "items[*].v", "items[?k=='x'].v")
HEADERS = ("x-left", "retry-after")

words = st.sampled_from(WORDS)
prose = st.lists(st.sampled_from((*WORDS, *SPELLED, "and")), max_size=4).map(" ".join)
scalars = st.one_of(words, st.sampled_from(NUMBERS), st.sampled_from(SPELLED), st.booleans(), st.none(), st.just({}))
json_values = st.one_of(scalars, st.lists(scalars, max_size=3))
objects = st.fixed_dictionaries(
    {},
    optional={
        "a": st.one_of(json_values, st.fixed_dictionaries({"b": json_values})),
        "list": json_values,
        "items": st.lists(st.fixed_dictionaries({"k": st.sampled_from(("x", "y")), "v": json_values}), max_size=3),
    },
)
subjects: SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "header": st.dictionaries(
            st.sampled_from(HEADERS), st.one_of(prose, st.just("quota=1, Straße=2,rate limit = 60s"))
        )
    },
    optional={
        "text": st.one_of(st.none(), prose),
        "echoed": prose,
        "message": st.one_of(st.none(), st.lists(prose, max_size=3).map(tuple)),
        "code": st.lists(words, max_size=3).map(tuple),
        "body": st.one_of(st.none(), prose),
        "model": st.one_of(st.none(), words, st.just("")),
        "status": st.one_of(st.none(), st.sampled_from((200, 403, 429, 599))),
        "attempt": st.integers(0, 3),
        "now": st.one_of(st.none(), st.floats(1_700_000_000, 1_900_000_000)),
        "stated": st.one_of(st.none(), st.sampled_from((0.0, 0.5, 60.0, 3600.0))),
        "is_error": st.one_of(st.none(), st.booleans()),
        "reset": st.one_of(st.none(), st.sampled_from(CLOCKS)),
        "json": st.one_of(st.none(), objects),
        "request": objects,
    },
)


def several(elements: SearchStrategy[Node], least: int = 2) -> SearchStrategy[tuple[Node, ...]]:
    return st.lists(elements, min_size=least, max_size=3).map(tuple)


def otherwise(values: SearchStrategy[Node]) -> SearchStrategy[Node]:
    """Mostly the value itself, now and then with something to fall back on."""
    return st.one_of(values, values, st.builds(Else, several(values)))


markers = words.map(Text)
word_lists = st.one_of(several(markers, 1).map(List), st.sampled_from(("quota", "codes")).map(ListName))
numbers_written = st.sampled_from((*NUMBERS, 1302)).map(Number)
number_lists = several(numbers_written, 1).map(List)
durations_written = st.sampled_from((0.0, 0.001, 0.5, 60.0, 5400.0, 90061.25)).map(Duration)

any_values = st.builds(Entry, st.sampled_from(("json", "request")), st.sampled_from(PATHS))
list_values = otherwise(st.sampled_from(("message", "code", "outer")).map(Name))
header_values = st.sampled_from(HEADERS).map(lambda key: Entry("header", key))
looked_up = st.builds(
    lambda text, key: Lookup(Call("pairs", (text, Text(","), Text("="))), key),
    header_values | any_values,
    st.just(Name("model")) | markers,
)
string_values = otherwise(st.sampled_from(("text", "body", "model")).map(Name) | header_values | looked_up | markers)
textual = st.one_of(string_values, list_values, any_values)
rawable = st.one_of(textual, textual.map(lambda value: Call("raw", (value,))))
numeric = otherwise(
    st.one_of(
        st.sampled_from(("attempt", "now")).map(Name),
        numbers_written,
        textual.map(lambda value: Call("number", (value,))),
        st.builds(lambda value, pattern: Call("number", (value, Pattern(pattern))), rawable, st.sampled_from(CAPTURES)),
    )
)
more_numeric = st.one_of(
    numeric, st.builds(lambda name, values: Call(name, values), st.sampled_from(("min", "max")), several(numeric))
)
timed = otherwise(
    st.one_of(
        st.just(Name("stated")),
        durations_written,
        st.sampled_from((None, *CLOCKS)).map(Until),
        st.one_of(textual, numeric).map(lambda value: Call("seconds", (value,))),
    )
)
durations = st.one_of(
    timed, st.builds(lambda name, values: Call(name, values), st.sampled_from(("min", "max")), several(timed))
)
mixed = st.one_of(
    any_values, st.builds(lambda value, option: Else((value, option)), any_values, markers | numbers_written)
)
truths = st.one_of(
    st.just(Name("is_error")),
    st.booleans().map(Truth),
    st.builds(lambda flag, truth: Else((flag, truth)), st.just(Name("is_error")), st.booleans().map(Truth)),
)

equality, order, membership = st.sampled_from(EQUALITY), st.sampled_from(ORDER), st.sampled_from(("in", "not in"))
comparisons = st.one_of(
    st.builds(Compare, equality, rawable, rawable),
    st.builds(Compare, equality, more_numeric, more_numeric | any_values),
    st.builds(Compare, equality, mixed, st.one_of(mixed, numbers_written, markers, truths)),
    st.builds(Compare, equality, durations, durations),
    st.builds(Compare, equality, truths, truths | any_values),
    st.builds(Compare, order, more_numeric | any_values, more_numeric | any_values),
    st.builds(Compare, order, durations, durations),
    st.builds(Compare, membership, rawable, word_lists),
    st.builds(Compare, membership, more_numeric | any_values, number_lists),
    st.builds(Compare, st.sampled_from(("has", "starts with", "ends with")), rawable, rawable),
    st.builds(Compare, st.sampled_from(("has", "starts with", "ends with")), rawable, markers),
    st.builds(Compare, st.sampled_from(("has any", "has all")), rawable, word_lists),
    st.builds(Compare, st.just("matches"), rawable, st.sampled_from(PATTERNS).map(Pattern)),
    st.builds(Exists, st.one_of(textual, more_numeric, durations)),
    truths,
)


@st.composite
def conditions(draw: st.DrawFn, depth: int = 3) -> Node:
    """A comparison, or several joined, at most `depth` deep."""
    shape = draw(st.sampled_from(("comparison", "comparison", "not", "and", "or"))) if depth else "comparison"
    if shape == "comparison":
        return draw(comparisons)
    if shape == "not":
        return Not(draw(conditions(depth - 1)))
    parts = tuple(draw(conditions(depth - 1)) for _ in range(draw(st.integers(2, 3))))
    return And(parts) if shape == "and" else Or(parts)

"""What each order promises, over whatever is known about the targets."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.routing.record import Record
from faultwise.engine.routing.strategies import STRATEGIES, p2c, reset_aware
from faultwise.engine.routing.window import DAY, HOUR, Window

NOW = 1_000_000.0
SESSION, WEEK = 5 * HOUR, 7 * DAY


@dataclass(frozen=True, eq=False)
class Target:
    name: str
    weight: float = 1.0
    record: Record = field(default_factory=Record)


def named(*names: str) -> list[Target]:
    return [Target(name) for name in names]


def names(targets: Sequence[Target]) -> str:
    return "".join(one.name for one in targets)


def order(strategy: str, targets: Sequence[Target], seed: int = 1, now: float = NOW) -> Sequence[Target]:
    return STRATEGIES[strategy](targets, random.Random(seed).random, now)


windows = st.builds(
    Window,
    left=st.floats(0, 1),
    reset=st.none() | st.floats(NOW - DAY, NOW + 8 * DAY),
    length=st.none() | st.sampled_from([0.0, SESSION, WEEK]),
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """A record with a past."""
    made = Record(latency=draw(st.floats(0, 60)), windows=tuple(draw(st.lists(windows, max_size=3))))
    at = NOW - 1000
    for turn, what in enumerate(draw(st.lists(st.sampled_from(["ok", "failed", "under way"]), max_size=6)), 1):
        at += draw(st.floats(0, 100))
        made.sent(at)
        if what == "ok":
            made.opened(turn, draw(st.floats(0, 60)), at)
        if what == "failed":
            made.failed(at)
        if what != "under way":
            made.left()
    return made


targets = st.lists(st.builds(Target, st.just("x"), st.just(0.0) | st.floats(0.01, 100), records()), max_size=6)


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(targets, st.integers())
def test_every_order_holds_each_target_once_and_changes_nothing(strategy: str, some: list[Target], seed: int) -> None:
    before = repr(some)
    found = order(strategy, some, seed)
    assert sorted(map(id, found)) == sorted(map(id, some))
    assert repr(some) == before


@given(targets)
def test_priority_is_the_order_of_the_configuration(some: list[Target]) -> None:
    assert order("priority", some) == some


def served(strategy: str, some: list[Target], closed: Sequence[int] = ()) -> Iterator[Target]:
    """Send requests, each to the first in order that is not closed and answers."""
    turns, draw = count(1), random.Random(3).random
    for one in some:
        one.record.turns = turns
    while True:
        found = next(one for one in STRATEGIES[strategy](some, draw, NOW) if some.index(one) not in closed)
        found.record.opened(found.record.sent(NOW), 0.1, NOW)
        found.record.left()
        yield found


def test_round_robin_takes_turns_and_closed_targets_leave_theirs_to_all_others() -> None:
    some = named("a", "b", "c", "d")
    turns = served("round-robin", some)
    assert names([next(turns) for _ in range(10)]) == "abcdabcdab"
    for one in some:
        one.record.turn = 0
    turns = served("round-robin", some, closed=[1])
    assert Counter(names([next(turns) for _ in range(300)])) == {"a": 100, "c": 100, "d": 100}


def test_least_used_evens_out_what_came_before_and_forgets() -> None:
    some = named("a", "b")
    for _ in range(4):
        some[0].record.sent(NOW)
        some[0].record.left()
    turns = served("least-used", some)
    assert names([next(turns) for _ in range(6)]) == "bbbbab"
    assert some[0].record.uses(NOW + 300) == pytest.approx(some[0].record.uses(NOW) / 2)


def test_least_used_prefers_of_equals_the_one_with_fewer_under_way() -> None:
    some = named("a", "b")
    for one in some:
        one.record.sent(NOW)
    some[1].record.left()
    assert names(order("least-used", some)) == "ba"


@pytest.mark.parametrize("weights", [(1.0, 1.0), (1.0, 3.0), (5.0, 3.0, 2.0), (1.0, 0.0)])
def test_weighted_gives_first_place_by_share(weights: tuple[float, ...]) -> None:
    some = [Target(str(at), weight) for at, weight in enumerate(weights)]
    draw, times = random.Random(5).random, 20_000
    first = Counter(STRATEGIES["weighted"](some, draw, NOW)[0].name for _ in range(times))
    for one in some:
        assert first[one.name] / times == pytest.approx(one.weight / sum(weights), abs=0.015)


def test_weighted_gives_the_places_after_it_by_share_of_what_is_left() -> None:
    some = [Target("a", 6.0), Target("b", 3.0), Target("c", 1.0)]
    draw, times = random.Random(7).random, 20_000
    after_a = Counter(
        found[1].name
        for found in (STRATEGIES["weighted"](some, draw, NOW) for _ in range(times))
        if found[0].name == "a"
    )
    assert after_a["b"] / after_a.total() == pytest.approx(0.75, abs=0.015)


def test_targets_of_weight_zero_are_a_last_resort_in_the_order_of_the_configuration() -> None:
    some = [Target("z", 0.0), Target("a", 0.1), Target("y", 0.0)]
    assert {names(order("weighted", some, seed)) for seed in range(50)} == {"azy"}


@given(targets.filter(lambda some: len(some) > 1), st.integers())
def test_p2c_never_puts_the_worse_of_its_two_first_and_leaves_the_rest_as_it_is(some: list[Target], seed: int) -> None:
    found = order("p2c", some, seed)
    assert p2c.cost(found[0].record, NOW) <= p2c.cost(found[1].record, NOW)
    rest = [one for one in some if one is not found[0] and one is not found[1]]
    assert found[2:] == rest


def test_p2c_draws_every_pair() -> None:
    some = named("a", "b", "c")
    pairs = {frozenset(names(order("p2c", some, seed)[:2])) for seed in range(100)}
    assert pairs == {frozenset("ab"), frozenset("ac"), frozenset("bc")}


@pytest.mark.parametrize("worse", ["slower", "busier", "failing"])
def test_p2c_counts_latency_load_and_failures(worse: str) -> None:
    some = named("a", "b")
    for one in some:
        one.record.latency = 1.0
    if worse == "slower":
        some[0].record.latency = 2.0
    elif worse == "busier":
        some[0].record.sent(NOW)
    else:
        some[0].record.failed(NOW)
    assert {names(order("p2c", some, seed)) for seed in range(20)} == {"ba"}


def test_a_bad_name_fades() -> None:
    record = Record()
    for _ in range(20):
        record.failed(NOW)
    assert record.rate(NOW) < 0.05
    assert record.rate(NOW + 60) == pytest.approx((1 + record.rate(NOW)) / 2)
    assert record.rate(NOW + 3600) == pytest.approx(1.0)


def test_the_last_known_good_comes_first_and_the_others_as_they_are_written() -> None:
    some = named("a", "b", "c")
    assert names(order("lkgp", some)) == "abc"
    some[2].record.opened(5, 0.1, NOW)
    some[1].record.opened(4, 0.1, NOW)
    assert names(order("lkgp", some)) == "cab"
    some[2].record.opened(3, 0.1, NOW)  # an older request that was answered later says nothing new
    assert names(order("lkgp", some)) == "cab"


def test_fill_first_leaves_an_account_when_it_is_full_and_returns_when_it_resets() -> None:
    some = named("a", "b")
    some[0].record.windows = (Window(0.03, NOW + 60, SESSION),)
    assert names(order("fill-first", some)) == "ab"
    some[0].record.windows = (Window(0.5, None, WEEK), Window(0.01, NOW + 60, SESSION))
    assert names(order("fill-first", some)) == "ba"
    assert names(order("fill-first", some, now=NOW + 60)) == "ab"


def quota(left: float, reset: float, length: float = WEEK) -> Record:
    return Record(windows=(Window(left, NOW + reset, length),))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (quota(0.5, DAY), quota(0.5, 6 * DAY)),
        (quota(0.9, DAY), quota(0.3, DAY)),
        (quota(0.5, 0.5 * DAY), Record()),
        (quota(0.5, HOUR, SESSION), quota(0.5, 4 * HOUR, SESSION)),
        (quota(0.11, 6 * DAY), quota(0.09, 0.1 * DAY)),
        (quota(0.0, -1), quota(0.09, 0.1 * DAY)),
    ],
    ids=["nearer reset", "more left", "known and near", "of hours", "not guarded", "already reset"],
)
def test_quota_that_would_lapse_is_spent_first_but_the_last_tenth_is_kept(better: Record, worse: Record) -> None:
    for some in ([Target("b", record=better), Target("w", record=worse)],) * 2:
        assert names(order("reset-aware", some)) == "bw"
        assert names(order("reset-aware", some[::-1])) == "bw"


def test_the_worst_window_of_a_length_counts() -> None:
    tight = Record(windows=(Window(1.0, NOW + DAY, WEEK), Window(0.2, NOW + DAY, WEEK)))
    assert reset_aware.score(tight, NOW) == reset_aware.score(quota(0.2, DAY), NOW)


def test_targets_that_tie_take_turns() -> None:
    some = [
        Target("a", record=quota(0.50, DAY)),
        Target("b", record=quota(0.52, DAY)),
        Target("c", record=quota(0.9, DAY)),
    ]
    turns = served("reset-aware", some, closed=[2])
    assert names([next(turns) for _ in range(4)]) == "baba"
    assert names(order("reset-aware", some)) == "cba"

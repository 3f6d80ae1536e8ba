"""What is remembered of the quota headers of one connection."""

from __future__ import annotations

from faultwise.engine.routing.quota import MODELS, Quota, tells

NOW = 1_000_000.0


def counted(left: int, what: bytes = b"requests") -> tuple[tuple[bytes, bytes], ...]:
    told = ((b"limit", b"100"), (b"remaining", str(left).encode()), (b"reset", b"60s"))
    return ((b"date", b"x"), *((b"x-ratelimit-%b-%b" % (part, what), value) for part, value in told))


def used(per_cent: int) -> tuple[tuple[bytes, bytes], ...]:
    return ((b"x-codex-primary-used-percent", str(per_cent).encode()),)


def left(quota: Quota, model: str) -> dict[str, float]:
    return {one.name: one.left for one in quota.windows(model)}


def test_nothing_is_known_before_anything_was_heard() -> None:
    assert Quota().windows("m") == ()


def test_the_newest_answer_counts_and_one_that_says_nothing_changes_nothing_that_was_asked_for() -> None:
    quota = Quota()
    quota.hear("m", counted(50), NOW)
    quota.hear("m", counted(40), NOW + 1)
    assert left(quota, "m") == {"requests": 0.4}
    quota.hear("m", ((b"date", b"x"), (b"retry-after", b"1")), NOW + 2)
    assert left(quota, "m") == {"requests": 0.4}
    assert quota.windows("m")[0].reset == NOW + 61
    assert [(model, at) for model, at, _ in quota.told()] == [("m", NOW + 1)]


def test_an_account_that_never_tells_is_not_shown() -> None:
    quota = Quota()
    quota.hear("m", ((b"date", b"x"),), NOW)
    assert list(quota.told()) == [] and not tells(((b"date", b"x"),)) and tells(used(1))


def test_limits_of_a_model_are_its_own_and_those_of_the_account_are_everyones() -> None:
    quota = Quota()
    quota.hear("a", (*counted(50), *used(10)), NOW)
    quota.hear("b", (*counted(20), *used(30)), NOW)
    assert left(quota, "a") == {"requests": 0.5, "primary": 0.7}
    assert left(quota, "b") == {"requests": 0.2, "primary": 0.7}
    assert left(quota, "c") == {"primary": 0.7}
    quota.hear("b", counted(10), NOW)
    assert left(quota, "a") == {"requests": 0.5, "primary": 0.9}


def test_however_many_models_are_asked_for_few_are_remembered() -> None:
    quota = Quota()
    for number in range(MODELS * 2):
        quota.hear(f"m{number}", counted(number % 100), NOW + number)
        quota.hear("m0", counted(1), NOW + number)
    assert len(list(quota.told())) == MODELS
    assert left(quota, "m0") == {"requests": 0.01}
    assert left(quota, "m1") == {}

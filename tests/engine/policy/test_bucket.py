"""Looking at few rules gives the verdict that looking at all of them gives."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultwise.engine.cases import NOW
from faultwise.engine.cases import row as as_failure
from faultwise.engine.failure.intake import intake
from faultwise.engine.failure.reading import Reading, read
from faultwise.engine.policy.load import load
from faultwise.engine.policy.model import Rule
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.scan import SCAN_ABOVE
from faultwise.engine.policy.source import SourceFile, Sources, collect

MEMO: dict = {}
WORDS = ("quota", "rate limit", "limit", "per day", "per", "余额不足", "余额", "straße", "E42", "ＦＵＬＬ", "42")
CONDITIONS = (
    "outer exists",
    "inner_status == 429",
    'header["x-left"] == "0"',
    'header["x-left"] exists and outer exists',
    'json["error.detail"] exists',
    "stated > 1m",
    'code == "e42"',
    'code in ["E42", "quota"] or type starts with "rate"',
    'message has "limit"',
    'message == "quota"',
    'param ends with "42"',
    "text matches /(rate|token) limit/",
    "code matches /^e\\d+/",
    'not text has "quota"',
    'text has "quota" or status == 429',
    "number(text, /limit (\\d+)/) > 3",
)

words = st.sampled_from(WORDS)
rules = st.fixed_dictionaries(
    {"status": st.sampled_from(([429], ["4xx"], [403, 500], ["4xx", "5xx"]))},
    optional={
        "any": st.lists(words, min_size=1, max_size=3),
        "all": st.lists(words, min_size=1, max_size=2),
        "none": st.lists(words, min_size=1, max_size=2),
        "when": st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=2).map(" and ".join),
    },
).filter(lambda rule: len(rule) > 1)
prose = st.lists(st.sampled_from((*WORDS, "token limit 7", "Quota", "retry after 90 seconds", "and")), max_size=4).map(
    " ".join
)
errors = st.fixed_dictionaries(
    {"message": st.one_of(prose, prose.map(lambda text: f"429 {json.dumps({'error': {'message': text}})}"))},
    optional={"code": words, "type": prose, "param": words, "detail": words},
)
failures = st.fixed_dictionaries(
    {
        "status": st.sampled_from((403, 429, 500)),
        "body": errors.map(lambda error: {"error": error}),
        "headers": st.sampled_from(({}, {"x-left": "0"}, {"retry-after": "90"})),
    },
    optional={"request": prose},
)


def made(own: Iterable[dict[str, Any]], general: Iterable[dict[str, Any]], filled: bool) -> Policy:
    """A policy of these rules; `filled` with so many others that markers are scanned for."""
    filler = [
        {"id": f"filler-{number}", "status": [429, 403], "any": [f"never {number}"], "reason": "unknown"}
        for number in range(SCAN_ABOVE + 1 if filled else 0)
    ]
    files = [file for file in collect().files if file.name == "rules/policy.yaml"]
    for name, kind, some in (
        ("own", {"kind": "provider", "provider": "p"}, own),
        ("general", {"kind": "rules"}, general),
    ):
        numbered = [{"id": f"{name}-{number}", "reason": "unknown", **rule} for number, rule in enumerate(some)]
        data = {"faultwise": 1, **kind, "rules": [*numbered, *({**one, "id": f"{name}-{one['id']}"} for one in filler)]}
        files.append(SourceFile(f"{name}.yaml", json.dumps(data, ensure_ascii=False).encode(), 1))
    return load(Sources(tuple(files)), MEMO)


def naive(rules: Iterable[Rule], reading: Reading) -> Rule | None:
    for rule in rules:
        if reading.key in rule.statuses and all(condition.test(reading) for condition in rule.conditions):
            return rule
    return None


@settings(max_examples=120, deadline=None, derandomize=True, database=None)
@given(
    st.lists(rules, max_size=5),
    st.lists(rules, min_size=1, max_size=5),
    st.booleans(),
    st.lists(failures, min_size=1, max_size=6),
)
def test_the_first_match_is_the_first_of_all_rules(
    own: list[dict[str, Any]], general: list[dict[str, Any]], filled: bool, rows: list[dict[str, Any]]
) -> None:
    policy = made(own, general, filled)
    provider = policy.provider("p")
    for row in rows:
        reading = read(intake({"provider": "p", **row}, 0.0), policy.envelopes, provider)
        bucket = policy.rules(provider, reading.key)
        assert bucket.first(reading) is naive((*provider.rules, *policy.general), reading), (own, general, row)


def test_every_case_of_the_shipped_catalogue_gives_what_all_rules_give(shipped: Policy) -> None:
    for case in shipped.cases:
        failure = intake(as_failure(case), NOW)
        provider = shipped.provider(failure.provider)
        reading = read(failure, shipped.envelopes, provider)
        if reading.is_error and reading.phase != "local":
            found = shipped.rules(provider, reading.key).first(reading)
            assert found is naive((*provider.rules, *shipped.general), reading), case.data["name"]


def test_a_text_cut_off_at_its_limit_still_points_at_rules_for_codes_and_messages() -> None:
    policy = made([], [{"status": [429], "when": 'message has "at the end"'}], True)
    provider = policy.provider("p")
    padding = {"code": "c" * 200, "type": "t" * 200, "message": f"{'x' * 8_100} at the end"}
    row = {"provider": "p", "status": 429, "body": {"error": padding, "errors": [{"message": "y" * 8_000}] * 3}}
    reading = read(intake(row, 0.0), policy.envelopes, provider)
    assert policy.rules(provider, 429).first(reading) is naive(policy.general, reading)


def test_a_bucket_lists_its_rules_and_those_for_all_providers() -> None:
    policy = made([{"status": [429], "any": ["a1"]}], [{"status": [429, 403], "any": ["b1"]}], False)
    bucket = policy.rules(policy.provider("p"), 429)
    assert [rule.id for rule in bucket] == ["own-0", "general-0"] == [rule.id for rule in bucket.rules]
    assert len(bucket) == 2
    assert [rule.id for rule in policy.rules(policy.provider("other"), 403)] == ["general-0"]


def test_general_rules_are_indexed_once_for_all_providers(shipped: Policy) -> None:
    shipped.warm()
    one, other = (shipped.rules(shipped.provider(name), 429) for name in ("openai", "groq"))
    assert one is not other
    assert one._then is other._then is not None


def test_made_up_names_of_providers_leave_nothing_behind(shipped: Policy) -> None:
    held = len(shipped._buckets), len(shipped._restatements)
    first = shipped.rules(shipped.provider("made-up"), 503)
    assert all(shipped.rules(shipped.provider(f"made-up-{number}"), 503) is first for number in range(9))
    assert not shipped.restatements(shipped.provider("made-up"), 503).rules
    assert len(shipped._buckets) <= held[0] + 1 and len(shipped._restatements) == held[1]


@pytest.mark.parametrize("marker", ["limit", "rate limit", "e lim"])
def test_overlapping_markers_are_all_found(marker: str) -> None:
    policy = made([], [{"status": [429], "any": [marker]}, {"status": [429], "any": ["the rate limit of"]}], True)
    reading = read(
        intake({"status": 429, "body": {"error": {"message": "the rate limit of all"}}}, 0.0), policy.envelopes
    )
    assert policy.rules(policy.provider(""), 429).first(reading) is policy.general[0]

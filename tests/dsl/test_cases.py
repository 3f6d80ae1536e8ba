"""The language as data: every case holds, by the compiler and by the definition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from faultwise.dsl import Clock, DslError, Type, check, compile, parse, source

from .reference import evaluate
from .world import ENVIRONMENT, LISTS

FILES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))
CASES = [(file.stem, case) for file in FILES for case in yaml.safe_load(file.read_text(encoding="utf-8"))]
VALUES = [pytest.param(case, id=f"{stem}: {case['note']}") for stem, case in CASES if "value" in case]
ERRORS = [pytest.param(case, id=f"{stem}: {case['note']}") for stem, case in CASES if "error" in case]


def subject_of(case: dict[str, Any]) -> dict[str, Any]:
    """The subject as fields hold it: lists of texts as tuples, a reset as a clock."""
    subject = dict(case.get("subject", {}))
    for name in ("code", "message"):
        if name in subject:
            subject[name] = tuple(subject[name])
    if "reset" in subject:
        time, zone = subject["reset"].split()
        hour, minute = time.split(":")
        subject["reset"] = Clock(int(hour), int(minute), zone)
    return subject


def test_a_case_has_a_note_of_its_own_and_a_value_or_an_error() -> None:
    notes = [(stem, case["note"]) for stem, case in CASES]
    assert len(set(notes)) == len(notes)
    assert all(("value" in case) != ("error" in case) for _, case in CASES)
    assert len(VALUES) + len(ERRORS) == len(CASES)


@pytest.mark.parametrize("case", VALUES)
def test_an_expression_has_its_value(case: dict[str, Any]) -> None:
    expected, lists, subject = Type[case.get("expect", "bool").upper()], case.get("lists", LISTS), subject_of(case)
    node = parse(case["expr"])
    assert check(node, ENVIRONMENT, lists, expected) == ()
    value = compile(node, ENVIRONMENT, lists)(subject)
    assert value == case["value"]
    assert expected is not Type.BOOL or isinstance(value, bool)
    assert bool(value) == bool(evaluate(node, subject, lists))
    assert parse(source(node)) == node


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_says_what_where_and_what_to_do(case: dict[str, Any]) -> None:
    assert problems_of(case) == case["error"]


def problems_of(case: dict[str, Any]) -> str:
    """Everything that is reported for a case, as it is printed."""
    try:
        node = parse(case["expr"])
    except DslError as error:
        return str(error) + "\n"
    expected = Type[case.get("expect", "bool").upper()]
    return "".join(f"{error}\n" for error in check(node, ENVIRONMENT, case.get("lists", LISTS), expected))

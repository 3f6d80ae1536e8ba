"""A file that fits its schema is passed quickly; one that does not is told in full."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from faultwise.engine.policy.schema import NAMES, schema, validate
from faultwise.engine.policy.yaml import read
from faultwise.engine.problem import Problem


def problems(source: str, kind: str) -> tuple[Problem, ...]:
    document, found = read(source, "f.yaml")
    assert document is not None and found == ()
    return validate(document, kind, "f.yaml")


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_the_file_of_its_name(name: str) -> None:
    assert schema(name) == json.loads((files("faultwise") / "schemas" / f"{name}.schema.json").read_bytes())


def test_there_is_no_schema_of_another_name() -> None:
    with pytest.raises(KeyError, match="lists"):
        schema("lists")


def test_a_file_that_fits_has_no_problems() -> None:
    assert problems("faultwise: 1\nkind: rules\nrules:\n  - {id: a, status: 4xx, reason: auth_error}\n", "rules") == ()


def test_number_keys_are_read_as_their_text() -> None:
    assert problems("faultwise: 1\nkind: policy\ndefaults: {403: auth_error, 520-524: timeout}\n", "policy") == ()


def test_the_same_mapping_in_two_places_is_judged_in_both() -> None:
    source = "faultwise: 1\nkind: cases\ncases:\n  - &c {name: a, expect: {status: no}}\n  - *c\n"
    assert [(one.line, one.column) for one in problems(source, "cases")] == [(4, 35)]


def test_what_a_placeholder_stands_for_is_not_judged() -> None:
    source = "faultwise: 1\nkind: gateway\nstate: ${STORE}\ndeadlines: {idle: '${IDLE}', total: 5}\n"
    assert [(one.line, one.message) for one in problems(source, "gateway")] == [
        (4, "expected text, found the number 5")
    ]


def test_a_placeholder_is_plain_text_in_a_rule_file() -> None:
    source = "faultwise: 1\nkind: rules\nrules:\n  - {id: '${ID}', status: 403, reason: auth_error}\n"
    assert [one.message for one in problems(source, "rules")] == ["`${ID}` is not an id"]

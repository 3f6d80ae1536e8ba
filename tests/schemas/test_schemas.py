"""The schemas are valid, explain every key, agree with one another and with the code that acts on the files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from faultwise.engine.failure.record import AUTHS, LOCAL_KINDS, PHASES, TRANSPORT_KINDS, WIRES
from faultwise.engine.policy.model import FAULTS, LAYERS, SCOPES
from faultwise.engine.policy.schema import NAMES, schema
from faultwise.engine.routing.strategies import STRATEGIES
from faultwise.engine.verdict.verdict import Verdict
from faultwise.server.gateway import Deadlines
from faultwise.server.proxy.endpoint import ENDPOINTS


def properties(made: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every property a schema describes, wherever it stands."""
    if isinstance(made, dict):
        for name, one in made.get("properties", {}).items() if isinstance(made.get("properties"), dict) else ():
            yield f"{path}.{name}", one
        for key, one in made.items():
            yield from properties(one, f"{path}.{key}")
    elif isinstance(made, list):
        for one in made:
            yield from properties(one, path)


def inside(made: Any) -> Iterator[dict[str, Any]]:
    """Every schema within a schema."""
    if isinstance(made, dict):
        yield made
        for key, one in made.items():
            if key not in ("examples", "default"):
                yield from inside(one)
    elif isinstance(made, list):
        for one in made:
            yield from inside(one)


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_a_valid_one_of_the_2020_draft(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert next(iter(schema(name).items())) == ("$schema", "https://json-schema.org/draft/2020-12/schema")
    assert schema(name)["$id"] == f"urn:faultwise:schema:{name}"


def test_there_is_one_for_each_kind_of_file_and_no_other() -> None:
    found = {entry.name for entry in (files("faultwise") / "schemas").iterdir() if entry.name.endswith(".json")}
    assert found == {f"{name}.schema.json" for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_every_key_has_a_title_and_a_description(name: str) -> None:
    bare = [path for path, one in properties(schema(name), name) if not {"title", "description"} <= set(one)]
    assert bare == []
    assert [key for key, one in schema(name).get("$defs", {}).items() if not {"title", "description"} <= set(one)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_description_is_a_sentence(name: str) -> None:
    texts = [one["description"] for one in inside(schema(name)) if isinstance(one.get("description"), str)]
    assert [text for text in texts if not re.fullmatch(r"[A-Z`].*\.", text)] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_a_pattern_wants_is_named_and_shown(name: str) -> None:
    """Messages are made of the title and the examples."""
    patterned = [one for one in inside(schema(name)) if isinstance(one.get("pattern"), str)]
    alone = [one["pattern"] for one in patterned if "examples" not in one]
    within = {
        branch["pattern"]
        for one in inside(schema(name))
        if "examples" in one and "title" in one
        for branch in one.get("anyOf", ())
        if "pattern" in branch
    }
    assert set(alone) - within == set()
    for one in patterned:
        for example in one.get("examples", ()):
            assert re.search(one["pattern"], example), example


@pytest.mark.parametrize("name", NAMES)
def test_a_mapping_with_known_keys_takes_no_others_unless_it_says_so(name: str) -> None:
    assert [one for one in inside(schema(name)) if "properties" in one and "additionalProperties" not in one
            and isinstance(one.get("type"), str)] == []  # fmt: skip


def test_a_definition_that_several_schemas_share_is_the_same_in_each() -> None:
    seen: dict[str, tuple[str, Any]] = {}
    different = []
    for name in NAMES:
        for key, made in schema(name).get("$defs", {}).items():
            first, known = seen.setdefault(key, (name, made))
            if known != made:
                different.append((key, first, name))
    assert different == []


def test_words_of_the_record_and_the_model_are_those_of_the_schemas() -> None:
    found = schema("provider")["$defs"]
    assert {
        "wire": tuple(found["wire"]["enum"]),
        "auth": tuple(found["auth"]["enum"]),
        "phase": tuple(found["phase"]["enum"]),
        "scope": tuple(found["scope"]["enum"]),
        "fault": tuple(found["fault"]["enum"]),
        "kind": tuple(found["case"]["properties"]["kind"]["enum"]),
        "layer": tuple(found["expect"]["properties"]["layer"]["enum"]),
        "status": tuple(found["status"]["anyOf"][2]["enum"]),
    } == {
        "wire": WIRES,
        "auth": AUTHS,
        "phase": PHASES,
        "scope": SCOPES,
        "fault": FAULTS,
        "kind": (*TRANSPORT_KINDS, *LOCAL_KINDS),
        "layer": LAYERS,
        "status": ("transport", *TRANSPORT_KINDS, *LOCAL_KINDS),
    }


def test_a_case_can_expect_every_field_of_a_verdict() -> None:
    fields = {name.removesuffix("_s") for name in Verdict._fields} - {"id", "policy"}
    assert set(schema("cases")["$defs"]["expect"]["properties"]) == fields | {"not_rule"}


def test_a_gateway_can_be_told_what_the_server_knows() -> None:
    found = schema("gateway")["$defs"]
    assert found["connection"]["properties"]["endpoints"]["items"]["enum"] == [one.name for one in ENDPOINTS]
    assert tuple(found["combo"]["properties"]["strategy"]["enum"]) == tuple(STRATEGIES)
    assert tuple(found["deadlines"]["properties"]) == Deadlines.__slots__


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_written_to_be_read(name: str) -> None:
    text = (files("faultwise") / "schemas" / f"{name}.schema.json").read_text("utf-8")
    assert text.endswith("}\n") and "\t" not in text
    assert max(map(len, text.splitlines())) <= 400
    assert json.loads(text) == schema(name)

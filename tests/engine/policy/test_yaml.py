"""What a rule file's YAML may hold, and how each thing it may not is told."""

from __future__ import annotations

import time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.policy import yaml as reader
from faultwise.engine.policy.yaml import ALIAS_LIMIT, DEPTH_LIMIT, FILE_LIMIT, NODE_LIMIT, PROBLEM_LIMIT, read
from faultwise.engine.problem import Problem


def data(text: str | bytes) -> Any:
    made, problems = read(text, "f.yaml")
    assert problems == ()
    assert made is not None
    return made.data


def told(text: str | bytes) -> list[str]:
    """The problems as printed, without the excerpt."""
    return [
        str(Problem(one.file, one.line, one.column, one.code, one.message, one.hint)) for one in read(text, "f.yaml")[1]
    ]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("12", 12),
        ("-3", -3),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("1_000", "1_000"),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        (".", "."),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("08:00", "08:00"),
        ("1:30:00", "1:30:00"),
        ("2026-06-01", "2026-06-01"),
        ("520-524", "520-524"),
        ("4xx", "4xx"),
        ("90s", "90s"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("=", "="),
        ("额度不足", "额度不足"),
        ("9" * 301, "9" * 301),
    ],
)
def test_a_plain_scalar_is_what_it_looks_like(written: str, value: Any) -> None:
    found = data(f"k: {written}")["k"]
    assert (found, type(found)) == (value, type(value))


def test_lists_mappings_and_number_keys_are_kept() -> None:
    assert data("a: [1, {b: c}]\n403: x\n'404': y\n") == {"a": [1, {"b": "c"}], 403: "x", "404": "y"}


def test_bytes_text_a_byte_order_mark_and_a_document_marker_make_no_difference() -> None:
    assert data("é: 额") == data("é: 额".encode()) == data("\ufeffé: 额") == data("---\né: 额\n...\n") == {"é": "额"}


def test_an_alias_stands_for_what_was_anchored() -> None:
    assert data("a: &l [x, &s y]\nb: *l\nc: *s\n") == {"a": ["x", "y"], "b": ["x", "y"], "c": "y"}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.sampled_from("ab 额#:'\"\\-|>\n"), max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=4)
        ),
        max_leaves=20,
    )
)
def test_what_a_writer_of_yaml_writes_reads_back(value: Any) -> None:
    assert data(yaml.safe_dump({"k": value}, allow_unicode=True)) == {"k": value}


@pytest.mark.parametrize(
    ("source", "problems"),
    [
        ("", ["f.yaml: FW002 the file is empty\n    help: begin with `faultwise: 1`"]),
        ("# only this\n", ["f.yaml: FW002 the file is empty\n    help: begin with `faultwise: 1`"]),
        ("---\n", ["f.yaml: FW002 the file is empty\n    help: begin with `faultwise: 1`"]),
        (
            b"a: 1\nb: \xe9\x9d caf\xe9\n",
            ["f.yaml:2:4: FW001 the byte 0xe9 is not UTF-8\n    help: save the file as UTF-8"],
        ),
        (
            b"\xff\xfea\x00",
            ["f.yaml:1:1: FW001 the byte 0xff is not UTF-8\n    help: save the file as UTF-8"],
        ),
        (
            "a: 1\nb: \x07\n",
            ["f.yaml:2:4: FW002 the character U+0007 is not allowed\n    help: remove it, or escape it"],
        ),
        ("a: \ud800", ["f.yaml:1:4: FW002 the character U+D800 is not allowed\n    help: remove it, or escape it"]),
        (
            "a: 1\r\nb: 2\r\na: 3\r\n",
            ["f.yaml:3:1: FW003 the key `a` again\n    help: it is first at 1:1; keep one of them"],
        ),
        (
            "额: {403: x, '403': y}",
            ["f.yaml:1:13: FW003 the key `403` again\n    help: it is first at 1:5; keep one of them"],
        ),
        (
            "a: 1\n---\nb: 2\n",
            ["f.yaml:2:1: FW002 a second document\n    help: put it into a file of its own"],
        ),
        (
            "a: !!python/object:os.system x\nb: !mine [y]\n",
            [
                "f.yaml:1:4: FW002 tags are not supported\n    help: put the value in quotes to make it text",
                "f.yaml:2:4: FW002 tags are not supported\n    help: put the value in quotes to make it text",
            ],
        ),
        (
            "{{ name }}: x\n",
            [
                "f.yaml:1:1: FW002 a key must be text or a whole number\n    help: put it in quotes",
                "f.yaml:1:2: FW002 a key must be text or a whole number\n    help: put it in quotes",
            ],
        ),
        (
            "true: x\n1.5: y\n~: z\n[a]: w\n",
            [
                "f.yaml:1:1: FW002 a key must be text or a whole number\n    help: put it in quotes",
                "f.yaml:2:1: FW002 a key must be text or a whole number\n    help: put it in quotes",
                "f.yaml:3:1: FW002 a key must be text or a whole number\n    help: put it in quotes",
                "f.yaml:4:1: FW002 a key must be text or a whole number\n    help: put it in quotes",
            ],
        ),
        (
            "a: &x {b: c}\nd: {<<: *x}\n",
            ["f.yaml:2:5: FW002 merge keys are not supported\n    help: write the keys out"],
        ),
        (
            "a: *x\n",
            ["f.yaml:1:4: FW002 no anchor `&x` before this alias\n    help: text that starts with `*` needs quotes"],
        ),
        (
            "a: &x [*x]\n",
            ["f.yaml:1:8: FW004 the alias `*x` inside an anchored value\n    help: write the value out"],
        ),
        (
            "a: 1e999\n",
            ["f.yaml:1:4: FW004 the number `1e999` is too large\n    help: put it in quotes if it is text"],
        ),
        (
            "#" * (FILE_LIMIT + 1),
            ["f.yaml: FW004 the file is larger than 1 MiB\n    help: split it into several files"],
        ),
        (
            "额" * (FILE_LIMIT // 3 + 1),
            ["f.yaml: FW004 the file is larger than 1 MiB\n    help: split it into several files"],
        ),
        ("a: " + "[" * 100, [f"f.yaml:1:{3 + DEPTH_LIMIT}: FW004 more than 60 levels of nesting"]),
        (
            "a: &x 1\nb: [" + "*x, " * (ALIAS_LIMIT + 1) + "]",
            ["f.yaml:2:205: FW004 more than 50 aliases\n    help: name the list under `markers:` instead"],
        ),
        (
            "[" + "a," * (NODE_LIMIT + 1) + "]",
            ["f.yaml:1:400002: FW004 more than 200,000 values\n    help: split the file"],
        ),
        (
            "a: &x [" + "a," * 9999 + "]\nb: [" + "*x, " * 20 + "]",
            ["f.yaml:2:77: FW004 more than 200,000 values\n    help: split the file"],
        ),
    ],
)
def test_what_a_file_may_not_hold_is_told_with_its_place(source: str | bytes, problems: list[str]) -> None:
    assert told(source) == problems


def test_problems_of_one_file_are_told_together_and_leave_a_document() -> None:
    made, problems = read("a: 1\na: 2\nb: !t x\n", "f.yaml")
    assert [problem.code for problem in problems] == ["FW003", "FW002"]
    assert made is not None
    assert made.data == {"a": 1, "b": "x"}


def test_what_was_found_before_a_syntax_error_is_told_with_it() -> None:
    made, problems = read("a: 1\na: 2\nb: [\n", "f.yaml")
    assert (made, [problem.code for problem in problems]) == (None, ["FW003", "FW002"])


def test_no_more_problems_are_told_than_anybody_reads() -> None:
    assert len(read("a: 1\n" * 5000, "f.yaml")[1]) == PROBLEM_LIMIT


def test_the_parser_in_plain_python_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "\ufeffa: &l ['x', \"额\\n\"]\r\nb: *l\r\nc: |\r\n  one\r\n403: {d: 1, e: yes}\r\n"
    fast = read(source, "f.yaml")
    monkeypatch.setattr(reader, "_LOADER", yaml.SafeLoader)
    assert read(source, "f.yaml") == fast
    assert fast[1] == ()


@pytest.mark.parametrize(
    "source",
    [
        "[" * 500_000,
        "{a: " * 200_000,
        "- " * 400_000,
        "? " * 400_000,
        "a: &a [" + "x, " * 300_000,
        "'" * 900_001,
        "*a " * 300_000,
        "!" * 900_000,
        "a:\n" + " b: 1\n" * 150_000,
        '"' + "\\u0041" * 170_000,
    ],
    ids=lambda source: source[:8],
)
def test_hostile_text_is_refused_in_bounded_time(source: str) -> None:
    begin = time.process_time()
    _, problems = read(source, "f.yaml")
    assert problems != ()
    assert time.process_time() - begin < 5.0

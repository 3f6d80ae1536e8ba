"""What is not YAML is told in an author's words, at the place that helps; each fault with the whole text."""

from __future__ import annotations

import pytest
import yaml

from faultwise.engine.policy import yaml as reader
from faultwise.engine.policy.syntax import syntax_problem
from faultwise.engine.policy.yaml import read


def told(source: str) -> str:
    made, problems = read(source, "f.yaml")
    assert made is None
    return "\n".join(map(str, problems))


FAULTS = [
    (
        "a: 1\nb\nc: 2\n",
        (
            "f.yaml:2:1: FW002 expected `:` after this key\n"
            "    b\n"
            "    ^\n"
            "    help: write `key: value`, and put longer text in quotes"
        ),
    ),
    (
        "a: b: c\n",
        (
            "f.yaml:1:5: FW002 a `:` where no key can stand\n"
            "    a: b: c\n"
            "        ^\n"
            "    help: put text that holds `: ` in quotes, or check the indentation"
        ),
    ),
    (
        'a: text has "x: y" or z\n',
        (
            "f.yaml:1:15: FW002 a `:` where no key can stand\n"
            '    a: text has "x: y" or z\n'
            "                  ^\n"
            "    help: put text that holds `: ` in quotes, or check the indentation"
        ),
    ),
    (
        'a: "b\nc: d\n',
        'f.yaml:1:4: FW002 a quoted text is not closed\n    a: "b\n       ^\n    help: add the closing quote',
    ),
    (
        "a: 'b\n---\nc: d\n",
        "f.yaml:1:4: FW002 a quoted text is not closed\n    a: 'b\n       ^\n    help: add the closing quote",
    ),
    (
        'a: "\\d+"\n',
        (
            "f.yaml:1:5: FW002 no such escape in double quotes\n"
            '    a: "\\d+"\n'
            "        ^\n"
            "    help: write `\\\\` for a backslash, or use single quotes"
        ),
    ),
    (
        'a: "\\xZZ"\n',
        (
            "f.yaml:1:7: FW002 an escape without its hexadecimal digits\n"
            '    a: "\\xZZ"\n'
            "          ^\n"
            "    help: write `\\\\` for a backslash, or use single quotes"
        ),
    ),
    (
        "a: @x\n",
        (
            "f.yaml:1:4: FW002 a value cannot start with this character\n"
            "    a: @x\n"
            "       ^\n"
            "    help: put the text in quotes"
        ),
    ),
    (
        "a: *\n",
        (
            "f.yaml:1:5: FW002 `*` and `&` need a name\n"
            "    a: *\n"
            "        ^\n"
            "    help: put text that starts with them in quotes"
        ),
    ),
    (
        "a: [b, c\nd: e\n",
        (
            "f.yaml:1:4: FW002 this list is not closed, or a comma is missing in it\n"
            "    a: [b, c\n"
            "       ^\n"
            "    help: compare the brackets"
        ),
    ),
    (
        "a: {b: c\nd: e\n",
        (
            "f.yaml:1:4: FW002 this mapping is not closed, or a comma is missing in it\n"
            "    a: {b: c\n"
            "       ^\n"
            "    help: compare the braces"
        ),
    ),
    (
        "a: [b, c}\n",
        (
            "f.yaml:1:4: FW002 this list is not closed, or a comma is missing in it\n"
            "    a: [b, c}\n"
            "       ^\n"
            "    help: compare the brackets"
        ),
    ),
    (
        "- a\nb: c\n",
        "f.yaml:2:1: FW002 expected another `- ` item here\n    b: c\n    ^\n    help: check the indentation",
    ),
    (
        "a: 1\n  b: 2\n",
        (
            "f.yaml:2:4: FW002 a `:` where no key can stand\n"
            "      b: 2\n"
            "       ^\n"
            "    help: put text that holds `: ` in quotes, or check the indentation"
        ),
    ),
    (
        "a:\n  - b\n c: d\n",
        (
            "f.yaml:3:2: FW002 expected another key here\n"
            "     c: d\n"
            "     ^\n"
            "    help: check the indentation, and put special signs in quotes"
        ),
    ),
    (
        "a: - b\n",
        "f.yaml:1:4: FW002 a list cannot start here\n    a: - b\n       ^\n    help: start it on a new line",
    ),
    (
        "a:\n\tb: 1\n",
        "f.yaml:2:1: FW002 a tab in the indentation\n     b: 1\n    ^\n    help: indent with spaces",
    ),
    (
        "a: |\n\tb\n",
        "f.yaml:2:1: FW002 a tab in the indentation\n     b\n    ^\n    help: indent with spaces",
    ),
    (
        "a:\n  b: 1\n \tc: 2\n",
        "f.yaml:3:2: FW002 a tab in the indentation\n      c: 2\n     ^\n    help: indent with spaces",
    ),
    (
        "a: [b,, c]\n",
        (
            "f.yaml:1:7: FW002 expected a value\n"
            "    a: [b,, c]\n"
            "          ^\n"
            "    help: close what is open before this, or put the text in quotes"
        ),
    ),
    (
        "%YAML 3.0\n---\na: 1\n",
        "f.yaml:1:1: FW002 not YAML: found incompatible YAML document\n    %YAML 3.0\n    ^",
    ),
    (
        "a: >x\n  b\n",
        "f.yaml:1:5: FW002 not YAML: did not find expected comment or line break\n    a: >x\n        ^",
    ),
    (
        '额: "度\\q"\r\n',
        (
            "f.yaml:1:6: FW002 no such escape in double quotes\n"
            '    额: "度\\q"\n'
            "    \u3000   \u3000^\n"
            "    help: write `\\\\` for a backslash, or use single quotes"
        ),
    ),
    (
        "a: [\n",
        (
            "f.yaml:2:1: FW002 expected a value\n"
            "    \n"
            "    ^\n"
            "    help: close what is open before this, or put the text in quotes"
        ),
    ),
]


@pytest.mark.parametrize(("source", "problem"), FAULTS)
def test_what_is_not_yaml_is_told(source: str, problem: str) -> None:
    assert told(source) == problem


@pytest.mark.parametrize("source", [source for source, _ in FAULTS])
def test_the_parser_in_plain_python_finds_a_fault_on_the_same_line(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, fast = read(source, "f.yaml")
    monkeypatch.setattr(reader, "_LOADER", yaml.SafeLoader)
    made, slow = read(source, "f.yaml")
    assert made is None
    assert [(one.line, one.code) for one in slow] == [(one.line, one.code) for one in fast]


def test_an_error_without_a_place_is_told_at_the_start() -> None:
    problem = syntax_problem(yaml.MarkedYAMLError(), "a", (0,), "f.yaml")
    assert str(problem) == "f.yaml:1:1: FW002 not YAML: the parser gives no reason\n    a\n    ^"

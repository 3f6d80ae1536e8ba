"""Writes the pages that follow from rules, schemas and code: `make docs`. A test fails where one is stale.

docs/rules/*.md        every rule, by provider; general rules; the reasons and what follows from them; clients
docs/fields.md         what an expression may name
docs/command-line.md   every verb and option
docs/settings.md       every key of gateway.yaml
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from faultwise.dsl import Type, spell
from faultwise.dsl.functions import FUNCTIONS
from faultwise.engine.cases import NOW, CaseResult, run_cases
from faultwise.engine.failure.fields import FULL
from faultwise.engine.lint.catalogue import Written, catalogue
from faultwise.engine.policy.client_fields import CALLER, TELLING
from faultwise.engine.policy.load import load
from faultwise.engine.policy.parsed import Entry
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.schema import schema
from faultwise.engine.policy.source import collect
from faultwise.server.cli import VERBS
from faultwise.server.layers import KNOWN, size, variable

DOCS = Path(__file__).resolve().parent
NOTE = "<!-- Written by docs/generate.py; `make docs` writes it again. -->\n"
BODY = 160  # characters of a response that are shown
TYPES = {
    Type.INT: "whole number",
    Type.FLOAT: "number",
    Type.STRING: "text",
    Type.BOOL: "condition",
    Type.DURATION: "duration",
    Type.STRINGS: "list of texts",
    Type.ANY: "JSON value",
}
SPECIAL = {"reset": "clock"}  # only for `until reset`
OVERRIDES = ("cooldown", "cap", "temporary", "fallback", "wait_ok", "fault", "tell", "terminal")
TOLD = ("to", "code", "type", "retry_after", "hint", "headers")
YES = {True: "yes", False: "no"}


def pages() -> dict[Path, str]:
    """Every generated page, by its path below docs/."""
    sources = collect()
    policy = load(sources)
    written = catalogue(sources, policy, NOW)
    rules = _by_file(written.rules)
    cases = _cases(policy)
    found = {
        Path("fields.md"): _fields(),
        Path("command-line.md"): _command_line(),
        Path("settings.md"): _settings(),
        Path("rules/reasons.md"): _reasons(policy),
        Path("rules/general.md"): _general(written.of_kind("rules"), rules, cases),
        Path("rules/clients.md"): _clients(written.of_kind("clients"), policy),
    }
    providers = list(written.of_kind("provider"))
    for parsed in providers:
        found[Path("rules") / _page(parsed.data["provider"])] = _provider(parsed, rules, cases)
    found[Path("rules/README.md")] = _index(providers, rules)
    return {path: f"{NOTE}{text.rstrip()}\n" for path, text in found.items()}


def main() -> None:
    """Write the pages, and remove those of providers that are gone."""
    made = pages()
    for path in (DOCS / "rules").glob("*.md"):
        if path.relative_to(DOCS) not in made:
            path.unlink()
    for name, text in made.items():
        (DOCS / name).parent.mkdir(exist_ok=True)
        (DOCS / name).write_text(text, encoding="utf-8")


# Rules


def _by_file(rules: Iterable[Written]) -> dict[str, list[Written]]:
    found: dict[str, list[Written]] = {}
    for rule in rules:
        found.setdefault(rule.entry.parsed.name, []).append(rule)
    return found


def _cases(policy: Policy) -> dict[str, tuple[list[Entry], list[Entry]]]:
    """For each rule, the cases it decides and those that it must not."""
    found: dict[str, tuple[list[Entry], list[Entry]]] = {}

    def of(rule: str) -> tuple[list[Entry], list[Entry]]:
        return found.setdefault(rule, ([], []))

    result: CaseResult
    for case, result in zip(policy.cases, run_cases(policy), strict=True):
        verdict = result.verdict
        for rule in (verdict.rule, verdict.restated_by) if verdict is not None else ():
            if rule is not None:
                of(rule)[0].append(case)
        for rule in _texts(case.data["expect"].get("not_rule", ())):
            of(rule)[1].append(case)
    return found


def _provider(
    parsed: Any, rules: Mapping[str, list[Written]], cases: Mapping[str, tuple[list[Entry], list[Entry]]]
) -> str:
    data = parsed.data
    lines = [f"# {data['provider']}", ""]
    facts = [
        ("also called", ", ".join(data.get("aliases", ()))),
        ("credential", data.get("auth", "api_key")),
        ("a quota counts", data.get("quota_unit", "connection")),
        ("quotas refill", " ".join(map(str, data["reset"].values())) if data.get("reset") else ""),
        ("families", "; ".join(f"{name}: {', '.join(held)}" for name, held in data.get("families", {}).items())),
        ("inherits", f"[{data['extends']}]({_page(data['extends'])})" if data.get("extends") else ""),
        ("file", f"[`{parsed.name}`](../../{parsed.name})"),
    ]
    lines += ["| | |", "|---|---|", *(f"| {name} | {_cell(value)} |" for name, value in facts if value), ""]
    return "\n".join((*lines, *_entries(rules.get(parsed.name, []), cases)))


def _general(
    files: Iterable[Any], rules: Mapping[str, list[Written]], cases: Mapping[str, tuple[list[Entry], list[Entry]]]
) -> str:
    lines = ["# General rules", ""]
    lines += ["Tried for every provider, after its own rules, in this order; the first that matches decides.", ""]
    for parsed in files:
        lines += [f"## [`{parsed.name}`](../../{parsed.name})", ""]
        lines += _entries(rules.get(parsed.name, []), cases, "###")
    return "\n".join(lines)


def _entries(
    rules: Iterable[Written], cases: Mapping[str, tuple[list[Entry], list[Entry]]], level: str = "##"
) -> Iterator[str]:
    for rule in rules:
        fires, misses = cases.get(rule.id, ([], []))
        data = rule.data
        yield from (f"{level} {rule.id}", "", data.get("why", ""), "")
        yield from ("Looks for", "", *(f"- {line}" for line in _conditions(rule)), "")
        if fires:
            yield from ("Matches", "", *(_case(case) for case in fires), "")
        if misses:
            yield from ("Does not match", "", *(_case(case) for case in misses), "")
        yield from ("What happens", "", *(f"- {line}" for line in _effects(rule)), "")
        if see := _texts(data.get("see", ())):
            yield from ("See", "", *(f"- <{url}>" for url in see), "")


def _clients(files: Iterable[Any], policy: Policy) -> str:
    lines = ["# Clients", ""]
    lines += ["Who asks, and how a failure is told to each where it is not told as it is. How to write your own:"]
    lines += ["[writing rules](../writing-rules.md#clients-how-a-failure-is-told).", ""]
    for parsed in files:
        for entry in parsed.entries("clients"):
            data = entry.data
            lines += [f"## {data['id']}", "", data.get("why", ""), ""]
            known = [f"the wire `{data['wire']}`"] if "wire" in data else []
            if known := [*known, *_wanted(data)]:
                lines += ["Known by", "", *(f"- {line}" for line in known), ""]
            for one in data.get("restatements", ()):
                lines += [f"### {one['id']}", "", one.get("why", ""), "", "Where", ""]
                lines += [f"- {line}" for line in (_statuses(one["from"]), *_wanted(one))]
                lines += ["", "Told", "", *(f"- {key}: {_code(_shown(one[key]))}" for key in TOLD if key in one), ""]
                own = [case for case in policy.client_cases if case.data["expect"].get("restated_by") == one["id"]]
                lines += ["Cases", "", *(f"- {case.data['name']}" for case in own), ""] if own else []
                if see := _texts(one.get("see", ())):
                    lines += ["See", "", *(f"- <{url}>" for url in see), ""]
    return "\n".join(lines)


def _shown(value: Any) -> str:
    return ", ".join(f"{name}: {one}" for name, one in value.items()) if isinstance(value, Mapping) else str(value)


def _statuses(statuses: Any) -> str:
    return "status " + ", ".join(f"`{status}`" for status in (statuses if isinstance(statuses, list) else [statuses]))


def _conditions(rule: Written) -> Iterator[str]:
    data = rule.data
    yield _statuses(data["from" if rule.restates else "status"])
    if "phase" in data:
        yield "in the phase " + ", ".join(f"`{phase}`" for phase in _texts(data["phase"]))
    yield from _wanted(data)


def _wanted(data: Mapping[str, Any]) -> Iterator[str]:
    for key, words in (("any", "one of"), ("all", "all of"), ("none", "none of")):
        if key in data:
            yield f"{words} {', '.join(_code(marker) for marker in _texts(data[key]))}"
    if "when" in data:
        yield _code(" ".join(data["when"].split()))


def _effects(rule: Written) -> Iterator[str]:
    data = rule.data
    if rule.restates:
        yield f"the status means {data['to']}"
        if "retry_after" in data:
            yield f"where nothing is stated, the wait is {_code(data['retry_after'])}"
        return
    yield f"[{data['reason']}](reasons.md#{data['reason']})"
    if "lock" in data:
        yield f"closes the {data['lock'].replace('_', ' ')}"
    yield from (f"{key}: {_code(_plain(data[key]))}" for key in OVERRIDES if key in data)
    if data.get("mode") == "shadow":
        yield "only counted, not acted on (`mode: shadow`)"


def _case(case: Entry) -> str:
    data = case.data
    head = data.get("kind") or data.get("status") or data.get("stream")
    body = data.get("body", "")
    text = " ".join((body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)).split())
    shown = text if len(text) <= BODY else text[: BODY - 1] + "…"
    return f"- {data['name']}: {head}" + (f", {_code(shown)}" if shown else "")


def _index(providers: Iterable[Any], rules: Mapping[str, list[Written]]) -> str:
    lines = [
        "# What is known",
        "",
        "Of each provider and relay: which statuses are not to be believed, and what failures mean.",
    ]
    lines += ["[General rules](general.md) come after these, [reasons](reasons.md) say what follows, and"]
    lines += ["[clients](clients.md) are told of it.", ""]
    lines += ["| provider | restatements | rules |", "|---|---|---|"]
    for parsed in providers:
        held = rules.get(parsed.name, [])
        restates = sum(rule.restates for rule in held)
        name = parsed.data["provider"]
        lines.append(f"| [{name}]({_page(name)}) | {restates or ''} | {len(held) - restates or ''} |")
    return "\n".join(lines)


def _reasons(policy: Policy) -> str:
    lines = [
        "# Reasons",
        "",
        "What a failure means, and what follows. `rules/policy.yaml` holds the table; yours may add rows.",
        "",
    ]
    for reason in policy.reasons.values():
        accepts = sorted(reason.accepts.numbers - {reason.status})
        told = f"{reason.status}" + (f" (as it came: {_ranges(accepts)})" if accepts else "")
        rows = [
            ("whose doing", reason.fault),
            ("ends by itself", YES[reason.temporary]),
            ("another target is tried", YES[reason.fallback]),
            ("worth waiting for", YES[reason.wait_ok]),
            ("closes", reason.lock.replace("quota_unit", "what the provider's quota counts").replace("_", " ")),
            ("for", _code(reason.cooldown.source) if reason.cooldown else "backoff" if reason.locks else "-"),
            ("counts for the breaker", YES[reason.breaker]),
            ("terminal state", reason.terminal or "none"),
            ("told as", told),
        ]
        lines += [
            f"## {reason.name}",
            "",
            "| | |",
            "|---|---|",
            *(f"| {name} | {_cell(value)} |" for name, value in rows),
            "",
        ]
    lines += ["## not_an_error", "", "A response that is fine: nothing follows.", ""]
    lines += [
        "# Status defaults",
        "",
        "What a status means when no rule says more. Their rule ids are `default-403` and so on.",
        "",
    ]
    lines += ["| reason | statuses and kinds |", "|---|---|"]
    by_reason: dict[str, list[int | str]] = {}
    for key, rule in policy.defaults.items():
        by_reason.setdefault(rule.reason, []).append(key)
    for name, keys in by_reason.items():
        numbers = _ranges(sorted(key for key in keys if isinstance(key, int)))
        words = ", ".join(sorted(key for key in keys if isinstance(key, str)))
        lines.append(f"| [{name}](#{name}) | {', '.join(filter(None, (numbers, words)))} |")
    return "\n".join(lines)


# Language, commands, settings


def _fields() -> str:
    lines = [
        "# Fields",
        "",
        "What an [expression](language.md) may name. A field that is missing makes its comparison false.",
        "",
    ]
    lines += ["| field | type | what it is |", "|---|---|---|"]
    for name, field in FULL.fields.items():
        lines.append(f"| `{name}` | {SPECIAL.get(name) or TYPES[field.type]} | {_cell(field.doc)} |")
    for name, keyed in FULL.keyed.items():
        lines.append(f'| `{name}["…"]` | {TYPES[keyed.type]} | {_cell(keyed.doc)} |')
    lines += ["", "# Clients", ""]
    lines += ["What the [conditions of clients](writing-rules.md#clients-how-a-failure-is-told) may name instead.", ""]
    lines += ["| field | of a client | of its restatements | what it is |", "|---|---|---|---|"]
    for name, field in TELLING.fields.items():
        own = CALLER.fields.get(name)
        doc = field.doc if own is None or own.doc == field.doc else f"{own.doc}; of a restatement {field.doc}"
        lines.append(f"| `{name}` | {'yes' if own else ''} | yes | {_cell(doc)} |")
    for name, keyed in TELLING.keyed.items():
        lines.append(f'| `{name}["…"]` | yes | yes | {_cell(keyed.doc)} |')
    lines += ["", "# Functions", ""]
    lines += [f"- `{signature}`" for function in FUNCTIONS.values() for signature in function.signatures]
    return "\n".join(lines)


def _command_line() -> str:
    lines = ["# Command line", "", "```console", "$ faultwise VERB [OPTIONS]", "```", ""]
    lines += [
        "Results go to stdout, diagnostics to stderr as `file:line:column: CODE message`. Exit codes: 0 fine, 1 findings"
    ]
    lines += [
        "or failed cases, 2 wrong usage or unreadable input. `NO_COLOR` is honoured. Without paths, the rules are those"
    ]
    lines += ["of `gateway.yaml` here, of `FAULTWISE_RULES`, and of `--rules`, over the shipped catalogue.", ""]
    for verb, what in VERBS.items():
        parser = argparse.ArgumentParser(prog=f"faultwise {verb}", add_help=False)
        import_module(f"faultwise.server.cli.{verb}").arguments(parser)
        lines += [f"## {verb}", "", f"{what[0].upper()}{what[1:]}.", ""]
        rows = [_option(action) for action in parser._actions]
        if rows:
            lines += ["| | |", "|---|---|", *(f"| `{_cell(name)}` | {_cell(help)} |" for name, help in rows), ""]
    return "\n".join(lines)


def _option(action: argparse.Action) -> tuple[str, str]:
    choices = "|".join(map(str, action.choices)) if action.choices else None
    value = action.metavar if isinstance(action.metavar, str) else choices or action.dest.upper()
    text = (action.help or "").replace("%%", "%")
    if not action.option_strings:
        return (f"[{value}]…" if action.nargs == "*" else f"[{value}]" if action.nargs == "?" else value), text
    names = ", ".join(action.option_strings)
    return (names if action.nargs == 0 else f"{names} {value}"), text


def _settings() -> str:
    gateway = schema("gateway")
    lines = [
        "# Settings",
        "",
        "The keys of `gateway.yaml` (`faultwise schema gateway`). `${NAME}` and `${file:/path}` are replaced in any value.",
        "",
    ]
    lines += ["Of single values: default < file < environment < command line.", ""]
    lines += ["| setting | default | environment |", "|---|---|---|"]
    for name, (parse, default) in KNOWN.items():
        lines.append(f"| `{name}` | {_default(parse, default)} | `{variable(name)}` |")
    lines += [
        "",
        "Further variables: `FAULTWISE_RULES` (rule directories), `FAULTWISE_ADMIN_TOKEN` (see [embedding](embedding.md#the-decision-service)).",
        "",
    ]
    for name, part in gateway["properties"].items():
        lines += [f"## {name}", "", part.get("description", "") + _choices(part, gateway["$defs"]), ""]
        rows = list(_keys(part, gateway["$defs"]))
        if rows:
            lines += ["| key | |", "|---|---|", *(f"| `{key}` | {_cell(text)} |" for key, text in rows), ""]
    return "\n".join(lines)


def _default(parse: Callable[[Any], Any], default: Any) -> str:
    """A default as one would write it."""
    if default is None:
        return ""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if _reads_duration(parse):
        return f"`{spell(default)}`"
    mebi = default // 2**20 if parse is size else 0
    return f"`{mebi}MiB`" if mebi else f"`{default:g}`" if isinstance(default, float) else f"`{default}`"


def _reads_duration(parse: Callable[[Any], Any]) -> bool:
    try:
        return bool(parse("1s") == 1.0)
    except ValueError:
        return False


def _keys(part: Mapping[str, Any], defs: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """The keys below a key, dotted; of a list or a table, those of its items."""
    part = _resolved(part, defs)
    for name, inner in part.get("properties", {}).items():
        below = _resolved(inner, defs)
        yield f"{above}{name}", f"{inner.get('description') or below.get('description', '')}{_choices(below, defs)}"
        yield from _keys(below, defs, f"{above}{name}.")
    for key in ("items", "additionalProperties"):
        if isinstance(part.get(key), Mapping):
            yield from _keys(part[key], defs, above)


def _choices(part: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    """The values that may be written, where they are listed; of a list, those of its items."""
    part = _resolved(part, defs)
    items = part.get("items")
    found = part.get("enum") or (_resolved(items, defs).get("enum") if isinstance(items, Mapping) else None)
    return f" One of {', '.join(f'`{one}`' for one in found)}." if found else ""


def _resolved(part: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**defs[part["$ref"].rpartition("/")[2]], **part} if "$ref" in part else part


# Text


def _page(provider: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", provider.lower()).strip("-") + ".md"


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _plain(value: Any) -> str:
    return (
        {True: "yes", False: "no", None: "none"}.get(value, str(value))
        if not isinstance(value, int) or isinstance(value, bool)
        else str(value)
    )


def _code(text: str) -> str:
    """Text as code, whatever backticks it holds."""
    fence = "``" if "`" in text else "`"
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _ranges(numbers: list[int]) -> str:
    """`400, 405-406`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


if __name__ == "__main__":
    main()

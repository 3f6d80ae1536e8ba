"""What each check finds and what it leaves alone: the files, and the whole text a reader is shown."""

from __future__ import annotations

from typing import Any

import pytest

from faultwise.engine.lint import CHECKS, lint
from faultwise.engine.policy.load import load
from faultwise.engine.policy.source import SourceFile, Sources, collect
from faultwise.engine.problem import Problem

NOW = 1_767_225_600.0  # 2026-01-01
MEMO: dict[bytes, Any] = {}
PROVIDER = "faultwise: 1\nkind: provider\nprovider: acme\n"
RULES = PROVIDER + "rules:\n"
GENERAL = "faultwise: 1\nkind: rules\nrules:\n"
POLICY = "faultwise: 1\nkind: policy\n"
CODES = "markers: {credit_codes: [insufficient_balance]}\n"  # whatever the shipped list grows to


def found(shipped: str, yours: str, policy: str) -> tuple[Problem, ...]:
    """The findings in these files, which lie over the shipped policy without its rules."""
    files = [file for file in collect().files if file.name == "rules/policy.yaml"]
    files += [SourceFile("shipped.yaml", shipped.encode(), 0)] if shipped else []
    files += [SourceFile("policy.yaml", (POLICY + policy).encode(), 1)] if policy else []
    files += [SourceFile("yours.yaml", yours.encode(), 1)] if yours else []
    sources = Sources(tuple(files))
    return tuple(
        problem for problem in lint(sources, load(sources, MEMO), NOW) if not problem.file.startswith("rules/")
    )


# claim: the code, a shipped file, an operator's file, keys of an operator's policy, the findings of that code
FINDINGS: dict[str, tuple[str, str, str, str, list[str]]] = {
    "a shipped rule that wants a phrase off the list": (
        "FW101",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [too much]}\n",
        "",
        "",
        [
            "shipped.yaml:5:5: FW101 `a` never fires: shipped rules of this provider see no prose\n    help: add `acme` to `allowlists.full_text`, or look for a code"
        ],
    ),
    "a code-like marker beside a phrase keeps the rule alive": (
        "FW101",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [too much, too_much]}\n",
        "",
        "",
        [],
    ),
    "a veto by a phrase off the list": (
        "FW101",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [too_much], none: [card declined]}\n",
        "",
        "",
        [
            "shipped.yaml:5:5: FW101 the veto of `a` never holds: shipped rules of this provider see no prose\n    help: add `acme` to `allowlists.full_text`, or look for a code"
        ],
    ),
    "a phrase of a script without spaces is prose": (
        "FW101",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [额度不足]}\n",
        "",
        "",
        [
            "shipped.yaml:5:5: FW101 `a` never fires: shipped rules of this provider see no prose\n    help: add `acme` to `allowlists.full_text`, or look for a code"
        ],
    ),
    "a general rule sees prose": (
        "FW101",
        GENERAL + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [too much]}\n",
        "",
        "",
        [],
    ),
    "a provider on the list sees prose": (
        "FW101",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [too much]}\n",
        "",
        "allowlists: {+full_text: [acme]}\n",
        [],
    ),
    "an operator's rule sees prose": (
        "FW101",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [too much]}\n",
        "",
        [],
    ),
    "a lock that does not bind": (
        "FW102",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, lock: model}\n",
        "",
        "",
        [
            "shipped.yaml:5:67: FW102 warning: `lock: model` is informational: what is locked is the reason's `connection`\n    help: add `acme` to `allowlists.lock_scope`, or leave `lock` out"
        ],
    ),
    "a lock that is what the provider counts by": (
        "FW102",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, lock: connection}\n",
        "",
        "",
        [],
    ),
    "a lock on the list binds": (
        "FW102",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, lock: model}\n",
        "",
        "allowlists: {+lock_scope: ['*']}\n",
        [],
    ),
    "a lock unlike a reason with a scope of its own": (
        "FW102",
        RULES + "  - {id: a, why: w, status: [403], reason: overloaded, lock: model}\n",
        "",
        "",
        [
            "shipped.yaml:5:62: FW102 warning: `lock: model` is informational: what is locked is the reason's `provider`\n    help: add `acme` to `allowlists.lock_scope`, or leave `lock` out"
        ],
    ),
    "the same conditions again": (
        "FW103",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [used up]}\n  - {id: b, why: w, status: [403], reason: quota_exhausted, any: [used up]}\n",
        "",
        [
            "yours.yaml:6:10: FW103 warning: `b` is never reached: `a` (yours.yaml:5) matches all it matches\n    help: put the narrower rule first, or remove one"
        ],
    ),
    "a longer marker after a shorter one": (
        "FW103",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [used up]}\n  - {id: b, why: w, status: [403], reason: quota_exhausted, any: [all used up, now used up]}\n",
        "",
        [
            "yours.yaml:6:10: FW103 warning: `b` is never reached: `a` (yours.yaml:5) matches all it matches\n    help: put the narrower rule first, or remove one"
        ],
    ),
    "one marker that the earlier rule does not want": (
        "FW103",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [used up]}\n  - {id: b, why: w, status: [403], reason: quota_exhausted, any: [all used up, gone away]}\n",
        "",
        [],
    ),
    "a status that the earlier rule leaves out": (
        "FW103",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [used up]}\n  - {id: b, why: w, status: [403, 429], reason: quota_exhausted, any: [used up]}\n",
        "",
        [],
    ),
    "a kind that the earlier rule leaves out": (
        "FW103",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted}\n  - {id: b, why: w, status: [refused], reason: quota_exhausted}\n",
        "",
        [],
    ),
    "a veto that the later rule does not have": (
        "FW103",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [used up], none: [credit card]}\n  - {id: b, why: w, status: [403], reason: quota_exhausted, any: [used up]}\n",
        "",
        [],
    ),
    "a veto that the later rule has too, and more widely": (
        "FW103",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [used up], none: [credit card]}\n  - {id: b, why: w, status: [403], reason: quota_exhausted, any: [used up], none: [credit]}\n",
        "",
        [
            "yours.yaml:6:10: FW103 warning: `b` is never reached: `a` (yours.yaml:5) matches all it matches\n    help: put the narrower rule first, or remove one"
        ],
    ),
    "a veto written as an expression": (
        "FW103",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [used up], when: 'not text has \"credit card\"'}\n  - {id: b, why: w, status: [403], reason: quota_exhausted, any: [used up], when: 'not text has any [\"credit\"]'}\n",
        "",
        [
            "yours.yaml:6:10: FW103 warning: `b` is never reached: `a` (yours.yaml:5) matches all it matches\n    help: put the narrower rule first, or remove one"
        ],
    ),
    "a condition that the later rule does not have": (
        "FW103",
        "",
        RULES
        + '  - {id: a, why: w, status: [403], reason: quota_exhausted, when: \'code == "x" and text has "used up"\'}\n  - {id: b, why: w, status: [403], reason: quota_exhausted, any: [used up]}\n',
        "",
        [],
    ),
    "a condition that the later rule has too": (
        "FW103",
        "",
        RULES
        + '  - {id: a, why: w, status: [403], reason: quota_exhausted, when: \'code == "x" and text has "used up"\'}\n  - {id: b, why: w, status: [403], reason: quota_exhausted, any: [used up], when: \'code == "x"\'}\n',
        "",
        [
            "yours.yaml:6:10: FW103 warning: `b` is never reached: `a` (yours.yaml:5) matches all it matches\n    help: put the narrower rule first, or remove one"
        ],
    ),
    "markers that must all stand there": (
        "FW103",
        "",
        RULES
        + '  - {id: a, why: w, status: [403], reason: quota_exhausted, all: [used up, daily]}\n  - {id: b, why: w, status: [403], reason: quota_exhausted, when: \'text has all ["is used up", "daily limit"]\'}\n',
        "",
        [
            "yours.yaml:6:10: FW103 warning: `b` is never reached: `a` (yours.yaml:5) matches all it matches\n    help: put the narrower rule first, or remove one"
        ],
    ),
    "a phase that the earlier rule leaves out": (
        "FW103",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, phase: body}\n  - {id: b, why: w, status: [403], reason: quota_exhausted}\n",
        "",
        [],
    ),
    "a phase of the later rule only": (
        "FW103",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted}\n  - {id: b, why: w, status: [403], reason: quota_exhausted, phase: [body, stream]}\n",
        "",
        [
            "yours.yaml:6:10: FW103 warning: `b` is never reached: `a` (yours.yaml:5) matches all it matches\n    help: put the narrower rule first, or remove one"
        ],
    ),
    "a rule in shadow forestalls nothing": (
        "FW103",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, mode: shadow}\n  - {id: b, why: w, status: [403], reason: quota_exhausted}\n",
        "",
        [],
    ),
    "a rule that will expire forestalls nothing": (
        "FW103",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, expires: 2030-01-01}\n  - {id: b, why: w, status: [403], reason: quota_exhausted}\n",
        "",
        [],
    ),
    "an operator's rule before a shipped one is meant": (
        "FW103",
        RULES + "  - {id: b, why: w, status: [403], reason: quota_exhausted}\n",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted}\n",
        "",
        [],
    ),
    "a restatement after one that matches the same": (
        "FW103",
        "",
        PROVIDER
        + "restatements:\n  - {id: a, why: w, from: [403], to: 429}\n  - {id: b, why: w, from: [403], to: 402}\n",
        "",
        [
            "yours.yaml:6:10: FW103 warning: `b` is never reached: `a` (yours.yaml:5) matches all it matches\n    help: put the narrower rule first, or remove one"
        ],
    ),
    "a marker within a credit code": (
        "FW104",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [insufficient]}\n",
        CODES,
        [
            'yours.yaml:5:67: FW104 warning: the marker `insufficient` stands in the code `insufficient_balance` of `credits_exhausted`\n    help: veto it with `none: ["insufficient_balance"]`, or look for something longer'
        ],
    ),
    "a marker in an expression within a credit code": (
        "FW104",
        "",
        RULES
        + '  - {id: a, why: w, status: [403], reason: quota_exhausted, when: \'code == "x" or message has any ["too much", "insufficient"]\'}\n',
        CODES,
        [
            'yours.yaml:5:112: FW104 warning: the marker `insufficient` stands in the code `insufficient_balance` of `credits_exhausted`\n    help: veto it with `none: ["insufficient_balance"]`, or look for something longer'
        ],
    ),
    "a marker whose code is vetoed": (
        "FW104",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [insufficient_q], none: [insufficient_quota]}\n",
        "",
        [],
    ),
    "a marker of a rule about what does not end by itself": (
        "FW104",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: credits_exhausted, any: [insufficient]}\n",
        "",
        [],
    ),
    "a marker of a restatement": (
        "FW104",
        "",
        PROVIDER + "restatements:\n  - {id: a, why: w, from: [403], to: 429, any: [insufficient]}\n",
        "",
        [],
    ),
    "markers that are short, a number or a common word": (
        "FW105",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [abc, '4031', Unknown  Error, 额度]}\n",
        "",
        [
            "yours.yaml:5:67: FW105 warning: the marker `abc` is too short\n    help: take more of the phrase, or a code",
            "yours.yaml:5:73: FW105 warning: the marker `4031` is only a number\n    help: take more of the phrase, or a code",
            "yours.yaml:5:80: FW105 warning: the marker `unknown error` says nothing about the failure\n    help: take more of the phrase, or a code",
        ],
    ),
    "a marker that is not a list": (
        "FW105",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: error}\n",
        "",
        [
            "yours.yaml:5:66: FW105 warning: the marker `error` says nothing about the failure\n    help: take more of the phrase, or a code"
        ],
    ),
    "markers in expressions": (
        "FW105",
        "",
        RULES
        + '  - {id: a, why: w, status: [403], reason: quota_exhausted, when: \'text has "error" or (message has all ["bad", "worse"] and text has any ["failed"])\'}\n',
        "",
        [
            "yours.yaml:5:77: FW105 warning: the marker `error` says nothing about the failure\n    help: take more of the phrase, or a code",
            "yours.yaml:5:106: FW105 warning: the marker `bad` is too short\n    help: take more of the phrase, or a code",
            "yours.yaml:5:140: FW105 warning: the marker `failed` says nothing about the failure\n    help: take more of the phrase, or a code",
        ],
    ),
    "phrases, codes and words of other scripts": (
        "FW105",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [daily credit, E4031, 额度, 429 too many]}\n",
        "",
        [],
    ),
    "a named list is looked at where it is written": (
        "FW105",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: '@words', all: ['@words']}\n",
        "markers: {words: [gone away, error]}\n",
        [
            "policy.yaml:3:30: FW105 warning: the marker `error` of `words` says nothing about the failure\n    help: take more of the phrase, or a code"
        ],
    ),
    "every wanted marker is vetoed": (
        "FW106",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [used up, all used up], none: [used]}\n",
        "",
        ["yours.yaml:5:10: FW106 `a` never matches: the text must hold `all used up` and must not hold `used`"],
    ),
    "one of the wanted markers is vetoed": (
        "FW106",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [used up, gone away], none: [used]}\n",
        "",
        [],
    ),
    "a marker that must stand there is vetoed": (
        "FW106",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, all: [gone away, used up], none: [used]}\n",
        "",
        ["yours.yaml:5:10: FW106 `a` never matches: the text must hold `used up` and must not hold `used`"],
    ),
    "a condition and its opposite": (
        "FW106",
        "",
        RULES
        + '  - {id: a, why: w, status: [403], reason: quota_exhausted, when: \'code == "x" and not code == "x"\'}\n',
        "",
        ['yours.yaml:5:10: FW106 `a` never matches: `code == "x"` and its opposite must both hold'],
    ),
    "a status that the rule does not speak about": (
        "FW106",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, when: 'status == 429'}\n",
        "",
        ["yours.yaml:5:10: FW106 `a` never matches: `status == 429` is not among the statuses it speaks about"],
    ),
    "a status that the rule speaks about": (
        "FW106",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, when: '403 == status'}\n",
        "",
        [],
    ),
    "a terminal state for what ends by itself": (
        "FW107",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, terminal: banned}\n",
        "",
        [
            "yours.yaml:5:71: FW107 warning: `banned` is never entered: this ends by itself\n    help: write `temporary: false`, or `terminal: none`"
        ],
    ),
    "a terminal state at model scope": (
        "FW107",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: credits_exhausted, lock: model}\n",
        "",
        [
            "yours.yaml:5:44: FW107 warning: `credits_exhausted` is never entered: the scope is `model`, not the connection\n    help: write `lock: connection`, or `terminal: none`"
        ],
    ),
    "a terminal state that the rule rules out": (
        "FW107",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: credits_exhausted, lock: model, terminal: none}\n",
        "",
        [],
    ),
    "a terminal state that can be entered": (
        "FW107",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: credits_exhausted}\n",
        "",
        [],
    ),
    "a wait beyond the rule's own cap": (
        "FW108",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, cooldown: 2h, cap: 1h}\n",
        "",
        [
            "yours.yaml:5:71: FW108 warning: `cooldown: 2h` is longer than the rule's own `cap: 1h`\n    help: make them agree"
        ],
    ),
    "a wait within the rule's own cap": (
        "FW108",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, cooldown: 60d, cap: 90d}\n",
        "",
        [],
    ),
    "a wait beyond every cap": (
        "FW108",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, cooldown: 60d}\n",
        "",
        [
            "yours.yaml:5:71: FW108 warning: `cooldown: 60d` is longer than any wait the policy's `caps` allow\n    help: write a shorter wait, or a `cap` to say that it is meant"
        ],
    ),
    "a restatement's wait beyond every cap": (
        "FW108",
        "",
        PROVIDER + "restatements:\n  - {id: a, why: w, from: [403], to: 429, retry_after: 60d}\n",
        "",
        [
            "yours.yaml:5:56: FW108 warning: `retry_after: 60d` is longer than any wait the policy's `caps` allow\n    help: write a shorter wait, or a `cap` to say that it is meant"
        ],
    ),
    "an expression is not judged": (
        "FW108",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, cooldown: stated else 60d}\n",
        "",
        [],
    ),
    "a rule without any case": (
        "FW109",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted}\n",
        "",
        [
            "yours.yaml:5:10: FW109 warning: `a` has no near miss\n    help: add a failure that is nearly the same, with `expect: {not_rule: a}`",
            "yours.yaml:5:10: FW109 warning: no case makes `a` fire\n    help: add a case with `expect: {rule: a}`",
        ],
    ),
    "a rule in shadow needs none": (
        "FW109",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, mode: shadow}\n",
        "",
        [],
    ),
    "a restatement without any case": (
        "FW109",
        "",
        PROVIDER + "restatements:\n  - {id: a, why: w, from: [403], to: 429}\n",
        "",
        [
            "yours.yaml:5:10: FW109 warning: `a` has no near miss\n    help: add a failure that is nearly the same, with `expect: {not_rule: a}`",
            "yours.yaml:5:10: FW109 warning: no case makes `a` fire\n    help: add a case with `expect: {restated_by: a}`",
        ],
    ),
    "a case that fails shows nothing": (
        "FW109",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted}\ncases:\n  - {name: c, status: 403, expect: {rule: a, reason: timeout, not_rule: [a]}}\n",
        "",
        [
            "yours.yaml:5:10: FW109 warning: `a` has no near miss\n    help: add a failure that is nearly the same, with `expect: {not_rule: a}`",
            "yours.yaml:5:10: FW109 warning: only a case that fails makes `a` fire\n    help: `faultwise test` says what is wrong",
        ],
    ),
    "a restatement of another provider by the same id": (
        "FW110",
        PROVIDER + "restatements:\n  - {id: a, why: w, from: [403], to: 429}\n",
        GENERAL + "  - {id: a, why: w, status: [403], reason: quota_exhausted}\n",
        "",
        [
            "yours.yaml:4:10: FW110 `a` is also the id of a restatement at shipped.yaml:5\n    help: a rule is replaced only within its provider; choose another id"
        ],
    ),
    "a rule that replaces one of its provider": (
        "FW110",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted}\n",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted}\n",
        "",
        [],
    ),
    "lists that are named in one way or another": (
        "FW111",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: '@one', none: ['@two', gone away], when: 'text has any @three', cooldown: 'stated else 1h'}\n",
        "markers: {one: [gone away], two: [no more], three: [used up], four: [left over], +credit_codes: [no_funds]}\nterminals: {banned: {+codes: ['@four']}}\n",
        [],
    ),
    "a list whose name was written without its sign": (
        "FW111",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, any: [words_list]}\n",
        "markers: {words_list: [gone away]}\n",
        [
            "policy.yaml:3:11: FW111 warning: no rule uses the list `words_list`\n    help: name it as `@words_list` in a rule, or remove it"
        ],
    ),
    "a rule whose day is today": (
        "FW112",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, expires: 2026-01-01}\n",
        "",
        [
            "yours.yaml:5:70: FW112 warning: `a` expired on 2026-01-01\n    help: remove the rule, or give it a later day"
        ],
    ),
    "a rule whose day is tomorrow": (
        "FW112",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, expires: 2026-01-02}\n",
        "",
        [],
    ),
    "a regex of plain words": (
        "FW113",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, when: 'code == \"x\" or text matches /used up/'}\n",
        "",
        ['yours.yaml:5:96: FW113 warning: the regex `/used up/` only looks for words\n    help: write `has "used up"`'],
    ),
    "a regex of alternatives": (
        "FW113",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, when: 'message matches /(used up|a\\.b)/'}\n",
        "",
        [
            'yours.yaml:5:84: FW113 warning: the regex `/(used up|a\\.b)/` only looks for words\n    help: write `has any ["used up", "a.b"]`'
        ],
    ),
    "a regex that is needed": (
        "FW113",
        "",
        RULES + "  - {id: a, why: w, status: [403], reason: quota_exhausted, when: 'text matches /used (up|\\d+)/'}\n",
        "",
        [],
    ),
    "a regex that takes a number out": (
        "FW113",
        "",
        RULES
        + "  - {id: a, why: w, status: [403], reason: quota_exhausted, when: 'number(text, /limit (\\d+)/) > 5'}\n",
        "",
        [],
    ),
    "a rule without a why, and one with a blank one": (
        "FW114",
        "",
        RULES
        + "  - {id: a, status: [403], reason: quota_exhausted}\n  - {id: b, why: ' ', status: [429], reason: quota_exhausted}\n",
        "",
        [
            "yours.yaml:5:10: FW114 warning: `a` does not say why\n    help: add `why:` with a sentence",
            "yours.yaml:6:10: FW114 warning: `b` does not say why\n    help: add `why:` with a sentence",
        ],
    ),
}


@pytest.mark.parametrize(("code", "shipped", "yours", "policy", "findings"), FINDINGS.values(), ids=list(FINDINGS))
def test_a_finding_is_told_where_it_stands(
    code: str, shipped: str, yours: str, policy: str, findings: list[str]
) -> None:
    assert [str(problem) for problem in found(shipped, yours, policy) if problem.code == code] == findings


def test_every_check_finds_something_and_leaves_something_alone() -> None:
    assert {code for code, *_, findings in FINDINGS.values() if findings} == set(CHECKS)
    assert {code for code, *_, findings in FINDINGS.values() if not findings} >= set(CHECKS) - {"FW114"}


def test_findings_come_in_the_order_of_the_files_each_once() -> None:
    base = PROVIDER.replace("acme", "base") + "rules:\n  - {id: a, status: [403], reason: auth_error}\n"
    extending = PROVIDER + "extends: base\n"
    files = [file for file in collect().files if file.name == "rules/policy.yaml"]
    sources = Sources((*files, SourceFile("b.yaml", base.encode(), 1), SourceFile("a.yaml", extending.encode(), 1)))
    problems = [one for one in lint(sources, load(sources, MEMO), NOW) if one.file in ("a.yaml", "b.yaml")]
    assert [(one.file, one.line, one.code) for one in problems] == [
        ("b.yaml", 5, "FW109"),
        ("b.yaml", 5, "FW109"),
        ("b.yaml", 5, "FW114"),
    ]


def test_the_shipped_catalogue_has_no_findings() -> None:
    sources = collect()
    assert [str(problem) for problem in lint(sources, load(sources, MEMO), NOW)] == []

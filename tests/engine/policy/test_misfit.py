"""Each way in which a file can fail to fit its schema: the whole text a reader is shown, and its place."""

from __future__ import annotations

import pytest

from faultwise.engine.policy.schema import validate
from faultwise.engine.policy.yaml import read

PROVIDER = "faultwise: 1\nkind: provider\nprovider: relay\n"
RULES = "faultwise: 1\nkind: rules\n"
RULE = RULES + "rules:\n  - id: a\n    status: [403]\n    reason: auth_error\n"
POLICY = "faultwise: 1\nkind: policy\n"
GATEWAY = "faultwise: 1\nkind: gateway\n"
CASE = "faultwise: 1\nkind: cases\ncases:\n  - name: a\n"

FAULTS = {
    "a list where true or false is meant": (
        "rules",
        RULE + "    temporary: [a]\n",
        ["f.yaml:7:16: FW011 expected true or false, found a list"],
    ),
    "a mapping where true or false is meant": (
        "rules",
        RULE + "    temporary: {a: b}\n",
        ["f.yaml:7:16: FW011 expected true or false, found a mapping"],
    ),
    "a mapping among words": (
        "policy",
        POLICY + "envelopes: {blank: [{}], fine: [[]]}\n",
        [
            "f.yaml:3:21: FW011 expected text, a number or true or false, found a mapping",
            "f.yaml:3:33: FW011 expected text, a number or true or false, found a list",
        ],
    ),
    "an unknown key with a near one": (
        "rules",
        RULE + "    whn: x == 1\n",
        ["f.yaml:7:5: FW010 unknown key `whn`\n    help: did you mean `when`?"],
    ),
    "an unknown key that is like no other": (
        "policy",
        POLICY + "caps: {zebra: 1d, rpc: 1d}\n",
        ["f.yaml:3:8: FW010 unknown key `zebra`\n    help: the keys left here are header, body, prose, synthetic"],
    ),
    "an unknown key where every other is taken": (
        "provider",
        PROVIDER + 'reset: {at: "00:00", zone: UTC, offset: 1}\n',
        ["f.yaml:4:33: FW010 unknown key `offset`"],
    ),
    "a number as an unknown key": (
        "rules",
        RULES + "403: x\n",
        ["f.yaml:3:1: FW010 unknown key `403`\n    help: the keys left here are disable, rules, cases"],
    ),
    "an unknown key of 80 characters": (
        "rules",
        RULES + "k" * 80 + ": x\n",
        [
            "f.yaml:3:1: FW010 unknown key `kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk…`\n    help: the keys left here are disable, rules, cases"
        ],
    ),
    "a misspelt key that had to be there is told once": (
        "rules",
        RULES + "rules:\n  - id: a\n    statuss: [403]\n    reason: auth_error\n",
        ["f.yaml:5:5: FW010 unknown key `statuss`\n    help: did you mean `status`?"],
    ),
    "a missing key": (
        "rules",
        RULES + "rules:\n  - id: a\n    status: 403\n",
        [
            "f.yaml:4:5: FW012 missing key `reason`\n    help: what kind of failure it is: a row of the policy's `reasons`"
        ],
    ),
    "a missing key of a file": (
        "provider",
        "# a file\nfaultwise: 1\nkind: provider\n",
        ["f.yaml:2:1: FW012 missing key `provider`\n    help: the provider's name, as connections write it"],
    ),
    "two missing keys": (
        "provider",
        PROVIDER + "reset: {}\n",
        [
            "f.yaml:4:8: FW012 missing key `at`\n    help: the time of day",
            "f.yaml:4:8: FW012 missing key `zone`\n    help: the IANA time zone",
        ],
    ),
    "two keys that exclude each other": (
        "cases",
        CASE + "    body: x\n    body_base64: eA==\n    expect: {status: 403}\n",
        ["f.yaml:6:5: FW011 `body` and `body_base64` exclude each other\n    help: keep one of them"],
    ),
    "text instead of a list": (
        "provider",
        PROVIDER + "aliases: relay.example\n",
        ["f.yaml:4:10: FW011 expected a list, found the text `relay.example`\n    help: put it in brackets"],
    ),
    "a mapping instead of a list": (
        "provider",
        PROVIDER + "rules: {a: b}\n",
        ["f.yaml:4:8: FW011 expected a list, found a mapping"],
    ),
    "nothing instead of a list": (
        "provider",
        PROVIDER + "rules:\n",
        ["f.yaml:4:7: FW011 expected a list, found nothing\n    help: leave the key out, or give it a value"],
    ),
    "nothing instead of text": (
        "rules",
        RULE + "    why:\n",
        ["f.yaml:7:9: FW011 expected text, found nothing"],
    ),
    "a list instead of a mapping": (
        "provider",
        PROVIDER + "reset: [1]\n",
        ["f.yaml:4:8: FW011 expected a mapping, found a list"],
    ),
    "a file that is a list": (
        "provider",
        "- a\n- b\n",
        ["f.yaml:1:1: FW011 expected a mapping, found a list"],
    ),
    "a number instead of text": (
        "rules",
        RULE + "    any: [额度, 403]\n",
        ["f.yaml:7:15: FW011 expected text, found the number 403\n    help: put it in quotes"],
    ),
    "a number that would be right as text": (
        "rules",
        RULES + "rules:\n  - id: 403\n    status: [403]\n    reason: auth_error\n",
        ["f.yaml:4:9: FW011 expected text, found the number 403\n    help: put it in quotes"],
    ),
    "a number instead of a duration": (
        "rules",
        RULE + "    cap: 90\n",
        ["f.yaml:7:10: FW011 expected text, found the number 90\n    help: write it like `90s`, `1h30m`, `2d`"],
    ),
    "a number instead of a wait": (
        "rules",
        RULE + "    cooldown: 90\n",
        [
            "f.yaml:7:15: FW011 expected text, found the number 90\n    help: write it like `60s`, `stated else 1h`, `min(stated, 6h)`, `until reset else 1h`, `until 00:00 UTC`"
        ],
    ),
    "a number instead of a duration or nothing": (
        "cases",
        CASE + "    expect: {retry_after: 60}\n",
        [
            "f.yaml:5:27: FW011 expected text or nothing, found the number 60\n    help: write it like `90s`, `1h30m`, `2d`"
        ],
    ),
    "`yes` instead of true": (
        "rules",
        RULE + "    temporary: yes\n",
        ["f.yaml:7:16: FW011 expected true or false, found the text `yes`\n    help: write `true`"],
    ),
    "text instead of true or false": (
        "rules",
        RULE + "    temporary: often\n",
        ["f.yaml:7:16: FW011 expected true or false, found the text `often`"],
    ),
    "true instead of text": (
        "rules",
        RULE + "    why: true\n",
        ["f.yaml:7:10: FW011 expected text, found `true`\n    help: put it in quotes"],
    ),
    "text instead of a number": (
        "policy",
        POLICY + "profiles: {oauth: {breaker: {ratio: half}}}\n",
        ["f.yaml:3:37: FW011 expected a number, found the text `half`"],
    ),
    "a word that is none of a few": (
        "provider",
        PROVIDER + "quota_unit: account\n",
        ["f.yaml:4:13: FW011 `account` is none of model, connection, egress"],
    ),
    "a word that is nearly one of a few": (
        "rules",
        RULE + "    lock: conection\n",
        [
            "f.yaml:7:11: FW011 `conection` is none of request, model, model_family, connection, egress, host, provider\n    help: did you mean `connection`?"
        ],
    ),
    "a list instead of one of a few words": (
        "rules",
        RULE + "    lock: [model]\n",
        [
            "f.yaml:7:11: FW011 expected one of request, model, model_family, connection, egress, host, provider, found a list"
        ],
    ),
    "another version": (
        "rules",
        "faultwise: 2\nkind: rules\n",
        ["f.yaml:1:12: FW011 expected `1`, found the number 2"],
    ),
    "a version as text": (
        "rules",
        "faultwise: '1'\nkind: rules\n",
        ["f.yaml:1:12: FW011 expected `1`, found the text `1`"],
    ),
    "a status that is none": (
        "rules",
        RULES + "rules:\n  - {id: a, status: [403, 999], reason: x}\n",
        ["f.yaml:4:27: FW011 `999` is not a status\n    help: write it like `403`, `4xx`, `520-524`, `refused`"],
    ),
    "a status as a mapping": (
        "rules",
        RULES + "rules:\n  - {id: a, status: {a: 1}, reason: x}\n",
        ["f.yaml:4:21: FW011 expected a whole number, text or a list, found a mapping"],
    ),
    "a mapping in a list of statuses": (
        "rules",
        RULES + "rules:\n  - {id: a, status: [403, {a: 1}], reason: x}\n",
        ["f.yaml:4:27: FW011 expected a whole number or text, found a mapping"],
    ),
    "a phase that is none, in a list": (
        "rules",
        RULE + "    phase: [response, streem]\n",
        [
            "f.yaml:7:23: FW011 `streem` is none of response, body, stream_start, stream, finish, transport, local\n    help: did you mean `stream`?"
        ],
    ),
    "a status to restate to that is no error": (
        "provider",
        PROVIDER + "restatements:\n  - {id: a, from: 403, to: 200}\n",
        ["f.yaml:5:28: FW011 `200` is not within 400 to 599"],
    ),
    "a number that is too small": (
        "gateway",
        GATEWAY + "connections:\n  - {id: a, provider: p, base_url: 'http://x', weight: -1}\n",
        ["f.yaml:4:56: FW011 `-1` is less than 0"],
    ),
    "a number that is too large": (
        "policy",
        POLICY + "terminals: {banned: {episodes: 1000}}\n",
        ["f.yaml:3:32: FW011 `1000` is not within 1 to 100"],
    ),
    "an attempt before the first": (
        "cases",
        CASE + "    attempt: 0\n    expect: {status: 403}\n",
        ["f.yaml:5:14: FW011 `0` is less than 1"],
    ),
    "an empty text": (
        "rules",
        RULE + "    any: ''\n",
        ["f.yaml:7:10: FW011 must not be empty"],
    ),
    "an empty marker": (
        "rules",
        RULE + '    any: [a, ""]\n',
        ["f.yaml:7:14: FW011 must not be empty"],
    ),
    "an empty list": (
        "rules",
        RULE + "    none: []\n",
        ["f.yaml:7:11: FW011 must not be empty"],
    ),
    "an empty mapping": (
        "cases",
        CASE + "    expect: {}\n",
        ["f.yaml:5:13: FW011 must not be empty"],
    ),
    "a text that is too long": (
        "rules",
        RULE + "    cooldown: " + "1" * 1001 + "\n",
        ["f.yaml:7:15: FW011 1001 characters, at most 1000 are allowed"],
    ),
    "a list that is too long": (
        "policy",
        POLICY + "reasons: {x: {steps: [" + "1s, " * 21 + "]}}\n",
        ["f.yaml:3:22: FW011 21 items, at most 20 are allowed"],
    ),
    "a duration in the wrong order": (
        "rules",
        RULE + "    cap: 30m1h\n",
        ["f.yaml:7:10: FW011 `30m1h` is not a duration\n    help: write it like `90s`, `1h30m`, `2d`"],
    ),
    "an id with capitals": (
        "rules",
        RULES + "rules:\n  - id: Quota_Used\n    status: [403]\n    reason: auth_error\n",
        ["f.yaml:4:9: FW011 `Quota_Used` is not an id\n    help: write it like `agentrouter-quota-misstated`"],
    ),
    "a day that does not exist": (
        "rules",
        RULE + "    expires: 2026-02-30\n",
        ["f.yaml:7:14: FW011 `2026-02-30` is not a day\n    help: write it like `2026-06-30`"],
    ),
    "a share that is none": (
        "rules",
        RULE + "    rollout: 101%\n",
        ["f.yaml:7:14: FW011 `101%` is not a percentage\n    help: write it like `10%`"],
    ),
    "a name of a table row that is none": (
        "policy",
        POLICY + "reasons: {Bad-Name: {status: 400}}\n",
        ["f.yaml:3:11: FW011 `Bad-Name` is not a reason\n    help: write it like `quota_exhausted`"],
    ),
    "a status of the defaults that is none": (
        "policy",
        POLICY + "defaults:\n  403: auth_error\n  6xx: server_error\n",
        ["f.yaml:5:3: FW011 `6xx` is not a status\n    help: write it like `403`, `4xx`, `520-524`, `refused`"],
    ),
    "a header value in a case": (
        "cases",
        CASE + "    headers: {a: [x, {b: c}]}\n    expect: {status: 403}\n",
        ["f.yaml:5:22: FW011 expected text or a number, found a mapping"],
    ),
    "a size that is none": (
        "gateway",
        GATEWAY + "limits: {body: 64MB}\n",
        ["f.yaml:3:16: FW011 `64MB` is not a size\n    help: write it like `64MiB`, `65536`"],
    ),
    "text where a number belongs": (
        "gateway",
        GATEWAY + "connections:\n  - {id: a, provider: p, base_url: 'http://x', max_concurrent: many}\n",
        ["f.yaml:4:64: FW011 expected a whole number, found the text `many`"],
    ),
    "a store that is none": (
        "gateway",
        GATEWAY + "state: mysql://x\n",
        ["f.yaml:3:8: FW011 `mysql://x` is not a store\n    help: write it like `sqlite:///faultwise.db`, `memory://`"],
    ),
    "a target of both kinds": (
        "gateway",
        GATEWAY + "combos: {c: {targets: [{provider: p, connection: q, model: m}]}}\n",
        ["f.yaml:3:38: FW011 `provider` and `connection` exclude each other\n    help: keep one of them"],
    ),
}


@pytest.mark.parametrize(("kind", "source", "problems"), FAULTS.values(), ids=list(FAULTS))
def test_what_does_not_fit_is_told_where_it_stands(kind: str, source: str, problems: list[str]) -> None:
    document, found = read(source, "f.yaml")
    assert document is not None and found == ()
    assert [str(problem) for problem in validate(document, kind, "f.yaml")] == problems


def test_problems_come_in_the_order_of_the_file_each_once() -> None:
    source = "faultwise: 2\r\nkind: rules\r\nrules:\r\n  - id: 额\r\n    statuss: 403\r\n    reason: a\r\n"
    document, _ = read("\ufeff" + source, "f.yaml")
    assert document is not None
    assert [(one.line, one.column, one.code) for one in validate(document, "rules", "f.yaml")] == [
        (1, 12, "FW011"),
        (4, 9, "FW011"),
        (5, 5, "FW010"),
    ]

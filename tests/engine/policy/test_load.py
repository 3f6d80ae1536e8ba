"""Rule files become a policy whole, or every problem in them is told with its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faultwise.engine.cases import run_cases
from faultwise.engine.failure.intake import intake
from faultwise.engine.policy.load import COMPILED, load
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import SourceFile, Sources, collect
from faultwise.engine.problem import PolicyError
from faultwise.engine.verdict.decide import decide

ACME = """\
faultwise: 1
kind: provider
provider: acme
rules:
  - id: acme-a
    status: [403]
    any: ["used up"]
    reason: quota_exhausted
"""


def problems(over: Callable[..., Policy], text: str) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        over({"acme.yaml": text})
    return [f"{one.line}:{one.column} {one.code} {one.message} ({one.hint})" for one in caught.value.problems]


def test_an_unknown_reason_is_told_where_it_stands_with_the_nearest(over: Callable[..., Policy]) -> None:
    assert problems(over, ACME.replace("quota_exhausted", "quota_exhausted2")) == [
        "8:13 FW021 unknown reason `quota_exhausted2` (did you mean `quota_exhausted`?)"
    ]


def test_an_expression_error_points_into_the_expression(over: Callable[..., Policy]) -> None:
    found = problems(over, ACME.replace('any: ["used up"]', 'when: txt has "used up"'))
    assert len(found) == 1 and found[0].startswith("7:11 FW020 unknown") and "did you mean `text`?" in found[0]


def test_every_problem_of_every_file_is_told_at_once(over: Callable[..., Policy]) -> None:
    with pytest.raises(PolicyError) as caught:
        over({"a.yaml": ACME.replace("[403]", "[999]"), "b.yaml": "kind: nothing\n", "c.yaml": "\tx: 1\n"})
    assert {one.file for one in caught.value.problems} == {"a.yaml", "b.yaml", "c.yaml"}


def test_a_wrong_form_hides_nothing_else_not_even_in_its_own_file(over: Callable[..., Policy]) -> None:
    more = '  - {id: acme-b, status: [402], when: txt has "used", reason: quota_exausted}\n'
    found = problems(over, ACME.replace("status: [403]", "statuss: [403]") + more + "reset: {at: 5, zone: UTC}\n")
    assert [one[:16].split(" (")[0] for one in found] == [
        "6:5 FW010 unknow",
        "9:39 FW020 unkno",
        "9:63 FW021 unkno",
        "10:13 FW011 expe",
    ]


def test_an_item_that_is_no_rule_leaves_the_others_in_their_places(over: Callable[..., Policy]) -> None:
    found = problems(over, ACME.replace("rules:\n", "rules:\n  - 5\n").replace("quota_exhausted", "quota_exausted"))
    assert [one[:10] for one in found] == ["5:5 FW011 ", "9:13 FW021"]


def test_a_name_that_may_stand_in_what_could_not_be_read_is_not_called_unknown(over: Callable[..., Policy]) -> None:
    words = "faultwise: 1\nkind: policy\nreasons: {made_up: {fault: nobody}}\n"
    base = "faultwise: 1\nkind: provider\nprovider: base\nrules: [\n"
    acme = ACME.replace("quota_exhausted", "made_up").replace("rules:", "extends: base\nrules:")
    with pytest.raises(PolicyError) as caught:
        over({"acme.yaml": acme, "base.yaml": base, "words.yaml": words})
    assert {one.file for one in caught.value.problems} == {"base.yaml", "words.yaml"}


@pytest.mark.parametrize(
    "spoiled", ["rules: 5", "provider: [a]", "aliases: [5]", "families: 5", "restatements: [[]]", "reset: {at: soon}"]
)
def test_whatever_has_a_wrong_form_is_told(over: Callable[..., Policy], spoiled: str) -> None:
    rest = [line for line in ACME.split("rules:")[0].splitlines() if line.split(":")[0] != spoiled.split(":")[0]]
    found = problems(over, "\n".join((*rest, spoiled, "")))
    assert found and all(" FW011 " in one or " FW012 " in one for one in found)


def test_an_unknown_list_is_told(over: Callable[..., Policy]) -> None:
    assert problems(over, ACME.replace('["used up"]', '["@credit_code"]')) == [
        "7:12 FW021 unknown list `credit_code` (did you mean `credit_codes`?)"
    ]


def test_a_duplicate_id_names_where_it_was_first(over: Callable[..., Policy]) -> None:
    twice = ACME + ACME.split("rules:\n")[1]
    assert problems(over, twice) == ["9:9 FW022 duplicate id `acme-a`, first written at acme.yaml:5 ()"]


def test_the_digest_knows_content_and_not_formatting_or_cases(over: Callable[..., Policy]) -> None:
    plain = over({"acme.yaml": ACME})
    commented = over({"acme.yaml": "# a comment\n" + ACME.replace('["used up"]', "\n      - used up")})
    cased = over({"acme.yaml": ACME + "cases:\n  - {name: a, status: 403, body: x, expect: {reason: auth_error}}\n"})
    changed = over({"acme.yaml": ACME.replace("used up", "all gone")})
    assert plain.digest == commented.digest == cased.digest != changed.digest
    assert plain.digest.startswith("sha256:")


def test_an_unchanged_file_is_parsed_once_with_a_memo() -> None:
    memo: dict = {}
    first = load(collect(), memo)
    known = dict(memo)
    again = load(collect(), memo)
    assert again.digest == first.digest
    assert memo.keys() == known.keys()
    assert all(memo[key][0] is known[key][0] for key in known if key != COMPILED)
    assert all(one is other for one, other in zip(first.general, again.general, strict=True))


def test_with_a_memo_only_what_changed_is_compiled_anew(lay: Callable[..., Sources]) -> None:
    memo: dict = {}
    first = load(lay({"acme.yaml": ACME}, shipped=False), memo)
    other = SourceFile("other.yaml", ACME.replace("acme", "other").encode(), 1)
    second = load(Sources((*lay({"acme.yaml": ACME}, shipped=False).files, other)), memo)
    assert second.provider("acme").rules[0] is first.provider("acme").rules[0]
    assert second.provider("other").rules[0].provider == "other"


def test_rules_are_compiled_anew_when_the_words_they_use_change(lay: Callable[..., Sources]) -> None:
    memo: dict = {}
    extra = "faultwise: 1\nkind: policy\nmarkers: {made_up: [%s]}\n"
    acme = ACME.replace('["used up"]', '["@made_up"]')
    for word in ("one word", "another word"):
        policy = load(lay({"words.yaml": extra % word, "acme.yaml": acme}, shipped=False), memo)
        assert policy.provider("acme").rules[0].needs == {word}


def test_with_a_memo_problems_are_told_each_time(lay: Callable[..., Sources]) -> None:
    memo: dict = {}
    for _ in range(2):
        with pytest.raises(PolicyError, match="unknown reason"):
            load(lay({"acme.yaml": ACME.replace("quota_exhausted", "made_up")}, shipped=False), memo)


def test_the_catalogues_own_cases_are_read_where_they_are_asked_for_and_change_no_digest() -> None:
    served, tested = collect(), collect(cases=True)
    more = {file.name for file in tested.files} - {file.name for file in served.files}
    assert more and all(name.startswith("rules/cases/") for name in more)
    assert load(served).digest == load(tested).digest


def test_a_file_of_cases_may_say_whose_failures_they_are(over: Callable[..., Policy]) -> None:
    cases = "faultwise: 1\nkind: cases\nprovider: acme\ncases:\n"
    cases += "  - {name: c, status: 403, body: used up, expect: {rule: acme-a}}\n"
    policy = over({"acme.yaml": ACME, "held.yaml": cases}, shipped=False)
    assert [result.problem for result in run_cases(policy)] == [None]


def test_the_fingerprint_of_sources_changes_with_any_byte() -> None:
    one = Sources((SourceFile("a.yaml", b"x", 1),))
    assert one.fingerprint != Sources((SourceFile("a.yaml", b"y", 1),)).fingerprint
    assert one.fingerprint != Sources((SourceFile("b.yaml", b"x", 1),)).fingerprint
    assert one.fingerprint != Sources((SourceFile("a.yaml", b"x", 2),)).fingerprint


def test_a_path_that_does_not_exist_is_told(tmp_path) -> None:
    with pytest.raises(PolicyError, match="no such file or directory"):
        collect([tmp_path / "nowhere"])


def test_hidden_folders_are_left_out(tmp_path) -> None:
    (tmp_path / "..data").mkdir()
    (tmp_path / "..data" / "old.yaml").write_text(ACME)
    (tmp_path / "acme.yaml").write_text(ACME)
    names = [file.name for file in collect([tmp_path], shipped=False).files]
    assert names == ["rules/policy.yaml", str(tmp_path / "acme.yaml")]


def test_without_the_shipped_rules_the_vocabulary_stays() -> None:
    policy = load(collect(shipped=False))
    assert not policy.general and not policy.providers
    assert decide(policy, intake({"status": 429}, 0.0)).rule == "default-429"


def test_a_shadow_rule_decides_nothing(over: Callable[..., Policy]) -> None:
    assert over({"acme.yaml": ACME}).provider("acme").rules
    assert not over({"acme.yaml": ACME + "    mode: shadow\n"}).provider("acme").rules


def test_an_envelope_that_does_not_compile_is_told_where_it_stands(over: Callable[..., Policy]) -> None:
    text = "faultwise: 1\nkind: policy\nenvelopes:\n  bare_type: '('\n"
    with pytest.raises(PolicyError, match=r"mine\.yaml:4:3: FW011 envelopes: `bare_type` does not compile"):
        over({"mine.yaml": text})


def test_a_gateway_file_beside_the_rules_is_not_a_rule_file(over: Callable[..., Policy]) -> None:
    policy = over({"acme.yaml": ACME, "gateway.yaml": "faultwise: 1\nkind: gateway\n"})
    assert policy.provider("acme").rules


def test_what_a_package_manager_installed_is_left_out(tmp_path) -> None:
    (tmp_path / "venv" / "site-packages").mkdir(parents=True)
    (tmp_path / "venv" / "site-packages" / "old.yaml").write_text(ACME)
    assert [file.name for file in collect([tmp_path], shipped=False).files] == ["rules/policy.yaml"]


def test_an_ambiguous_zone_is_that_of_the_providers_clock(over: Callable[..., Policy]) -> None:
    policy = over({"acme.yaml": ACME + 'reset: {at: "00:00", zone: Asia/Shanghai}\n'})
    row = {"provider": "acme", "status": 429, "body": {"error": {"message": "used up, resets at 00:00 CST"}}}
    verdict = decide(policy, intake({**row, "now": "2026-01-01T00:00:00Z"}, 0.0))
    assert verdict.stated_s == 16 * 3600


POLICY = "faultwise: 1\nkind: policy\n"


@pytest.mark.parametrize("zone", ["Europe/Nowhere", "America", "a" * 5000])
def test_a_zone_that_does_not_exist_is_told_where_it_is_written(over: Callable[..., Policy], zone: str) -> None:
    for section, column in ((f'reset: {{at: "08:00", zone: {zone}}}\n', 28), (f"stated: {{zone: {zone}}}\n", 16)):
        (found,) = problems(over, ACME + section)
        assert found.startswith(f"9:{column} FW011 unknown time zone `{zone[:59]}") and "Asia/Shanghai" in found
        assert len(found) < 250


def test_a_time_of_day_that_no_clock_shows_is_told(over: Callable[..., Policy]) -> None:
    (found,) = problems(over, ACME + 'reset: {at: "24:61", zone: UTC}\n')
    assert found.startswith("9:13 FW011 `24:61` is not a time of day")


def test_a_reason_lacks_a_key_only_where_no_file_says_it(over: Callable[..., Policy]) -> None:
    assert over({"mine.yaml": POLICY + "reasons: {timeout: {wait_ok: false}}\n"}).reasons["timeout"].status == 504
    found = problems(over, POLICY + "reasons: {mine: {fault: account}}\n")
    assert [one.partition(" (")[0] for one in found] == [
        f"3:17 FW012 missing key `{key}`" for key in ("fallback", "lock", "status", "temporary", "wait_ok")
    ]


def test_statuses_that_a_reason_cannot_be_told_as_are_told(over: Callable[..., Policy]) -> None:
    (found, *_) = problems(over, POLICY + "reasons: {timeout: {accepts: [599-400]}}\n")
    assert found == "3:30 FW011 `599-400` is not within 100 to 599 ()"


def test_an_unknown_terminal_state_is_told(over: Callable[..., Policy]) -> None:
    assert problems(over, ACME + "    terminal: bannd\n") == [
        "9:15 FW021 unknown terminal `bannd` (did you mean `banned`?)"
    ]
    assert problems(over, POLICY + "reasons: {timeout: {terminal: nope}}\n") == [
        "3:31 FW021 unknown terminal `nope` ()"
    ]
    assert over({"acme.yaml": ACME + "    terminal: none\n"}).provider("acme").rules[0].terminal == "none"


@pytest.mark.parametrize("marker", ["\u200b\u200b", "\u0301\u0301", "\u2060\ufeff "])
def test_a_marker_that_nobody_sees_is_refused(over: Callable[..., Policy], marker: str) -> None:
    (found,) = problems(over, ACME.replace("used up", marker))
    assert found.startswith("7:11 FW020") or found.startswith("7:12 FW020")
    assert "holds nothing that can be seen" in found


def test_rules_that_several_providers_inherit_count_once(over: Callable[..., Policy]) -> None:
    heir = "faultwise: 1\nkind: provider\nprovider: heir\nextends: acme\n"
    before, _ = over({}, shipped=False).counts()
    assert over({"acme.yaml": ACME, "heir.yaml": heir}, shipped=False).counts()[0] == before + 1

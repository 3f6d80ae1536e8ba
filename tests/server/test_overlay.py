"""Thresholds that an operator lays over the policy's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from faultwise.engine.policy.policy import Policy
from faultwise.engine.problem import PolicyError
from faultwise.engine.state.thresholds import Thresholds
from faultwise.server.layers import variable
from faultwise.server.overlay import THRESHOLDS
from faultwise.server.proxy.plan import Routes
from faultwise.server.settings import Settings, settings

HEAD = "faultwise: 1\nkind: gateway\nstate: memory://\n"
ONE = "connections:\n  - {id: one, provider: acme, base_url: 'https://a.example/v1', auth: oauth%s}\n"


def read(folder: Path, text: str, environ: dict[str, str] | None = None, **more: Any) -> Settings:
    file = folder / "gateway.yaml"
    file.write_text(HEAD + text)
    return settings(file, environ=environ or {}, **more)


def limits(policy: Policy, made: Settings) -> Thresholds:
    return Routes(policy, made).limits(made.connections["one"])


def problems(folder: Path, text: str, environ: dict[str, str] | None = None, **more: Any) -> list[str]:
    with pytest.raises(PolicyError) as refused:
        read(folder, text, environ, **more)
    return [str(one).splitlines()[0].removeprefix(f"{folder}/") for one in refused.value.problems]


def test_policy_gives_way_to_file_to_environment_to_connection(tmp_path: Path, shipped: Policy) -> None:
    profiles = "profiles: {oauth: {breaker: {opens_at: 9, reset: 10s, window: 30s}}}\n"
    environ = {"FAULTWISE_BREAKER__OAUTH__RESET": "20s", "FAULTWISE_BREAKER__OAUTH__WINDOW": "40s"}
    own = ", profile: {breaker: {window: 50s}, money_terminal: false}"
    made = read(tmp_path, ONE % own + profiles, environ)
    found = limits(shipped, made)
    assert (found.breaker.degraded_at, found.breaker.opens_at) == (5, 9)
    assert (found.breaker.reset, found.breaker.window) == (20.0, 50.0)
    assert not found.money_terminal
    assert made.value("breaker.oauth.opens_at") == 9
    assert made.values["breaker.oauth.opens_at"].source.endswith("gateway.yaml:6")
    assert made.values["breaker.oauth.reset"].source == "environment FAULTWISE_BREAKER__OAUTH__RESET"


def test_a_section_is_switched_for_every_class(tmp_path: Path, shipped: Policy) -> None:
    found = limits(shipped, read(tmp_path, ONE % "" + "breaker: {enabled: false}\ngate: {enabled: true}\n"))
    assert not found.breaker.enabled and found.gate.enabled
    environ = {"FAULTWISE_BREAKER__ENABLED": "true"}
    found = limits(shipped, read(tmp_path, ONE % "" + "breaker: {enabled: false}\n", environ))
    assert found.breaker.enabled and not found.gate.enabled


@pytest.mark.parametrize("name", sorted(THRESHOLDS))
def test_every_threshold_can_be_set_by_the_environment(tmp_path: Path, name: str) -> None:
    for raw in ("true", "1", "10s"):
        try:
            made = read(tmp_path, "", {variable(name): raw})
        except PolicyError:
            continue
        assert made.values[name].source == f"environment {variable(name)}"
        return
    pytest.fail("no value was taken")


@pytest.mark.parametrize(
    ("text", "environ", "expected"),
    [
        (
            "profiles: {local: {gate: {window: 2d}}}\n",
            {},
            "gateway.yaml:4:35: FW061 `window` is 172800 s: it must be from 1 to 86400 s",
        ),
        (
            ONE % ", profile: {breaker: {reset: 2h}}",
            {},
            "FW061 `reset` is 7200 s: it must be from 1 to 3600 s",
        ),
        (
            "",
            {"FAULTWISE_BREAKER__LOCAL__RESET": "2h"},
            "FAULTWISE_BREAKER__LOCAL__RESET: FW061 `reset` is 7200 s",
        ),
        ("", {"FAULTWISE_GATE__OAUTH__FAILURES": "many"}, "FAULTWISE_GATE__OAUTH__FAILURES: FW061 `gate.oauth"),
        ("wait: {max_wait: 10m}\n", {}, "gateway.yaml:4:18: FW061 `wait.max_wait`: `10m` is more than 300 s"),
        ("", {"FAULTWISE_BUDGET__RATIO": "2"}, "FW061 `budget.ratio`: `2` is not a number from 0 to 1"),
        ("", {"FAULTWISE_WAIT__MAX_ATTEMPTS": "11"}, "FW061 `wait.max_attempts`"),
        ("workers: 2\n", {}, "FW069 `memory://` cannot be shared by 2 workers"),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_place(
    tmp_path: Path, text: str, environ: dict[str, str], expected: str
) -> None:
    (found,) = problems(tmp_path, text, environ)
    assert expected in found


def test_state_is_kept_where_nothing_is_said(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text("faultwise: 1\nkind: gateway\n")
    assert settings(file, environ={}).value("state") == "sqlite:///faultwise.db"

"""Quota windows that answers tell of: what leaves a connection alone before it refuses, and what operators see of it."""

from __future__ import annotations

import json
from pathlib import Path

from faultwise.server.settings import settings
from tests.faults.upstream import Answer, Upstream, error, ok

from .gateway import config, gateway


def telling(answer: Answer, left: int, reset: str = "60s") -> Answer:
    told = {"x-ratelimit-limit-requests": "100", "x-ratelimit-remaining-requests": str(left)}
    told["x-ratelimit-reset-requests"] = reset
    return Answer(answer.status, answer.body, {**answer.headers, **told})


def test_a_connection_is_left_alone_while_less_than_its_cut_off_is_left(tmp_path: Path) -> None:
    with Upstream(telling(ok("from a"), 5), telling(ok("from a"), 4)) as a, Upstream(ok("from b")) as b:
        rows = [{"id": "a", "base_url": a.url, "quota_cutoff": "5%"}, {"id": "b", "base_url": b.url}]
        with gateway(tmp_path, config(rows)) as made:
            assert ["from a" in made.chat().text for _ in range(4)] == [True, True, False, False]
            made.clock.ahead += 61
            assert "from a" in made.chat().text
        assert (len(a.requests), len(b.requests)) == (3, 2)


def test_without_a_cut_off_it_is_asked_to_the_end(tmp_path: Path) -> None:
    with (
        Upstream(telling(ok("from a"), 0)) as a,
        gateway(tmp_path, config([{"id": "a", "base_url": a.url}])) as made,
    ):
        assert [made.chat().status_code for _ in range(3)] == [200] * 3


def test_when_all_are_cut_off_the_client_hears_of_a_quota_and_of_its_end(tmp_path: Path) -> None:
    with Upstream(telling(ok(), 1, "90s")) as a, Upstream(telling(ok(), 2, "30s")) as b:
        rows = [{"id": name, "base_url": one.url, "quota_cutoff": 0.5} for name, one in (("a", a), ("b", b))]
        with gateway(tmp_path, config(rows)) as made:
            assert [made.chat().status_code for _ in range(2)] == [200, 200]
            refused = made.chat()
            assert (refused.status_code, refused.headers["x-faultwise-reason"]) == (429, "quota_exhausted")
            assert 28 <= int(refused.headers["retry-after"]) <= 30
            excluded = refused.json()["diagnostics"]["excluded"]
            assert [one["reason"] for one in excluded] == ["quota_cutoff", "quota_cutoff"]
            assert 85 < excluded[0]["seconds"] <= 90
            assert not list(made.cell.locks)
            targets = [{"connection": "a", "model": "m"}, {"connection": "a", "model": "other"}]
            gate = made.client.post("/api/gate", json={"targets": targets}).json()["targets"]
            assert [one["reason"] for one in gate] == ["quota_cutoff", None]


def test_refusals_tell_of_quotas_too_and_direct_requests_mind_them(tmp_path: Path) -> None:
    with (
        Upstream(telling(error(400, "no such field"), 1)) as a,
        gateway(tmp_path, config([{"id": "a", "base_url": a.url, "quota_cutoff": "10%"}])) as made,
    ):
        assert made.chat("a/m").status_code == 400
        assert made.chat("a/m").status_code == 429
        assert made.chat("a/other").status_code == 400


def test_a_window_that_does_not_say_when_it_ends_leaves_nobody_out(tmp_path: Path) -> None:
    with (
        Upstream(telling(ok(), 0, "soon")) as a,
        gateway(tmp_path, config([{"id": "a", "base_url": a.url, "quota_cutoff": "5%"}])) as made,
    ):
        assert [made.chat().status_code for _ in range(3)] == [200] * 3


def test_a_lock_is_named_before_the_cut_off(tmp_path: Path) -> None:
    with (
        Upstream(telling(ok(), 0)) as a,
        gateway(tmp_path, config([{"id": "a", "base_url": a.url, "quota_cutoff": "5%"}])) as made,
    ):
        made.chat()
        made.client.post("/api/resilience/lock", json={"connection": "a"})
        (excluded,) = made.chat().json()["diagnostics"]["excluded"]
        assert excluded["reason"] == "connection_cooldown"


def test_operators_see_what_is_left_and_nobody_else(tmp_path: Path) -> None:
    with Upstream(telling(ok(), 4)) as a:
        row = {"id": "a", "base_url": a.url, "quota_cutoff": "5%"}
        with gateway(tmp_path, config([row]), token="t0ken") as made:
            made.chat()
            assert made.client.get("/api/monitoring/health").status_code == 401
            shown = made.client.get("/api/monitoring/health", headers={"authorization": "Bearer t0ken"}).json()
            (quota,) = shown["quotas"]
            (window,) = quota["windows"]
            assert (quota["connection"], quota["provider"], quota["model"]) == ("a", "acme", "m")
            assert (window["name"], window["left"]) == ("requests", 0.04)
            assert quota["cut_off_until"] == window["resets_at"] > quota["at"]


def test_what_was_heard_outlives_a_reload_but_not_another_credential(tmp_path: Path) -> None:
    with Upstream(telling(ok(), 1)) as a:
        row = {"id": "a", "base_url": a.url, "quota_cutoff": "5%"}
        with gateway(tmp_path, config([row])) as made:
            made.chat()
            made.cell.take(made.cell.active.policy, made.cell.active.settings, "again")
            assert made.chat().status_code == 429
            made.file.write_text(config([{**row, "secret": "another"}]))
            changed = settings(made.file, environ={})
            made.cell.take(made.cell.active.policy, changed, "another")
            assert made.chat().status_code == 200


def test_a_cut_off_that_is_no_share_is_refused_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    for wrong in ("100%", 0, 1, "some", "${X}"):
        file.write_text(config([{"id": "a", "base_url": "http://x", "quota_cutoff": wrong}]))
        try:
            settings(file, environ={"X": "most"})
        except Exception as error:
            assert "gateway.yaml:" in str(error), wrong
        else:
            raise AssertionError(json.dumps(wrong))

"""What `/metrics` counts, and that nobody from outside can make it grow."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from faultwise.server.metrics import BUCKETS, FAMILIES, Metrics
from tests.faults.upstream import Answer, Pause, Upstream, error, ok, sse

from .gateway import Gateway, config, gateway, until

QUOTA = error(403, "用户额度不足")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def served(tmp_path: Path, a: Upstream) -> Iterator[Gateway]:
    """`coding`: a relay that fails as it is told, then one that is well."""
    with Upstream(ok()) as b:
        rows = [
            {"id": "relay", "provider": "agentrouter", "base_url": a.url},
            {"id": "main", "provider": "openai", "base_url": b.url},
        ]
        with gateway(tmp_path, config(rows)) as made:
            yield made


def scraped(served: Gateway) -> dict[str, float]:
    """Every sample, as `name{label="value"}`."""
    found = {}
    for family in text_string_to_metric_families(served.client.get("/metrics").text):
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found


def test_a_misstated_quota_is_counted_everywhere_it_counts(served: Gateway, a: Upstream) -> None:
    a.script(QUOTA)
    served.chat()
    served.chat()
    until(lambda: scraped(served)["faultwise_decision_log_waiting{}"] == 0)
    found = scraped(served)
    for sample, value in {
        'faultwise_requests_total{endpoint="chat",reason="ok",status="200"}': 2,
        'faultwise_attempts_total{model="m",provider="agentrouter",result="failed"}': 1,
        'faultwise_attempts_total{model="m",provider="openai",result="ok"}': 2,
        'faultwise_verdicts_total{provider="agentrouter",reason="quota_exhausted",scope="connection"}': 1,
        'faultwise_rule_hits_total{rule="quota-exhausted"}': 1,
        'faultwise_rule_hits_total{rule="quota-misstated"}': 1,
        'faultwise_restatements_total{from="403",rule="quota-misstated",to="429"}': 1,
        'faultwise_locks{scope="connection"}': 1,
        'faultwise_locks{scope="model"}': 0,
        "faultwise_policy_generation{}": 1,
        "faultwise_policy_refused{}": 0,
        "faultwise_policy_reload_failures_total{}": 0,
        "faultwise_decision_log_drops_total{}": 0,
        "faultwise_added_latency_seconds_count{}": 2,
    }.items():
        assert found[sample] == value, sample
    assert any(name.startswith('faultwise_policy_info{digest="sha256:') for name in found)


def test_requests_that_are_refused_and_streams_that_break_are_counted(served: Gateway, a: Upstream) -> None:
    served.chat("nobody")
    a.script(sse({"choices": [{"delta": {"content": "x"}}]}))
    served.chat(stream=True)
    found = scraped(served)
    assert found['faultwise_requests_total{endpoint="chat",reason="model_not_found",status="404"}'] == 1
    assert found['faultwise_requests_total{endpoint="chat",reason="network_error",status="200"}'] == 1


def test_a_change_that_is_refused_is_counted_and_shown(served: Gateway) -> None:
    served.file.write_text("faultwise: 2")
    assert served.client.post("/api/policy/reload").status_code == 422
    found = scraped(served)
    assert (found["faultwise_policy_refused{}"], found["faultwise_policy_reload_failures_total{}"]) == (1, 1)


def test_what_is_under_way_is_counted_until_it_is_over(tmp_path: Path, a: Upstream) -> None:
    slow = Pause()
    a.script(Answer(200, ok().body, before=[slow]), ok())
    rows = [{"id": "relay", "provider": "agentrouter", "base_url": a.url, "max_concurrent": 1}]
    with gateway(tmp_path, config(rows, queue={"slot_wait": "60s"})) as made:
        asked = [threading.Thread(target=made.chat) for _ in range(2)]
        for one in asked:
            one.start()
        until(lambda: scraped(made)['faultwise_slots_waiting{provider="agentrouter"}'] == 1)
        found = scraped(made)
        assert found["faultwise_requests_under_way{}"] == 2
        assert found['faultwise_attempts_under_way{model="m",provider="agentrouter"}'] == 1
        assert found['faultwise_slots_taken{provider="agentrouter"}'] == 1
        slow.release()
        for one in asked:
            one.join()
        until(lambda: not any(value for name, value in scraped(made).items() if "under_way" in name or "slots" in name))


def test_the_time_an_upstream_takes_is_not_added_latency(served: Gateway, a: Upstream) -> None:
    a.script(Answer(before=[]), ok())
    served.chat()
    assert scraped(served)["faultwise_added_latency_seconds_sum{}"] < 5


def test_models_that_no_configuration_names_share_one_label(served: Gateway) -> None:
    for number in range(20):
        served.chat(f"main/model-{number}")
    models = {re.findall('model="([^"]*)"', name)[0] for name in scraped(served) if "attempts_total" in name}
    assert models == {"other"}


def test_metrics_are_for_the_admin_token(tmp_path: Path, a: Upstream) -> None:
    with gateway(tmp_path, config([{"id": "x", "base_url": a.url}]), token="t0ken") as made:
        for path in ("/metrics", "/api/decisions", "/api/policy/rules"):
            assert made.client.get(path).status_code == 401
            assert made.client.get(path, headers={"authorization": "Bearer t0ken"}).status_code == 200


def test_openmetrics_is_spoken_where_it_is_asked_for(served: Gateway) -> None:
    answer = served.client.get("/metrics", headers={"accept": "application/openmetrics-text; version=1.0.0"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


def test_every_metric_is_documented() -> None:
    page = (DOCS / "operations.md").read_text(encoding="utf-8")
    for name, family in FAMILIES.items():
        shown = name + {"counter": "_total", "info": "_info"}.get(family.kind, "")
        row = next((line for line in page.splitlines() if line.startswith(f"| `{shown}` ")), "")
        assert row, f"{shown} is not in docs/operations.md"
        assert all(f"`{label}`" in row for label in family.labels), row


def test_the_histogram_adds_up() -> None:
    metrics = Metrics()
    for seconds in (0.0, BUCKETS[0], 0.003, 99.0):
        metrics.took(seconds)
    (family,) = [one for one in metrics.collect() if one.name == "faultwise_added_latency_seconds"]
    counts = {sample.labels.get("le", sample.name[-5:]): sample.value for sample in family.samples}
    assert (counts["0.0005"], counts["0.005"], counts["+Inf"]) == (2, 3, 4)


def test_counting_a_healthy_request_costs_microseconds() -> None:
    metrics = Metrics()
    best = 1.0
    for _ in range(50):
        begun = time.perf_counter()
        for _ in range(100):
            metrics.took(0.001)
            metrics.attempt("openai", "m", "ok")
            metrics.request("chat", 200, "ok")
        best = min(best, (time.perf_counter() - begun) / 100)
    assert best < 20e-6  # about one; the best of many rounds, so that a busy machine does not matter

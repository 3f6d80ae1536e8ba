"""What the workers of one server do together: reloads, metrics, the bounds of connections and keys."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import httpx

from tests.faults.upstream import Answer, Pause, Upstream, ok

from .gateway import config
from .test_workers import served, serving, until_slowly


def all_serve(lines: Path, count: int) -> set[int]:
    """Wait until so many workers have begun to serve; which."""
    until_slowly(lambda: len(serving(lines)) == count)
    return set(serving(lines))


def metrics(url: str, accept: str = "text/plain") -> str:
    return httpx.get(f"{url}/metrics", headers={"accept": accept}, timeout=20, trust_env=False).text


def test_a_reload_reaches_every_worker_and_each_says_what_it_made_of_it(tmp_path: Path) -> None:
    with Upstream(ok()) as upstream:
        text = config([{"id": "relay", "base_url": upstream.url}], state="sqlite:///state.db")
        with served(tmp_path, text, "--workers", "3") as (url, lines, _):
            workers = all_serve(lines, 3)

            def reload() -> httpx.Response:
                return httpx.post(f"{url}/api/policy/reload", timeout=30, trust_env=False)

            until_slowly(lambda: {one["worker"] for one in reload().json()["acks"]} == workers)
            (tmp_path / "gateway.yaml").write_text(text + " ")
            answer = reload()
            assert (answer.status_code, answer.json()["nacks"]) == (200, [])
            assert {one["worker"] for one in answer.json()["acks"]} == workers
            assert {one["fingerprint"] for one in answer.json()["acks"]} == {answer.json()["fingerprint"]}
            (tmp_path / "gateway.yaml").write_text("nonsense")
            answer = reload()
            assert (answer.status_code, answer.json()["acks"]) == (422, [])
            assert {one["worker"] for one in answer.json()["nacks"]} == workers
            assert all(one["problems"] for one in answer.json()["nacks"])
            (tmp_path / "gateway.yaml").write_text(text)
            until_slowly(lambda: len(reload().json()["acks"]) == 3)
            os.kill(min(workers), signal.SIGKILL)  # its socket is left behind
            others = all_serve(lines, 4) - {min(workers)}
            assert {one["worker"] for one in reload().json()["acks"]} == others


def test_the_metrics_are_those_of_all_workers(tmp_path: Path) -> None:
    with Upstream(ok()) as upstream:
        text = config([{"id": "relay", "base_url": upstream.url}], state="sqlite:///state.db")
        with served(tmp_path, text, "--workers", "2") as (url, lines, _):
            all_serve(lines, 2)
            for _ in range(20):
                asked = {"model": "coding", "messages": []}
                assert httpx.post(f"{url}/v1/chat/completions", json=asked, timeout=20, trust_env=False).is_success
            for accept in ("text/plain", "application/openmetrics-text; version=1.0.0"):
                told = metrics(url, accept)
                assert 'faultwise_requests_total{endpoint="chat",reason="ok",status="200"} 20.0' in told
                assert "faultwise_policy_generation 1.0" in told
                assert told.count("# TYPE faultwise_added_latency_seconds histogram") == 1
                assert "faultwise_added_latency_seconds_count 20.0" in told


def test_the_bounds_of_connections_and_keys_are_kept_by_all_workers_together(tmp_path: Path) -> None:
    pause = Pause()
    good = ok()
    slow = Answer(good.status, good.body, good.headers, before=[pause])
    keys = [{"id": "k", "hash": f"sha256:{sha256(b'key').hexdigest()}", "rpm": 12}]
    rows = [{"id": "fast", "base_url": "", "rpm": 5}, {"id": "slow", "base_url": "", "max_concurrent": 1}]
    with Upstream(slow) as upstream, ThreadPoolExecutor(8) as pool:
        for row in rows:
            row["base_url"] = upstream.url
        combos = {row["id"]: [{"connection": row["id"], "model": "m"}] for row in rows}
        queue = {"max_wait": "1ms", "slot_wait": "20s", "max_queue_depth": 100}
        text = config(rows, combos, state="sqlite:///state.db", queue=queue, keys=keys)
        with served(tmp_path, text, "--workers", "3") as (url, lines, _):
            all_serve(lines, 3)

            def chat(model: str) -> tuple[int, str]:
                asked, headers = {"model": model, "messages": []}, {"authorization": "Bearer key"}
                answer = httpx.post(
                    f"{url}/v1/chat/completions", json=asked, headers=headers, timeout=60, trust_env=False
                )
                return answer.status_code, answer.json().get("error", {}).get("code", "")

            running = [pool.submit(chat, "slow") for _ in range(4)]
            assert pause.reached.wait(20)
            upstream.script(good)
            until_slowly(lambda: 'faultwise_slots_waiting{provider="acme"} 3.0' in metrics(url))
            assert 'faultwise_slots_taken{provider="acme"} 1.0' in metrics(url)
            assert len(upstream.requests) == 1
            pause.release()
            assert [one.result() for one in running] == [(200, "")] * 4
            fast = [chat("fast") for _ in range(9)]
            assert [status for status, _ in fast] == [200] * 5 + [503] * 3 + [429]
            assert fast[-1][1] == "RATE_LIMIT_KEY"

"""What the loop of a request leaves to threads."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from faultwise.server.proxy import relay
from tests.faults.upstream import Upstream, error
from tests.server.gateway import config, gateway


def test_an_upstreams_words_are_compared_with_a_long_prompt_beside_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_loop = []
    redacted = relay.redacted

    def seen(*given: object) -> str:
        try:
            asyncio.get_running_loop()
            on_loop.append(True)
        except RuntimeError:
            on_loop.append(False)
        return redacted(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(relay, "redacted", seen)
    prompt = "tell me all about the harbours of the north " * 1000
    with (
        Upstream(error(429, f"you sent: {prompt[:100]}", {"retry-after": "9"})) as a,
        gateway(tmp_path, config([{"id": "a", "base_url": a.url}])) as made,
    ):
        assert made.chat(messages=[{"role": "user", "content": prompt}]).status_code == 429
        (lock,) = made.cell.locks
        assert "[echo]" in lock.error and "harbours" not in lock.error
        made.client.post("/api/resilience/reset", json={"all": True})
        assert made.chat().status_code == 429
        assert on_loop == [False, True]

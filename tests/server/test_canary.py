"""A credential and a prompt that an upstream quotes in every way it can, searched for wherever we tell of anything."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from tests.faults.upstream import CLOSE, RESET, Answer, Upstream, delta, ok, sse

from .gateway import Gateway, config, gateway, until

UPSTREAM_KEY = "canary-upstream/credential"
CLIENT_KEY = "canary-client-credential"
PROMPT = 'The canary "sings" at nine,\nbehind the old mill in Zürich: 金丝雀在老磨坊后面唱歌直到天亮为止不停'
CANARIES = ("canary-upstream", "canary-client", "behind the old mill", "金丝雀在老磨坊后面")
QUOTES = f"refused {UPSTREAM_KEY} for {CLIENT_KEY}: {PROMPT}"


def bodies() -> dict[str, bytes]:
    """The same quotation, in every form a body can have."""
    plain = {"error": {"message": QUOTES, "type": "x", "code": UPSTREAM_KEY, "param": PROMPT}}
    deep = {"error": {"message": json.dumps({"error": {"message": QUOTES}})}}
    whole = {
        "error": {"message": "no", "request": {"messages": [{"role": "user", "content": PROMPT}]}, "key": CLIENT_KEY}
    }
    hidden = "".join(f"\\u{ord(one):04x}" for one in UPSTREAM_KEY)
    return {
        "json": json.dumps(plain, ensure_ascii=False).encode(),
        "escaped": json.dumps(plain).encode(),
        "hidden": f'{{"error": {{"message": "{hidden}"}}}}'.encode(),
        "json in json": json.dumps(deep).encode(),
        "the whole request": json.dumps(whole).encode(),
        "gbk": json.dumps(plain, ensure_ascii=False).replace("ü", "u").encode("gbk"),
        "text": QUOTES.encode(),
        "page": f"<html><head><title>{QUOTES}</title></head><body>{QUOTES}</body></html>".encode(),
    }


HEADERS = {"x-ratelimit-reason": f"{UPSTREAM_KEY} {CLIENT_KEY}", "server": CLIENT_KEY, "x-request-id": UPSTREAM_KEY}
FAULTS = {
    **{
        f"{status} {form}": Answer(status, body, {"content-type": "text/html" if form == "page" else "application/json", **HEADERS})
        for form, body in bodies().items()
        for status in (401, 500)
    },
    "in a 200": Answer(200, bodies()["json"]),
    "first event": sse(json.loads(bodies()["json"])),
    "later event": sse(delta("hi"), json.loads(bodies()["escaped"])),
    "cut": Answer(body=[bodies()["json"][:200], RESET]),
    "closed": sse(delta(""), json.dumps(QUOTES).encode(), CLOSE),
}  # fmt: skip


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream(ok()) as made:
        yield made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, upstream: Upstream) -> Iterator[Gateway]:
    """A connection and a combo of its own for each fault."""
    row = {"base_url": upstream.url, "secret": UPSTREAM_KEY}
    rows = [{"id": f"c{number}", "provider": f"p{number}", **row} for number in range(len(FAULTS))]
    combos = {f"m{number}": [{"connection": f"c{number}", "model": "m"}] for number in range(len(FAULTS))}
    with gateway(tmp_path_factory.mktemp("canary"), config(rows, combos, log={"file": "log.jsonl"})) as made:
        yield made


@pytest.mark.parametrize(("number", "fault"), list(enumerate(FAULTS)), ids=list(FAULTS))
def test_neither_gets_out(
    served: Gateway, upstream: Upstream, number: int, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="faultwise")
    upstream.script(FAULTS[fault])
    answer = served.client.post(
        "/v1/chat/completions",
        json={"model": f"m{number}", "stream": "event" in fault, "messages": [{"role": "user", "content": PROMPT}]},
        headers={"authorization": f"Bearer {CLIENT_KEY}"},
    )
    until(lambda: len(served.client.get(f"/api/decisions?connection=c{number}").json()) == 1)
    (row,) = served.client.get(f"/api/decisions?connection=c{number}").json()
    told = {
        "the log lines": caplog.text,
        "the decision log": json.dumps(row, ensure_ascii=False),
        "what no rule knows": str(served.client.get("/api/decisions?unmatched=1").json()),
        "the explanation": str(served.client.post("/api/explain", json=row).json()),
        "metrics": served.client.get("/metrics").text,
        "health": served.client.get("/api/monitoring/health").text,
        "lockouts": served.client.get("/api/resilience/model-cooldowns").text,
        "the policy": served.client.get("/api/policy").text,
        "the answer's headers": "\n".join(f"{name}: {value}" for name, value in answer.headers.items()),
    }
    for where, text in told.items():
        assert [canary for canary in CANARIES if canary in text] == [], where
    # the client may read its own words again, the upstream's credential never
    spoken = answer.text + json.dumps([json.loads(part.removeprefix("data: ")) for part in answer.text.split("\n\n") if part.startswith("data: {")], ensure_ascii=False)  # fmt: skip
    assert "canary-upstream" not in spoken


def test_the_file_on_disk_has_neither(served: Gateway) -> None:
    text = (served.file.parent / "log.jsonl").read_text(encoding="utf-8")
    assert len(text.splitlines()) >= len(FAULTS)
    assert [canary for canary in CANARIES if canary in text] == []
    assert "[key]" in text and "[echo]" in text

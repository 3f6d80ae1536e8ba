"""Matching: rules against text, next to what one would write by hand for one provider."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator

from faultwise.engine.failure.reading import Reading, read
from faultwise.engine.failure.record import Failure, Headers
from faultwise.engine.policy.load import load
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import SourceFile, Sources, collect
from faultwise.engine.verdict.decide import conclude

WORDS = (
    "quota limit exceeded balance account request token model window daily weekly monthly usage upstream channel "
    "provider temporary capacity overloaded insufficient credit key expired invalid denied suspended region timeout "
    "retry later reset plan tier project organization deployment endpoint"
).split()
FILLER = (
    "the service answered while handling your call and the details below describe what happened in the last step of it"
).split()

PER_FILE = 1_000

Row = tuple[str, Callable[[], object], Callable[[], object], str]


def rows() -> Iterator[Row]:
    """Each row: what, ours, the yardstick, the target."""
    one = {count: made(count, 1) for count in (1_000, 10_000)}
    spread = made(1_000, 100)
    for size, target in ((200, "<= 5"), (4_096, "<= 4")):
        failure = plain(size)
        yield f"match, 1,000 rules on one provider, {size} B", matcher(one[1_000], failure), hand(failure), target
    for size, target in ((200, "<= 3"), (4_096, "<= 1.5")):
        failure = plain(size)
        yield f"match, 1,000 rules over 100 providers, {size} B", matcher(spread, failure), hand(failure), target
    failure = plain(4_096)
    ten, thousand = matcher(one[10_000], failure), matcher(one[1_000], failure)
    yield "match, 10,000 rules against 1,000, 4,096 B", ten, thousand, "<= 2"
    shipped = load(collect())
    quota = Failure(
        provider="agentrouter",
        status=403,
        headers=Headers({"content-type": "application/json"}),
        body=json.dumps({"error": {"message": "用户额度不足", "type": "new_api_error"}}).encode(),
    )
    yield "pipeline, shipped catalogue", lambda: conclude(shipped, quota), lambda: by_hand(quota), "<= 5"


def made(count: int, providers: int) -> Policy:
    """A policy of made-up rules: one to three two-word markers each, all for status 429."""
    draw = random.Random(7)
    files = []
    each = count // providers
    for number, first in ((number, first) for number in range(providers) for first in range(0, each, PER_FILE)):
        lines = ["faultwise: 1", "kind: provider", f"provider: p{number}", "rules:"]
        for rule in range(first, min(first + PER_FILE, each)):
            markers = [
                f"{draw.choice(WORDS)} {draw.choice(WORDS)} {draw.randrange(900)}" for _ in range(draw.randint(1, 3))
            ]
            lines.append(
                f"  - {{id: r{number}-{rule}, status: [429], any: {json.dumps(markers)}, reason: quota_exhausted}}"
            )
        files.append(SourceFile(f"p{number}-{first}.yaml", "\n".join(lines).encode(), 1))
    return load(Sources((*collect().files, *files)))


def plain(size: int) -> Failure:
    """A realistic body: prose that no rule matches."""
    draw = random.Random(size)
    text = ""
    while len(text) < size:
        text += draw.choice(FILLER) + " "
    return Failure(provider="p0", status=429, body=json.dumps({"error": {"message": text[:size]}}).encode())


def matcher(policy: Policy, failure: Failure) -> Callable[[], object]:
    """One match over a record that was decoded and taken apart; its text is folded each time, as it is by hand."""
    base = read(failure, policy.envelopes, policy.provider("p0"))
    assert base.message and base.key == 429 and base.inner_status is None and base.stated is None
    bucket = policy.rules(policy.provider("p0"), 429)

    def match() -> object:
        reading = Reading.__new__(Reading)
        reading.__dict__.update(base.__dict__)
        return bucket.first(reading)

    return match


def hand(failure: Failure) -> Callable[[], object]:
    """What people write: lower the text, look for eight markers."""
    text = json.loads(failure.body)["error"]["message"]
    markers = [f"{one} {other}" for one, other in zip(WORDS[:8], WORDS[8:16], strict=True)]

    def match() -> object:
        lowered = text.lower()
        return [marker for marker in markers if marker in lowered]

    return match


def by_hand(failure: Failure) -> dict[str, object]:
    """A hand-written function for one provider that fills the same fields."""
    status = failure.status
    body = json.loads(failure.body)
    error = body.get("error") or {}
    message, kind = error.get("message", ""), error.get("type")
    wait = failure.headers.get("retry-after")
    retry_after = float(wait) if wait and wait.isdigit() else None
    reason, scope, temporary = "auth_error", "connection", False
    if status in (400, 403) and "额度不足" in message and "无权访问" not in message:
        status, reason, temporary = 429, "quota_exhausted", True
        retry_after = retry_after or 60.0
    return {
        "provider": failure.provider,
        "status": status,
        "upstream_status": failure.status,
        "reason": reason,
        "type": kind,
        "scope": scope,
        "temporary": temporary,
        "cooldown_s": retry_after,
        "retry_after_s": retry_after,
        "fallback": True,
    }

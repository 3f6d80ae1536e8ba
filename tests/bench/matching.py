"""Matching: rules against text, next to what one would write by hand for one provider."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator

from by_hand import BY_HAND  # beside this script

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
GENERAL = 50  # one rule in so many is for every provider

Row = tuple[str, Callable[[], object], Callable[[], object], str]


def rows() -> Iterator[Row]:
    """Each row: what, ours, the yardstick, the target."""
    one = {count: load(made(count, 1)) for count in (1_000, 10_000)}
    spread = load(made(1_000, 100))
    for size, target in ((200, "<= 5"), (4_096, "<= 4")):
        failure = plain(size)
        yield f"match, 1,000 rules on one provider, {size:,} B", matcher(one[1_000], failure), hand(failure), target
    for size, target in ((200, "<= 3"), (4_096, "<= 1.5")):
        failure = plain(size)
        yield f"match, 1,000 rules over 100 providers, {size:,} B", matcher(spread, failure), hand(failure), target
    failure = plain(4_096)
    ten, thousand = matcher(one[10_000], failure), matcher(one[1_000], failure)
    yield "match, 10,000 rules against 1,000, 4,096 B", ten, thousand, "<= 2"
    shipped = load(collect())
    for size in (200, 4_096):
        failure = plain(size)
        yield f"match, shipped catalogue, no rule fits, {size:,} B", matcher(shipped, failure), hand(failure), ""
    for name, failure in failures().items():
        ours, yardstick = concluder(shipped, failure), concluder_by_hand(shipped, failure)
        yield f"pipeline, shipped catalogue, {name}", ours, yardstick, "<= 5"


def pathological() -> Iterator[Row]:
    """Bodies made to be slow, next to plain ones of their size. None may take 50 ms."""
    shipped = load(collect())
    for name, body in bodies().items():
        ours = concluder(shipped, Failure(provider="openai", status=429, body=body))
        yardstick = concluder(shipped, plain(len(body)))
        yield f"pathological body, {name}", ours, yardstick, "< 50 ms"


def made(count: int, providers: int) -> Sources:
    """Made-up rules in files: one to three two-word markers each, for status 429, a few for every provider."""
    draw = random.Random(7)
    heads = {f"p{number}": f"kind: provider\nprovider: p{number}" for number in range(providers)}
    written: dict[str, list[str]] = {name: [] for name in (*heads, "general")}
    for number in range(count):
        markers = [
            f"{draw.choice(WORDS)} {draw.choice(WORDS)} {draw.randrange(900)}" for _ in range(draw.randint(1, 3))
        ]
        place = "general" if providers > 1 and number % GENERAL == 1 else f"p{number % providers}"
        rule = f"  - {{id: r{number}, status: [429], any: {json.dumps(markers)}, reason: quota_exhausted}}"
        written[place].append(rule)
    files = [file for file in collect().files if file.name == "rules/policy.yaml"]
    for name, rules in written.items():
        head = heads.get(name, "kind: rules")
        for first in range(0, len(rules), PER_FILE):
            lines = ["faultwise: 1", head, "rules:", *rules[first : first + PER_FILE]]
            files.append(SourceFile(f"{name}-{first}.yaml", "\n".join(lines).encode(), 1))
    return Sources(tuple(files))


def plain(size: int) -> Failure:
    """A realistic body: prose that no rule matches."""
    draw = random.Random(size)
    text = ""
    while len(text) < size:
        text += draw.choice(FILLER) + " "
    return Failure(provider="p0", status=429, body=json.dumps({"error": {"message": text[:size]}}).encode())


def failures() -> dict[str, Failure]:
    """Failures of the kinds that come every day."""

    def sent(provider: str, status: int, body: object, **headers: str) -> Failure:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        pairs = {
            "content-type": "application/json",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        return Failure(provider=provider, now=1.7e9, status=status, headers=Headers(pairs), body=raw)

    rate = "Rate limit reached for requests per min. Limit 500, used 500. Please try again in 8.64s."
    limits = {
        f"x_ratelimit_{what}_{of}": value
        for of in ("requests", "tokens")
        for what, value in (("limit", "500"), ("remaining", "0"), ("reset", "8.64s"))
    }
    return {
        "quota as 403": sent("agentrouter", 403, {"error": {"message": "用户额度不足", "type": "new_api_error"}}),
        "rate limit with headers": sent(
            "openai", 429, {"error": {"message": rate, "type": "requests", "code": "rate_limit_exceeded"}}, **limits
        ),
        "overload": sent(
            "anthropic", 529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        ),
        "error in a 200": sent(
            "siliconflow", 200, {"code": 50505, "message": "Model service overloaded.", "data": None}
        ),
        "page of a CDN": sent(
            "openai",
            502,
            b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1>"
            b"</center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n",
            content_type="text/html",
        ),
    }


def bodies() -> dict[str, bytes]:
    """Bodies whose size, shape or words make readers slow."""
    kib = 1024
    return {
        "64 KiB of prose": plain(64 * kib).body,
        "1 MiB of prose": plain(kib * kib).body,
        "deep JSON": b'{"error":' * 5_000 + b"1" + b"}" * 5_000,
        "deep lists": b"[" * 30_000,
        "10,000 keys": json.dumps({f"key_{number}": "x" for number in range(10_000)}).encode(),
        "10,000 errors": json.dumps({"errors": [{"message": f"m{number}"} for number in range(10_000)]}).encode(),
        "JSON in JSON": json.dumps({"error": {"message": nested(8)}}).encode(),
        "braces": json.dumps({"error": {"message": "{" * 60_000}}).encode(),
        "waits without end": json.dumps({"error": {"message": "try again in " * 5_000}}).encode(),
        "figures": json.dumps({"error": {"message": "retry after 1" * 5_000}}).encode(),
        "tags": b"<html>" + b"<a " * 20_000,
        "events": b'data: {"a":1}\n\n' * 4_000,
        "white space": b'{"error": {"message": "' + b"a \\t" * 15_000 + b'"}}',
    }


def nested(depth: int) -> str:
    """An error inside the message of an error, and so on."""
    text = "the end"
    for _ in range(depth):
        text = json.dumps({"error": {"message": text}})
    return text


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


def concluder(policy: Policy, failure: Failure) -> Callable[[], object]:
    """The whole pipeline."""
    return lambda: conclude(policy, failure)


def concluder_by_hand(policy: Policy, failure: Failure) -> Callable[[], object]:
    """The same by hand, for this one provider. It must come to the same."""
    by_hand = BY_HAND[failure.provider]
    verdict = conclude(policy, failure).verdict.to_json()
    for name, value in by_hand(failure).items():
        assert verdict[name] == value, f"{failure.provider}: `{name}` is {verdict[name]}, by hand {value}"
    return lambda: by_hand(failure)

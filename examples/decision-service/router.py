"""A router of your own that asks what a failure is before it decides what to do. Standard library only."""

import json
import os
from urllib.request import Request, urlopen

URL = os.environ.get("FAULTWISE_URL", "http://127.0.0.1:4290") + "/api/classify"


def classify(**failure: object) -> dict:
    """The verdict on what an upstream answered."""
    request = Request(URL, json.dumps(failure).encode(), {"content-type": "application/json"})
    with urlopen(request, timeout=5) as answer:
        return json.load(answer)


verdict = classify(
    provider="agentrouter", connection="relay-a", status=403, body={"error": {"message": "用户额度不足"}}
)
if verdict["fallback"]:
    print(f"close {verdict['lock_key']} for {verdict['cooldown_s']:g} s, then try the next target")
else:
    print(f"answer {verdict['status']}")

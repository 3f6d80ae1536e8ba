"""The classifier as a library: load the rules once, decide any number of failures."""

from faultwise.engine.failure.intake import intake
from faultwise.engine.policy.load import load
from faultwise.engine.policy.source import collect
from faultwise.engine.verdict.decide import decide

policy = load(collect())  # or collect(["my-rules"]): those over the shipped ones

answer = {"provider": "agentrouter", "connection": "a", "status": 403, "body": {"error": {"message": "用户额度不足"}}}
verdict = decide(policy, intake(answer, now=1767225600.0))  # `now` is yours to say: seconds since the epoch

if verdict.failed:
    print(verdict.reason, verdict.status, f"{verdict.cooldown_s:g} s", verdict.lock_key)
    print("try another target" if verdict.fallback else "answer the client")

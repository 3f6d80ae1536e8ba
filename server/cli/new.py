"""`faultwise new`: a file to begin with, or a client's key."""

from __future__ import annotations

import argparse
import json
import re
import secrets
import sys
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path

from faultwise.engine.policy.schema import schema
from faultwise.engine.problem import PolicyError

from . import FINDINGS, FINE, USAGE
from .output import report
from .sources import policy, source_arguments

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]*")
KEY_BYTES = 24
SCHEMA = Path(".faultwise") / "provider.schema.json"  # hidden: no rule file, and editors find it

STARTER = """\
# yaml-language-server: $schema={schema}
# What the failures of {name} really mean. Your editor completes and explains every key of this file.
# Everything below is an example: keep what is true of {name}, change the words, delete the rest with its cases.
faultwise: 1
kind: provider
provider: {name}
{extends}auth: api_key                # api_key | oauth | session | local | none
quota_unit: connection       # what a quota counts: model | connection | egress
reset: {{at: "00:00", zone: UTC}}   # when daily quotas refill: what `until reset` means below

# First: which statuses are not to be believed.
restatements:
  - id: {id}-quota-misstated
    why: A quota that refills is sent as 403, as if the key were refused.
    from: [403]
    to: 429
    any: ["daily credit used up"]          # words of the error, in any case and width; one is enough
    none: ["no access to"]                 # a veto: with one of these it is something else
    retry_after: 10m                       # waited, and told to the client, when {name} states nothing itself

# Then: what happened. `status` is the one put right above; the first rule that matches decides.
rules:
  - id: {id}-day-limit
    why: The limit of the day is reached; it is lifted when the day ends there, whatever the answer says.
    status: [429]
    when: code == "daily_limit"            # an expression; a code is surer than words
    reason: quota_exhausted                # what that entails: docs/rules/reasons.md
    cooldown: until reset
  - id: {id}-quota-used-up
    why: The credit of the account is used up and comes back by itself.
    status: [429]
    any: ["daily credit used up"]
    reason: quota_exhausted
  - id: {id}-busy
    why: An error inside a 200, which would pass for an answer. Another target can serve meanwhile.
    status: [200]
    when: code == "server_busy"
    reason: overloaded

# And how you know: of each rule a case that fires, and one that is nearly the same and does not.
cases:
  - name: the day's credit is used up, sent as 403
    status: 403
    body: {{error: {{message: Daily credit used up}}}}
    expect: {{status: 429, reason: quota_exhausted, temporary: true, retry_after: 10m, restated_by: {id}-quota-misstated, rule: {id}-quota-used-up}}
  - name: a model the key may not use is no quota
    status: 403
    body: {{error: {{message: "no access to this model (daily credit used up: no)"}}}}
    expect: {{status: 403, not_rule: [{id}-quota-misstated, {id}-quota-used-up]}}
  - name: any other 403 stays one
    status: 403
    body: {{error: {{message: forbidden}}}}
    expect: {{status: 403, not_rule: {id}-quota-misstated}}
  - name: a limit on the rate is no quota
    status: 429
    body: {{error: {{message: too many requests}}}}
    expect: {{reason: rate_limit_exceeded, not_rule: {id}-quota-used-up}}
  - name: at six in the evening the day's limit is waited for until midnight
    now: 2026-01-01T18:00:00Z
    status: 429
    body: {{error: {{message: Limit reached, code: daily_limit}}}}
    expect: {{reason: quota_exhausted, retry_after: 6h, rule: {id}-day-limit}}
  - name: the limit of a minute is not that of the day
    status: 429
    body: {{error: {{message: Limit reached, code: minute_limit}}}}
    expect: {{reason: rate_limit_exceeded, not_rule: {id}-day-limit}}
  - name: busy, sent as 200
    status: 200
    body: {{error: {{message: Try again later, code: server_busy}}}}
    expect: {{status: 503, upstream_status: 200, reason: overloaded, rule: {id}-busy}}
  - name: another error inside a 200 is not that
    status: 200
    body: {{error: {{message: Try again later, code: unknown_tool}}}}
    expect: {{not_rule: {id}-busy}}
  - name: under any other status the words mean nothing
    status: [200, 404, 500]
    each: [{{message: Daily credit used up}}, {{message: Limit reached, code: daily_limit}}]
    body: {{error: $each}}
    expect: {{not_rule: [{id}-quota-misstated, {id}-quota-used-up, {id}-day-limit]}}
  - name: nor does the code of a busy server
    status: [404, 500]
    body: {{error: {{message: Try again later, code: server_busy}}}}
    expect: {{not_rule: {id}-busy}}
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("what", choices=("provider", "key"), help="a provider's file, or a key for a client")
    parser.add_argument("name", metavar="NAME", help="of a provider as connections write it; of a key its id")
    parser.add_argument("--dir", default=".", metavar="DIR", help="where the file goes (default: here)")
    parser.add_argument("--base", metavar="NAME", help="the provider whose rules it inherits, such as new-api")
    source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Make it and say what comes next; 2 where the file is there already or the name cannot be one."""
    if not NAME.fullmatch(options.name):
        return _refused(f"`{options.name}` is no name: letters, digits and `. _ : / -`")
    if options.what == "key":
        return _key(options.name)
    try:
        known = policy(options).providers if options.base else {}
    except PolicyError as error:
        report(error.problems)
        return FINDINGS
    if options.base and options.base.lower() not in known:
        near = get_close_matches(options.base.lower(), known, 1)
        return _refused(f"unknown base `{options.base}`" + (f", did you mean `{near[0]}`?" if near else ""))
    folder = Path(options.dir)
    id = re.sub(r"[^a-z0-9.]+", "-", options.name.lower()).strip("-")
    path = folder / f"{id}.yaml"
    extends = (
        f"extends: {options.base}".ljust(29) + "# its rules come after those of this file\n" if options.base else ""
    )
    text = STARTER.format(name=options.name, id=id, extends=extends, schema=SCHEMA.as_posix())
    try:
        (folder / SCHEMA.parent).mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
        (folder / SCHEMA).write_text(json.dumps(schema("provider"), indent=2), encoding="utf-8")
    except FileExistsError:
        return _refused(f"{path} is there already")
    except OSError as error:
        return _refused(f"{error.filename}: {error.strerror}")
    print(f"wrote {path}\n\nnext:")
    for line in (
        f"faultwise check --strict {folder}",
        f"faultwise test {folder}",
        f"faultwise classify --rules {folder} --provider {options.name} --status 403 --body 'Daily credit used up'",
    ):
        print(f"  {line}")
    print(f"\nand for the proxy, in gateway.yaml: `rules: [{folder}]`")
    return FINE


def _key(name: str) -> int:
    """Print a fresh key, which is kept nowhere, and the row of `gateway.yaml` that lets it in."""
    key = f"fw-{secrets.token_urlsafe(KEY_BYTES)}"
    print(key)
    print("\nthe client's key, shown once; the gateway keeps its hash, in gateway.yaml:\n", file=sys.stderr)
    print(f"keys:\n  - {{id: {json.dumps(name)}, hash: {hashed(key)}}}", file=sys.stderr)
    return FINE


def hashed(key: str) -> str:
    """A key as gateway files hold it."""
    return f"sha256:{sha256(key.encode()).hexdigest()}"


def _refused(message: str) -> int:
    print(f"faultwise new: {message}", file=sys.stderr)
    return USAGE

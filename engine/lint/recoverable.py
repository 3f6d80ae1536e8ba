"""FW107: a terminal state for something that recovers, or that is narrower or wider than a connection."""

from __future__ import annotations

from collections.abc import Iterator

from faultwise.engine.problem import Problem

from .catalogue import Catalogue

CODE = "FW107"


def check(written: Catalogue) -> Iterator[Problem]:
    """A terminal state is only ever entered at connection scope and for what does not end by itself."""
    for rule in written.rules:
        if rule.restates:
            continue
        reason = written.reason(rule)
        state = rule.data.get("terminal", reason.terminal)
        if state is None or state == "none":
            continue
        scope = rule.data.get("lock", reason.lock)
        key = ("terminal",) if "terminal" in rule.data else ("reason",)
        if written.temporary(rule):
            message = f"`{state}` is never entered: this ends by itself"
            yield rule.warning(key, CODE, message, "write `temporary: false`, or `terminal: none`")
        elif scope != "connection":
            message = f"`{state}` is never entered: the scope is `{scope}`, not the connection"
            yield rule.warning(key, CODE, message, "write `lock: connection`, or `terminal: none`")

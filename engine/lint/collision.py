"""FW104: a marker of a rule about something temporary that also stands in a code of a terminal state."""

from __future__ import annotations

from collections.abc import Iterator

from faultwise.engine.problem import Problem

from .catalogue import Catalogue

CODE = "FW104"


def check(written: Catalogue) -> Iterator[Problem]:
    """Codes are part of the text: such a rule takes a closed or empty account for one that recovers."""
    terminal = {code: state.name for state in written.policy.terminals.values() for code in sorted(state.codes)}
    for rule in written.rules:
        if rule.restates or not written.temporary(rule):
            continue
        vetoes = rule.conditions.vetoes
        for mark in rule.conditions.marks:
            for code, state in terminal.items():
                if mark.folded in code and not any(veto in code for veto in vetoes):
                    message = f"the marker `{mark.folded}` stands in the code `{code}` of `{state}`"
                    hint = f'veto it with `none: ["{code}"]`, or look for something longer'
                    yield rule.at(mark, CODE, message, hint)
                    break

"""A glance at bytes that look like a good answer, so that a healthy request costs no reading.

It never says that something is wrong; it says that nothing needs to be looked at. Text inside JSON strings has its
quotes escaped, so what a model says cannot look like a key.
"""

from __future__ import annotations

import re

from faultwise.engine.failure.envelope import Envelopes

# How the answers of the wires we know begin what they carry.
_ANSWER = re.compile(rb'"(?:choices|candidates|content|output|data|results)" ?: ?\[ ?[{"]|"delta" ?: ?["{]|"embedding"')
_FINISHED = re.compile(rb'"(?:finish_reason|stop_reason|finishReason)"\s*:\s*"|"response\.(?:completed|incomplete)"')


def ordinary(data: bytes, envelopes: Envelopes) -> bool:
    """Whether a document, or the data of an event, is plainly an answer or a part of one: the policy would agree."""
    return bool(_ANSWER.search(data)) and not envelopes.suspicious(data)


def finishes(raw: bytes) -> bool:
    """Whether an event says why the answer ended."""
    return bool(_FINISHED.search(raw))

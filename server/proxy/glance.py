"""A glance at bytes that look like a good answer, so that a healthy request costs no reading.

It never says that something is wrong; it says that nothing needs to be looked at. Text inside JSON strings has its
quotes escaped, so what a model says cannot look like a key.
"""

from __future__ import annotations

import re

# How the answers of the wires we know begin what they carry.
_ANSWER = re.compile(rb'"(?:choices|candidates|content|output|data|results)" ?: ?\[ ?[{"]|"delta" ?: ?["{]|"embedding"')
_TROUBLE = re.compile(
    rb'(?<!\\)"(?:\w+_)?(?:error|fail|exception|err_|base_resp|status_?code|ret_?code)', re.IGNORECASE
)
# A finish or stop reason other than those of an answer that ended as it should.
_ODD_FINISH = re.compile(
    rb'"(?:finish_reason|stop_reason|finishReason)"\s*:\s*"'
    rb'(?!(?:stop|length|tool_calls|function_call|end_turn|max_tokens|tool_use|stop_sequence|pause_turn|STOP|MAX_TOKENS)")'
)
_FINISHED = re.compile(rb'"(?:finish_reason|stop_reason|finishReason)"\s*:\s*"|"response\.(?:completed|incomplete)"')


def ordinary(raw: bytes) -> bool:
    """Whether a document or an event is plainly an answer, or a part of one."""
    return bool(_ANSWER.search(raw)) and not _TROUBLE.search(raw) and not _ODD_FINISH.search(raw)


def finishes(raw: bytes) -> bool:
    """Whether an event says why the answer ended."""
    return bool(_FINISHED.search(raw))

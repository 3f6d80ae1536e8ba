"""The fields of a `multipart/form-data` body and where their values stand in it (RFC 7578)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.message import Message

_NAME = re.compile(rb'(?i)^content-disposition:[^\r\n]*?[;\s]name="([^"\r\n]*)"', re.MULTILINE)
_FILE = re.compile(rb"(?i)^content-disposition:[^\r\n]*?[;\s]filename\*?=", re.MULTILINE)


def boundary(content_type: str) -> bytes | None:
    """The boundary a content type names; None where it is no multipart form."""
    message = Message()
    message["content-type"] = content_type
    if message.get_content_type() != "multipart/form-data":
        return None
    found = message.get_boundary()
    return found.encode("latin-1", "replace") if found else None


def fields(body: bytes, boundary: bytes) -> Iterator[tuple[str, int, int]]:
    """Each field that is not a file: its name and the span of its value."""
    delimiter = b"--" + boundary
    at = body.find(delimiter)
    while at >= 0:
        start = at + len(delimiter)
        after = body.find(b"\r\n" + delimiter, start)
        if after < 0:
            return
        head = body.find(b"\r\n\r\n", start, after)
        if head >= 0:
            named = _NAME.search(body, start, head + 2)
            if named and not _FILE.search(body, start, head + 2):
                yield named[1].decode("utf-8", "replace"), head + 4, after
        at = after + 2

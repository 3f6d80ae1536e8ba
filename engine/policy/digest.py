"""What a policy is called: a digest of what its files say, whatever their formatting, comments and cases."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any


def content_digest(data: Mapping[str, Any]) -> bytes:
    """The digest of what one file says; its cases do not count."""
    content = {key: value for key, value in data.items() if key != "cases"}
    return sha256(json.dumps(content, ensure_ascii=True, sort_keys=False, default=str).encode()).digest()


def digest(files: Iterable[tuple[bool, bytes]]) -> str:
    """`sha256:…` of the files (shipped or not, the digest of the content) in order."""
    total = sha256()
    for shipped, content in files:
        total.update(b"shipped\n" if shipped else b"operator\n")
        total.update(content)
    return f"sha256:{total.hexdigest()}"

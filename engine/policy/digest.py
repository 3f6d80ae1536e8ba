"""What a policy is called: a digest of what its files say, whatever their formatting, comments and cases."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any


def digest(documents: Iterable[tuple[bool, Mapping[str, Any]]]) -> str:
    """`sha256:…` of the documents (shipped or not, content) in order; cases do not count."""
    total = sha256()
    for shipped, data in documents:
        content = {key: value for key, value in data.items() if key != "cases"}
        total.update(b"shipped\n" if shipped else b"operator\n")
        total.update(json.dumps(content, ensure_ascii=True, sort_keys=False, default=str).encode())
        total.update(b"\n")
    return f"sha256:{total.hexdigest()}"

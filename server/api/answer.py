"""JSON answers of the management API."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse


class Json(JSONResponse):
    """JSON in UTF-8, whatever its texts hold: what cannot be encoded, half a surrogate pair, becomes a `?`."""

    def render(self, content: Any) -> bytes:
        """The bytes of the answer."""
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

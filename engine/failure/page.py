"""HTML pages, which proxies, CDNs and captive portals send instead of answers: recognised, and reduced to what is seen."""

from __future__ import annotations

import re
from html import unescape

LONGEST_PAGE = 32 * 1024  # characters that are read
LONGEST_TITLE = 300  # characters

_TAG = re.compile(r"<(?:!--.*?(?:-->|\Z)|(?:[!?]|(/)?([a-zA-Z][a-zA-Z0-9]*))[^>]*(?:>|\Z))", re.DOTALL)
_PAGE = re.compile(r"<(?:!doctype\s{1,8}html|html|head|body)\b[^<>]{0,300}>\s{0,200}<", re.IGNORECASE)
_UNSEEN = frozenset({"script", "style", "template", "svg", "title"})
_INLINE = frozenset(
    {"a", "abbr", "b", "code", "em", "font", "i", "mark", "s", "small", "span", "strong", "sub", "sup", "u", "wbr"}
)


def is_page(text: str, kind: str) -> bool:
    """Whether a body is HTML: by its content type and its first bytes, or by these alone. JSON sent as HTML is not."""
    start = text[:512].lstrip().lower()
    if not start.startswith("<"):
        return False
    if "html" in kind.lower():
        return True
    return "json" not in kind and start.startswith(("<!doctype html", "<html", "<head", "<body"))


def page_at(text: str) -> int:
    """Where an HTML page begins within a text; -1 where there is none."""
    found = _PAGE.search(text) if "<" in text else None
    return found.start() if found else -1


def visible(text: str) -> tuple[str | None, str]:
    """The title and the visible text of an HTML page, white space run together. Linear in the length of the page."""
    text = text[:LONGEST_PAGE]
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter whose lower case is longer would shift every offset
        lowered = text
    title: str | None = None
    seen: list[str] = []
    at = 0
    while tag := _TAG.search(text, at):
        seen.append(text[at : tag.start()])
        at = tag.end()
        ends, name = tag.groups("")
        name = name.lower()
        if name not in _INLINE:
            seen.append(" ")
        if name in _UNSEEN and not ends:
            close = lowered.find("</" + name, at)
            inside = text[at:] if close < 0 else text[at:close]
            at = len(text) if close < 0 else close
            if name == "title" and title is None:
                title = _run_together(inside)[:LONGEST_TITLE]
    seen.append(text[at:])
    return title, _run_together("".join(seen))


def _run_together(text: str) -> str:
    return " ".join(unescape(text).replace("\0", "\ufffd").split())

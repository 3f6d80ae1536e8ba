"""The emergency fallback's request: the client's own, with a bound on how long its answer may be. Pure.

Only what makes text can be answered by another model than was asked for, and only without tools: their calls act.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from .endpoint import action
from .members import members
from .request import Call

Change = Callable[[str | None], str]  # from the text of a value, None where there is none, to another

# Where each endpoint says how long an answer may be; the first is written where none is there.
CEILINGS: dict[str, tuple[str, ...]] = {
    "chat": ("max_tokens", "max_completion_tokens"),
    "completions": ("max_tokens",),
    "responses": ("max_output_tokens",),
    "messages": ("max_tokens",),
    "generate": ("generationConfig", "generation_config"),
}
INSIDE = {"generate": ("maxOutputTokens", "max_output_tokens")}  # where that is an object, what in it says so
MAKES_TEXT = frozenset(("generateContent", "streamGenerateContent"))  # of the actions of `generate`
TOOLS = frozenset(
    (
        *("tools", "tool_choice", "functions", "function_call", "web_search_options"),
        *("mcp_servers", "toolConfig", "tool_config"),
    )
)
NOTHING = frozenset(("null", "[]", "{}"))
DIGITS = 9  # of a number that may be within a bound


def bounded(call: Call, model: str, most: int) -> bytes | None:
    """The body of a call for another model, with at most so many tokens in its answer.

    None where no other model may answer it: it has tools, or its endpoint makes no text.
    """
    names = CEILINGS.get(call.endpoint.name)
    if names is None or (call.endpoint.name == "generate" and action(call.path) not in MAKES_TEXT):
        return None
    text = call.body_for(model).decode("utf-8-sig")
    try:
        tools = any(key in TOOLS and text[start:end] not in NOTHING for key, _, start, end in members(text, True))
    except ValueError:
        return None  # of a Gemini request nothing was read yet
    if tools:
        return None

    def number(held: str | None) -> str:
        fits = held is not None and held.isdigit() and len(held) <= DIGITS and int(held) <= most
        return held if held is not None and fits else str(most)

    inside = INSIDE.get(call.endpoint.name)
    if inside is None:
        return changed(text, names, number).encode()

    def inner(held: str | None) -> str:
        return changed(held if held is not None and held.startswith("{") else "{}", inside, number)

    return changed(text, names, inner).encode()


def changed(text: str, names: Collection[str], change: Change) -> str:
    """A JSON object with other values for the members of these names; the first name is added where there is none.

    Everything else stays as it is written.
    """
    parts: list[str] = []
    at, found, empty = 0, False, True
    for key, _, start, end in members(text, True):
        empty = False
        if key in names:
            found = True
            parts += (text[at:start], change(text[start:end]))
            at = end
    if not found:
        at = text.index("{") + 1
        parts = [text[:at], f'"{next(iter(names))}":{change(None)}', "" if empty else ","]
    return "".join((*parts, text[at:]))

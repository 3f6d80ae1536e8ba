"""Whether a document holds real content: a whole answer, or one event of one, in any of the wires.

Content is what a client would show or act on: text, reasoning, a refusal, a tool call, an image, audio. Roles, pings,
usage and empty blocks are not.
"""

from __future__ import annotations

from typing import Any

MOST_ITEMS = 64  # of a list of blocks, parts or choices

# Keys whose value is content when it is not empty, wherever the wires put them: in a delta, a message, a block, a part.
SPOKEN = (
    "content",
    "text",
    "reasoning_content",
    "reasoning",
    "reasoning_text",
    "thinking",
    "refusal",
    "tool_calls",
    "function_call",
    "functionCall",
    "partial_json",
    "audio",
    "images",
    "inlineData",
    "inline_data",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "b64_json",
    "partial_image_b64",
    "transcript",
    "completion",
    "output_text",
)
# Keys that lead to it.
LEADING = ("choices", "delta", "message", "candidates", "parts", "content_block", "output", "item", "response")
# Blocks that are content by being there, whatever they hold.
BLOCKS = frozenset(
    {
        "tool_use",
        "server_tool_use",
        "mcp_tool_use",
        "redacted_thinking",
        "input_json_delta",
        "function_call",
        "custom_tool_call",
        "computer_call",
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "local_shell_call",
        "mcp_call",
        "web_search_tool_result",
        "image",
        "output_image",
    }
)
DEEPEST = 6


def has_content(document: Any, level: int = 0) -> bool:
    """Whether anything in an answer, or in one event of it, is content."""
    if isinstance(document, list):
        return any(has_content(item, level) for item in document[:MOST_ITEMS])
    if not isinstance(document, dict) or level > DEEPEST:
        return False
    kind = document.get("type")
    if isinstance(kind, str) and kind in BLOCKS:
        return True
    for key in SPOKEN:
        value = document.get(key)
        if value and _speaks(key, value, level):
            return True
    for key in LEADING:
        value = document.get(key)
        if not value:
            continue
        if isinstance(value, str):
            if key in ("delta", "response", "output"):  # the Responses wire's deltas, and Ollama's
                return True
        elif has_content(value, level + 1):
            return True
    return False


def _speaks(key: str, value: Any, level: int) -> bool:
    """Whether the value of a speaking key is content: text, or a list or an object in which something speaks."""
    if isinstance(value, str):
        return True
    if key in ("content", "text", "reasoning", "thinking"):
        return has_content(value, level + 1)
    return isinstance(value, (dict, list))

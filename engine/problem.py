"""What is wrong with a file somebody wrote: where, what, and what to do about it.

Every reader of a file (YAML, schema, expressions, overlay, lint) reports these and nothing else, so that `check`,
a refused reload and a refused start print the same text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One finding. `line` and `column` count from 1; 0 means the file as a whole."""

    file: str
    line: int
    column: int
    code: str  # FW001 … FW999, one docs page each
    message: str  # lower case, no full stop, what the author wrote in backticks
    hint: str = ""
    severity: str = "error"  # error | warning
    excerpt: str = ""  # the source line and a caret below it, where that helps

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        label = "" if self.severity == "error" else f"{self.severity}: "
        lines = [f"{where}: {self.code} {label}{self.message}"]
        lines += ["    " + line for line in self.excerpt.splitlines()]
        if self.hint:
            lines.append(f"    help: {self.hint}")
        return "\n".join(lines)


class PolicyError(Exception):
    """The files cannot become a policy. Carries every problem found, in file order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(map(str, self.problems)))

"""A pytest plugin: `pytest rules/` runs every case of rule files as a test, named after the case.

Collected are YAML files whose first line that is no comment is `faultwise: 1`, unless they set up a gateway. What a
case is decided by: the shipped catalogue with, over it, the rule set of the file, which is every rule file below the
highest directory that can be reached from the file through directories that hold rule files themselves; or below what
`faultwise_rules` in the pytest configuration names. Nothing of the engine is imported before such a file is met.

Whole verdicts are pinned (syrupy) with `--faultwise-snapshots`, or in files with the comment `# faultwise: snapshots`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from faultwise.engine.cases import CaseResult
    from faultwise.engine.policy.parsed import Entry
    from faultwise.engine.policy.policy import Policy

HEAD = 4096  # bytes in which a file says what it is
OPTION = "--faultwise-snapshots"
LEFT_OUT = ("policy", "id")  # of a snapshot: these are no part of the decision
_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:#[^\n]*)?\r?\n|---[ \t]*\r?\n)*faultwise:[ \t]*1\b")
_KIND = re.compile(rb"^kind:[ \t]*[\"']?([a-z]+)", re.MULTILINE)
_PINNED = re.compile(rb"^#[ \t]*faultwise:[ \t]*snapshots\b", re.MULTILINE)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("faultwise")
    group.addoption(OPTION, action="store_true", help="pin the whole verdict of every case of rule files (syrupy)")
    parser.addini("faultwise_rules", "directories of one rule set, instead of those around each file", "paths", [])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Rule files, and nothing else that happens to be YAML."""
    if file_path.suffix not in (".yaml", ".yml"):
        return None
    head = _head(file_path)
    return RuleFile.from_parent(parent, path=file_path) if _is_rules(head) else None


@dataclass
class Sets:
    """The policies of a run, one for each rule set, loaded once."""

    held: dict[tuple[Path, ...], Policy | Exception] = field(default_factory=dict)

    def policy(self, roots: tuple[Path, ...]) -> Policy:
        """The policy over some directories. Raises PolicyError, each time it is asked for."""
        from faultwise.engine.policy.load import load
        from faultwise.engine.problem import PolicyError

        if roots not in self.held:
            try:
                self.held[roots] = load(_sources(roots))
            except PolicyError as error:
                self.held[roots] = error
        found = self.held[roots]
        if isinstance(found, Exception):
            raise found
        return found


SETS = pytest.StashKey[Sets]()


class RuleFile(pytest.File):
    """A rule file, collected as its cases."""

    def collect(self) -> Iterator[CaseItem]:
        """A test for each case; a rule set that does not load is an error with every problem."""
        from faultwise.engine.problem import PolicyError

        roots = tuple(self.config.getini("faultwise_rules")) or (_root(self.path),)
        try:
            policy = self.config.stash.setdefault(SETS, Sets()).policy(roots)
        except PolicyError as error:
            raise self.CollectError(str(error)) from None
        pinned = self.config.getoption(OPTION) or bool(_PINNED.search(_head(self.path)))
        names: dict[str, int] = {}
        for case in policy.cases:
            if _path(case).samefile(self.path):
                name = str(case.data["name"])
                names[name] = names.get(name, 0) + 1
                unique = name if names[name] == 1 else f"{name} ({names[name]})"
                yield CaseItem.from_parent(self, name=unique, case=case, policy=policy, pinned=pinned)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Entry, policy: Policy, pinned: bool, **named: Any) -> None:
        super().__init__(**named)
        self._case = case
        self._policy = policy
        self._pinned = pinned
        # what syrupy asks a test for: where it was written and what it is called
        self.obj = SimpleNamespace(__module__=self.path.stem, __name__=self.name)

    def runtest(self) -> None:
        """Decide the failure and compare; then hold the whole verdict against its snapshot."""
        from faultwise.engine.cases import run_case

        result = run_case(self._policy, self._case)
        if result.problem is not None:
            raise CaseFailed(result)
        if self._pinned and result.verdict is not None:
            verdict = {name: value for name, value in result.verdict.to_json().items() if name not in LEFT_OUT}
            self._hold(verdict)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case is written."""
        return self.path, self._case.origin.line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What was expected and what came, as `faultwise test` prints it."""
        if isinstance(excinfo.value, (CaseFailed, Drifted)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def _hold(self, verdict: Mapping[str, Any]) -> None:
        session = getattr(self.config, "_syrupy", None)
        if session is None:
            raise pytest.UsageError(f"{OPTION} needs syrupy: pip install syrupy")
        from syrupy.assertion import SnapshotAssertion
        from syrupy.extensions import DEFAULT_EXTENSION
        from syrupy.location import PyTestLocation
        from syrupy.terminal import disable_color

        snapshot = SnapshotAssertion(
            session=session,
            extension_class=DEFAULT_EXTENSION,
            test_location=PyTestLocation(self),
            update_snapshots=self.config.option.update_snapshots,
            update_new_snapshots_only=self.config.option.update_new_snapshots_only,
        )
        if snapshot != dict(verdict):
            with disable_color() if self.config.option.no_colors else nullcontext():
                shown = "\n".join(snapshot.get_assert_diff())
            raise Drifted(f"the verdict is not the one that was pinned; `--snapshot-update` accepts it\n{shown}")


class CaseFailed(Exception):
    """A case whose verdict is not the one it expects."""

    def __init__(self, result: CaseResult) -> None:
        super().__init__(str(result.problem))


class Drifted(Exception):
    """A verdict that is not the one that was pinned."""


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError:
        return b""


def _is_rules(head: bytes) -> bool:
    if not _HEAD.match(head):
        return False
    kind = _KIND.search(head)
    return kind is None or kind[1] not in (b"gateway", b"clients")


def _root(path: Path) -> Path:
    """The directory of the rule set a file belongs to."""
    folder = path.parent
    while folder.parent != folder and _holds_rules(folder.parent):
        folder = folder.parent
    return folder


def _holds_rules(folder: Path) -> bool:
    return any(_is_rules(_head(path)) for path in folder.iterdir() if path.suffix in (".yaml", ".yml"))


def _sources(roots: tuple[Path, ...]) -> Any:
    """The shipped catalogue and the rule files below the roots; the catalogue's own folder is not laid over itself."""
    from faultwise.engine.policy.source import Sources, collect, shipped_root

    shipped = shipped_root().resolve()
    own = [root for root in roots if root.resolve() != shipped]
    found = collect(own, cases=len(own) < len(roots))
    return Sources(tuple(file for file in found.files if file.shipped or _is_rules(file.data[:HEAD])))


def _path(case: Entry) -> Path:
    from faultwise.engine.policy.source import shipped_root

    name = case.parsed.name
    return shipped_root() / name.removeprefix("rules/") if case.parsed.shipped else Path(name)

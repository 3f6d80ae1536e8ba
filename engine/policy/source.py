"""Which rule files there are: one snapshot of their bytes, the shipped catalogue first, the operator's over it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from faultwise.engine.problem import PolicyError, Problem

SUFFIXES = (".yaml", ".yml")
VOCABULARY = "policy.yaml"
CASES = "cases"  # the folder of the shipped catalogue that holds nothing else
INSTALLED = ("site-packages", "node_modules")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One rule file as it was read. `name` is what diagnostics print."""

    name: str
    data: bytes
    rank: int  # of the source it came from: 0 is the shipped catalogue, a higher one lies over a lower one

    @property
    def shipped(self) -> bool:
        """Whether it came with the package; everything else is the operator's."""
        return self.rank == 0


@dataclass(frozen=True, slots=True)
class Sources:
    """All rule files of one moment, in the order in which they lie over each other."""

    files: tuple[SourceFile, ...]

    @property
    def fingerprint(self) -> str:
        """Changes whenever a file is added, removed, renamed or edited."""
        digest = sha256()
        for file in self.files:
            digest.update(f"{file.name}\0{file.rank}\0{len(file.data)}\0".encode())
            digest.update(file.data)
        return digest.hexdigest()


def collect(paths: Iterable[Path | str] = (), *, shipped: bool = True, cases: bool = False) -> Sources:
    """Read the shipped catalogue and then every path, a file or a directory, in the order given.

    With `shipped` off the catalogue's rules are left out; its `policy.yaml` stays, since it says what the words in rules
    mean. The catalogue's folder of cases is read with `cases` only: who decides failures has no use for it. Within a
    directory, files are in name order. Raises `PolicyError` naming each path that cannot be read.
    """
    found: list[SourceFile] = []
    problems: list[Problem] = []
    root = shipped_root()
    for path in _walk(root) if shipped else (root / VOCABULARY,):
        if path.parent == root / CASES and not cases:
            continue
        found.append(SourceFile(f"rules/{path.relative_to(root)}", path.read_bytes(), 0))
    for rank, given in enumerate(map(Path, paths), 1):
        if not given.exists():
            problems.append(Problem(str(given), 0, 0, "FW001", "no such file or directory"))
            continue
        for path in _walk(given) if given.is_dir() else (given,):
            try:
                found.append(SourceFile(str(path), path.read_bytes(), rank))
            except OSError as error:
                problems.append(Problem(str(path), 0, 0, "FW001", f"cannot be read: {error.strerror}"))
    if problems:
        raise PolicyError(problems)
    return Sources(tuple(found))


def shipped_root() -> Path:
    """The folder of the shipped catalogue."""
    return Path(str(files("faultwise") / "rules"))


def _walk(root: Path) -> Iterator[Path]:
    """Rule files below a folder in name order.

    Hidden folders are left out (a mounted ConfigMap keeps its old data there), and what package managers installed.
    """
    for path in sorted(root.rglob("*")):
        below = path.relative_to(root).parts
        hidden = any(part.startswith(".") or part in INSTALLED for part in below)
        if path.suffix in SUFFIXES and not hidden and path.is_file():
            yield path

"""Files to a policy and settings that may serve: read as one snapshot, compiled, and held against their own cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from faultwise.engine.cases import run_cases
from faultwise.engine.client_cases import run_client_cases
from faultwise.engine.policy.load import load
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import Sources, collect
from faultwise.engine.problem import PolicyError, Problem

from .settings import Settings, settings

SNAPSHOTS = 5  # tries to read files that keep moving
REMEMBERED = 2  # parsed files, of each one that is there


@dataclass(frozen=True, slots=True)
class Loaded:
    """What may serve, and the fingerprint of all it was made from."""

    policy: Policy
    settings: Settings
    fingerprint: str


@dataclass(slots=True)
class Loader:
    """What to load from. Remembers parsed files, so that a changed one costs only itself."""

    file: Path | None
    environ: Mapping[str, str]
    overrides: Mapping[str, str] = field(default_factory=dict)
    rules: Sequence[Path] = ()
    shipped: bool = True
    memo: dict = field(default_factory=dict)  # type: ignore[type-arg]  # the loader's own

    def load(self) -> Loaded:
        """Load everything. Blocks. Raises `PolicyError` with every problem: form, expressions, references, cases."""
        for _ in range(SNAPSHOTS):
            before = self.fingerprint()
            made = settings(
                self.file, environ=self.environ, overrides=self.overrides, rules=self.rules, shipped=self.shipped
            )
            policy = self._policy(collect(made.rules, shipped=self.shipped))
            if unknown := sorted(made.emergency.reasons - policy.reasons.keys()) if made.emergency else ():
                message = f"`emergency.reasons`: the policy has no reason `{unknown[0]}`"
                known = f"one of {', '.join(policy.reasons)}"
                raise PolicyError([Problem(str(self.file), 0, 0, "FW063", message, known)])
            results = (*run_cases(policy), *run_client_cases(policy))
            wrong = tuple(result.problem for result in results if result.problem is not None)
            if wrong:
                raise PolicyError(wrong)
            if before == self.fingerprint():
                return Loaded(policy, made, before)
        message = "the files kept changing while they were read"
        raise PolicyError([Problem(str(self.file or "rules"), 0, 0, "FW067", message)])

    def _policy(self, sources: Sources) -> Policy:
        """Compile; of what is remembered only that is kept which may come again."""
        try:
            return load(sources, self.memo)
        finally:
            for key in list(self.memo)[: -REMEMBERED * (len(sources.files) + 1)]:
                del self.memo[key]

    def fingerprint(self) -> str:
        """Changes whenever any file does, also one that cannot be loaded. Blocks."""
        digest = sha256()
        for path in filter(None, (self.file,)):
            digest.update(_bytes(path))
        try:
            made = settings(
                self.file, environ=self.environ, overrides=self.overrides, rules=self.rules, shipped=self.shipped
            )
            for path in made.files:
                digest.update(_bytes(path))
            digest.update(collect(made.rules, shipped=self.shipped).fingerprint.encode())
        except Exception as error:  # what cannot be loaded is refused by `load`; here it only has to be told apart
            digest.update(str(error).encode("utf-8", "replace"))
        return digest.hexdigest()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b"unreadable"

"""What the answers of one connection say about what is left of its quotas: kept as it was sent, read when somebody asks.

Limits of an account hold for all its models; others for the model whose answer told of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .window import Window, windows

Pairs = tuple[tuple[bytes, bytes], ...]  # headers, their names in lower case
MODELS = 64  # of one connection that are remembered: those heard of last


@dataclass(slots=True, eq=False)
class Heard:
    """What was heard of one model. `at`: when, in seconds since the epoch."""

    headers: Pairs
    at: float
    windows: tuple[Window, ...] = ()
    told: float = 0.0  # when the windows were
    unread: bool = True

    def read(self) -> tuple[Window, ...]:
        """The windows that were told of last."""
        if self.unread:
            self.unread = False
            named = {name.decode("latin-1"): value.decode("latin-1") for name, value in self.headers if _tells(name)}
            if found := windows(named.get, self.at) if named else ():
                self.windows, self.told = found, self.at
        return self.windows


class Quota:
    """The quotas of one connection. Belongs to one process."""

    __slots__ = ("_models", "_newest")

    def __init__(self) -> None:
        self._models: dict[str, Heard] = {}
        self._newest: Heard | None = None

    def hear(self, model: str, headers: Pairs, now: float) -> None:
        """Keep the headers of an answer. Those of successes are not looked at: every request comes here."""
        heard = self._models.get(model)
        if heard is None:
            if len(self._models) == MODELS:
                del self._models[min(self._models, key=lambda one: self._models[one].at)]
            heard = self._models[model] = Heard(headers, now)
        else:
            heard.headers, heard.at, heard.unread = headers, now, True
        self._newest = heard

    def windows(self, model: str) -> tuple[Window, ...]:
        """The windows that hold for a model: its own, and those of the account."""
        own, newest = self._models.get(model), self._newest
        if own is newest or newest is None:
            return own.read() if own is not None else ()
        shared = tuple(one for one in newest.read() if one.account)
        if own is None:
            return shared
        names = {one.name for one in shared}
        return (*shared, *(one for one in own.read() if not one.account or one.name not in names))

    def told(self) -> Iterator[tuple[str, float, tuple[Window, ...]]]:
        """Each model whose answers tell of quotas, when they did last, and the windows that hold for it."""
        for model, heard in tuple(self._models.items()):
            if heard.read():
                yield model, heard.told, self.windows(model)


def tells(headers: Pairs) -> bool:
    """Whether headers say anything about quotas."""
    return any(_tells(name) for name, _ in headers)


def _tells(name: bytes) -> bool:
    return b"ratelimit" in name or name.startswith(b"x-codex")

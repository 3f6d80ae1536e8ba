"""What tests share: the shipped policy, loaded once, and a way to lay operator files over it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faultwise.engine.policy.load import load
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import SourceFile, Sources, collect

MEMO: dict = {}


def laid_over(files: dict[str, str] | list[dict[str, str]], shipped: bool = True) -> Sources:
    """The shipped catalogue with the operator's files, by name, over it; a list is several sources, later over earlier."""
    layers = files if isinstance(files, list) else [files]
    base = collect().files if shipped else tuple(file for file in collect().files if file.name == "rules/policy.yaml")
    return Sources(
        (
            *base,
            *(
                SourceFile(name, text.encode(), rank)
                for rank, layer in enumerate(layers, 1)
                for name, text in layer.items()
            ),
        )
    )


@pytest.fixture(scope="session")
def shipped() -> Policy:
    return load(collect(), MEMO)


@pytest.fixture(scope="session")
def over() -> Callable[..., Policy]:
    """Load the shipped catalogue with these files over it."""
    return lambda files, shipped=True: load(laid_over(files, shipped), MEMO)


@pytest.fixture(scope="session")
def lay() -> Callable[..., Sources]:
    """The files of the shipped catalogue with these over it, before they are loaded."""
    return laid_over

"""The names of the library, at the top of the package."""

from __future__ import annotations

import pytest

import faultwise


@pytest.mark.parametrize("name", sorted(faultwise._HOMES))
def test_a_public_name_is_importable_and_is_the_one_of_its_module(name: str) -> None:
    assert getattr(faultwise, name).__module__ == f"faultwise.{faultwise._HOMES[name]}"


def test_another_name_is_not() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        getattr(faultwise, "nothing")  # noqa: B009  # the point is the look-up

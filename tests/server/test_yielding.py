"""Heavy work beside an event loop."""

from __future__ import annotations

import gc
import sys

import pytest

from faultwise.engine.policy.load import load
from faultwise.engine.policy.source import collect
from faultwise.server.yielding import SWITCH, yielding


def test_what_was_set_before_is_set_again_after_work_that_failed() -> None:
    interval = sys.getswitchinterval()
    with pytest.raises(ValueError, match="bad rules"), yielding():
        assert sys.getswitchinterval() == pytest.approx(SWITCH)
        assert not gc.isenabled()
        raise ValueError("bad rules")
    assert sys.getswitchinterval() == pytest.approx(interval)
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with yielding():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_policy_is_freed_without_the_collector() -> None:
    """What is out of the collector's sight must not need it: nothing in a policy refers back to itself."""
    load(collect())  # whatever is made once
    gc.collect()
    load(collect())
    assert gc.collect() == 0

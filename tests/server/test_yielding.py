"""Heavy work beside an event loop."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

from faultwise.engine.policy.load import load
from faultwise.engine.policy.source import collect
from faultwise.server.loading import Loader
from faultwise.server.yielding import SWITCH, yielding

from .gateway import CATALOGUE, config


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


def test_a_load_leaves_nothing_that_only_the_collector_could_free(tmp_path: Path) -> None:
    """What a reload leaves is out of the collector's sight: a cycle in it would stay for good."""
    file = tmp_path / "gateway.yaml"
    loader = Loader(file, {"KEY": "s3cr3t"}, {}, CATALOGUE, shipped=False)
    left = []
    for number in range(3):
        file.write_text(config([{"id": f"c{number}", "base_url": "http://x", "secret": "${KEY}"}]))
        gc.collect()
        gc.disable()
        try:
            loader.load()
            left.append(gc.collect())
        finally:
            gc.enable()
    assert left[1:] == [0, 0]


def test_of_files_that_change_again_and_again_the_newest_are_remembered(tmp_path: Path) -> None:
    file, rule = tmp_path / "gateway.yaml", tmp_path / "rules" / "acme.yaml"
    file.write_text(config([], {}, rules=["rules"]))
    rule.parent.mkdir()
    loader = Loader(file, {}, {}, CATALOGUE, shipped=False)
    remembered = []
    for number in range(40):
        rule.write_text(f"faultwise: 1\nkind: provider\nprovider: acme\naliases: [acme-{number}]\n")
        loader.load()
        remembered.append(len(loader.memo))
    assert max(remembered) == remembered[-1] < 20

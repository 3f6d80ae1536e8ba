"""Heavy work in a thread beside an event loop that has to stay on time."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH = 0.0005  # seconds a thread keeps the interpreter while another waits for it; Python's own is 0.005


@contextmanager
def yielding() -> Iterator[None]:
    """Let other threads in often while the work lasts, and keep the collector away from it, during and after.

    What the work leaves behind is taken out of the collector's sight: a full collection would walk all of it, a tenth of
    a second for ten thousand rules, while nothing else runs. It is still freed when the last reference to it goes. For one
    piece of work at a time.
    """
    interval = sys.getswitchinterval()
    collecting = gc.isenabled()
    sys.setswitchinterval(SWITCH)
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
        sys.setswitchinterval(interval)

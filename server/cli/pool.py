"""Work on many parts with all cores: results in order, a bounded number of parts in memory."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import get_context
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
ALONE = 12  # parts; as many are sooner done here than processes are started


def spread(
    work: Callable[[T], R], parts: Iterable[T], setup: Callable[..., None], given: tuple[Any, ...], cores: int = 0
) -> Iterator[R]:
    """`work(part)` for each part, in order. `setup(*given)` runs first, once in each process.

    `work` and `setup` are functions of a module, and everything given to them can be pickled. `cores`: 0 is all.
    """
    remaining = iter(parts)
    head = list(islice(remaining, ALONE + 1))
    count = cores or os.cpu_count() or 1
    if count == 1 or len(head) <= ALONE:
        setup(*given)
        yield from map(work, chain(head, remaining))
        return
    # a fresh process: one that was forked would share locks with threads that it does not have
    with ProcessPoolExecutor(count, get_context("spawn"), setup, given) as pool:
        waiting: deque[Future[R]] = deque()
        try:
            for part in chain(head, remaining):
                waiting.append(pool.submit(work, part))
                if len(waiting) > 2 * count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

"""Work on several blocks at a time, with few in memory and the results in order."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from shoal.errors import InvalidSetting

__all__ = ["ahead", "thread_count"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count() -> int:
    """Threads to use: ``SHOAL_THREADS``, or as many as the machine has cores."""
    given = os.environ.get("SHOAL_THREADS", "")
    if not given:
        return os.cpu_count() or 1
    if not given.isdecimal() or int(given) < 1:
        raise InvalidSetting(
            "SHOAL_THREADS is no whole number from 1 up.", "Unset it, or set e.g. SHOAL_THREADS=2."
        )
    return int(given)


def ahead(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """``map(work, items)``, in order, worked ahead by threads; NumPy lets them run side by side.

    At most ``threads + 1`` items are in memory, however slowly results are taken.

    Examples
    --------
    >>> list(ahead(abs, [-1, -2, -3], threads=2))
    [1, 2, 3]
    """
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="shoal") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

"""Limits the wall-clock time of a computation that knows no limit itself, by interrupting it.

Where the system has no alarm signal, or in another thread than the first, the computation runs to its end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeOverError(BaseException):
    """Raised when the time is over.  It is no Exception, so that no `except Exception` catches it."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises TimeOverError in the block after so many seconds."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_number: int, _frame: FrameType | None) -> None:
        raise TimeOverError

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

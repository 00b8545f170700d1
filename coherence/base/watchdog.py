"""Limits the wall-clock time of a computation that knows no limit itself, and of a run of many questions.

Where the system has no alarm signal, or in another thread than the first, a computation runs to its end.  A run of
questions (`run_limit`) goes on after Ctrl-C: what was not asked by then is named instead.
"""

from __future__ import annotations

import contextlib
import gc
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType
from typing import Any

from coherence.base.clock import record_cut

WHOLE = 3  # limits of one question: what all questions and repairs of a design may take, of the wall

STOPPED, STOPPED_CODE = "stopped by Ctrl-C", 130  # what a run says of what it did not come to, and how it exits

GRACE = 0.5  # s beyond a limit, for computations that look at the clock themselves and then say what they know
AGAIN = 0.02  # s: when to look again, where the alarm comes amid something that must not be interrupted
DELICATE = ("/z3/z3.py", "/z3/z3core.py")


class TimeOverError(BaseException):
    """Raised when the time is over.  It is no Exception, so that no `except Exception` catches it."""


@contextmanager
def at_most(seconds: float, *, processor: bool = False) -> Iterator[None]:
    """Raises TimeOverError in the block after so many seconds of the wall, or of the processor.

    A limit of the same clock around it holds on: it ends the block too, and then itself.
    """
    if not math.isfinite(seconds):
        yield
        return
    import signal  # half a start of Python: only where something is limited

    timer, alarm = ("ITIMER_PROF", "SIGPROF") if processor else ("ITIMER_REAL", "SIGALRM")

    def over(_number: int, frame: FrameType | None) -> None:
        if _is_delicate(frame):
            signal.setitimer(getattr(signal, timer), AGAIN)
        else:
            record_cut()  # whoever catches it answers by what the machine had time for
            raise TimeOverError

    before = _handler(alarm, over)
    if before is None:
        yield
        return
    read = time.process_time if processor else time.monotonic
    around, begun = signal.getitimer(getattr(signal, timer))[0] or math.inf, read()
    signal.setitimer(getattr(signal, timer), max(min(seconds, around), 1e-3))
    try:
        yield
    finally:
        signal.setitimer(getattr(signal, timer), 0)
        signal.signal(getattr(signal, alarm), before)
        if math.isfinite(around):
            signal.setitimer(getattr(signal, timer), max(around - (read() - begun), 1e-3))


def _is_delicate(frame: FrameType | None) -> bool:
    """Decides whether something would be left half made, or the alarm be lost.

    A module that is imported, an object of a library in C; a call of the garbage collector, which drops exceptions.
    """
    collecting = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<frozen importlib") or code.co_filename.endswith(DELICATE):
            return True
        if code in collecting or code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def _handler(alarm: str, over: Callable[[int, FrameType | None], None]) -> Any:
    """Returns the handler of an alarm before this one; None where none can be set."""
    import signal

    if not hasattr(signal, "setitimer"):
        return None
    with contextlib.suppress(ValueError):  # in another thread than the first
        return signal.signal(getattr(signal, alarm), over)
    return None


@dataclass
class RunLimit:
    """Until when the questions of a run are asked (time.monotonic), whether Ctrl-C ended it, and who is told of it."""

    end: float = math.inf
    stopped: bool = False
    tell: Callable[[float, str], None] | None = None

    def announce(self, share: float, label: str) -> None:
        """Tells what is asked now."""
        if self.tell is not None:
            self.tell(share, label)

    @property
    def left(self) -> float:
        """Returns the seconds that are left; none once it was stopped."""
        return 0.0 if self.stopped else max(0.0, self.end - time.monotonic())


_NO_RUN = RunLimit()
_RUN: ContextVar[RunLimit] = ContextVar("run", default=_NO_RUN)


def current_run() -> RunLimit:
    """Returns the run that goes on; one without an end where none was begun."""
    return _RUN.get()


@contextmanager
def interruptible(tell: Callable[[float, str], None]) -> Iterator[RunLimit]:
    """Begins a run that Ctrl-C ends in order; `tell` hears the share that is done, and what is asked."""
    token = _RUN.set(RunLimit(tell=tell))
    try:
        yield _RUN.get()
    finally:
        _RUN.reset(token)


@contextmanager
def run_limit(seconds: float) -> Iterator[RunLimit]:
    """Ends the questions of the block after so many seconds of the wall; the run around it knows of Ctrl-C."""
    around = _RUN.get()
    inner = RunLimit(min(around.end, time.monotonic() + seconds), around.stopped, around.tell)
    token = _RUN.set(inner)
    try:
        yield inner
    finally:
        _RUN.reset(token)
        if around is not _NO_RUN:
            around.stopped = inner.stopped


def is_interruptible() -> bool:
    """Returns whether a run was begun that Ctrl-C ends in order."""
    return _RUN.get().tell is not None

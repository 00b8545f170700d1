"""Limits the time of a computation that knows no limit itself, and of a run of many questions.

Where the system has no alarm signal, or in another thread than the first, a computation runs to its end.  A run of
questions (`run_limit`) goes on after Ctrl-C: what was not asked by then is named instead.
"""

from __future__ import annotations

import gc
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType
from typing import Any
from weakref import ref

from coherence.base.clock import now, record_cut

WHOLE = 3  # limits of one question: what all questions and repairs of a design may take
PER_DESIGN = 60.0  # s of the processor, where no limit of a run of questions is stated

STOPPED, STOPPED_CODE = "stopped by Ctrl-C", 130  # what a run says of what it did not come to, and how it exits

GRACE = 0.5  # s beyond a limit, for computations that look at the clock themselves and then say what they know
LEAST = 1e-3  # s that a timer is set for: 0 would switch it off
AGAIN = 0.02  # s: when to look again, where an alarm or a signal comes amid something that must not be interrupted
DELICATE = ("/z3/z3.py", "/z3/z3core.py", "/weakref.py", "/_weakrefset.py")
COMPILER = "/llvmlite/"


class TimeOverError(BaseException):
    """Raised when the time is over.  It is no Exception, so that no `except Exception` catches it."""


class _Alarm:
    """The alarm of one clock: it waits for the nearest end of the limits that stand.

    A limit that ends in time leaves the alarm as it is: one that comes too early is set again for the next end.
    A limit whose block is gone without its end (Ctrl-C amid it) is gone with it: it is known by a weak reference.
    """

    def __init__(self, timer: str, name: str, read: Callable[[], float]) -> None:
        self.timer, self.name, self.read = timer, name, read
        self.limits: list[ref[_Limit]] = []
        self.comes = math.inf  # when, by the clock
        self.thread = 0
        self.before: Any = None
        self.around = math.inf  # the end of a timer of somebody else
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Drops the limits of the parent, whose timer a forked process has not."""
        self.limits, self.comes, self.around = [], math.inf, math.inf

    def enter(self, limit: _Limit) -> None:
        """Adds a limit, and sets the alarm where it ends first; none outside of the first thread."""
        if not self.limits:
            if not self._begin():
                return
        elif threading.get_ident() != self.thread:
            return
        try:
            self.limits.append(limit.own)
            if limit.end < self.comes:
                self._set(limit.end)
        except BaseException:  # Ctrl-C
            self.leave(limit)
            raise

    def leave(self, limit: _Limit) -> None:
        """Takes a limit away; the last one leaves the signal and the timer as they were before the first."""
        if limit.own not in self.limits:
            return
        self.limits = [own for own in self.limits if own != limit.own and own() is not None]
        if not self.limits:
            self._end()
        elif self.comes == math.inf:  # it came, or was not needed
            self._set(self._nearest())

    def _nearest(self) -> float:
        return min((limit.end for own in self.limits if (limit := own()) is not None), default=math.inf)

    def _begin(self) -> bool:
        """Takes the signal; returns False where that cannot be done."""
        import signal  # half a start of Python: only where something is limited

        if not hasattr(signal, "setitimer"):
            return False
        try:
            self.before = signal.signal(getattr(signal, self.name), self._over)
        except ValueError:  # in another thread than the first
            return False
        self.thread = threading.get_ident()
        left = signal.getitimer(getattr(signal, self.timer))[0]
        self.around = self.comes = self.read() + left if left else math.inf
        return True

    def _end(self) -> None:
        import signal

        signal.setitimer(getattr(signal, self.timer), 0)
        signal.signal(getattr(signal, self.name), self.before)
        if math.isfinite(self.around):
            signal.setitimer(getattr(signal, self.timer), max(self.around - self.read(), LEAST))
        self.comes = self.around = math.inf

    def _set(self, end: float) -> None:
        """Sets the alarm for a time of the clock, or for the timer around it."""
        import signal

        self.comes = min(end, self.around)
        if self.comes < math.inf:
            signal.setitimer(getattr(signal, self.timer), max(self.comes - self.read(), LEAST))

    def _over(self, _number: int, frame: FrameType | None) -> None:
        now, self.comes = self.read(), math.inf
        if min(self._nearest(), self.around) > now:
            self._set(self._nearest())
        elif is_delicate(frame):
            self._set(now + AGAIN)
        elif self.limits:
            record_cut()  # whoever catches it answers by what the machine had time for
            raise TimeOverError


_WALL = _Alarm("ITIMER_REAL", "SIGALRM", time.monotonic)
_PROCESSOR = _Alarm("ITIMER_PROF", "SIGPROF", time.process_time)


class _Limit:
    """A limit of one clock, as a context."""

    __slots__ = ("__weakref__", "alarm", "end", "own", "seconds")

    def __init__(self, alarm: _Alarm, seconds: float) -> None:
        self.alarm, self.seconds, self.own = alarm, seconds, ref(self)

    def __enter__(self) -> None:
        self.end = self.alarm.read() + self.seconds
        self.alarm.enter(self)

    def __exit__(self, *_raised: object) -> None:
        self.alarm.leave(self)


_OWN = {function.__code__ for function in (_Limit.__enter__, _Limit.__exit__)}  # an alarm in them would lose a limit


def at_most(seconds: float, *, processor: bool = False) -> AbstractContextManager[None]:
    """Raises TimeOverError in the block after so many seconds of the wall, or of the processor.

    A limit of the same clock around it holds on: it ends the block too, and then itself.
    """
    if not math.isfinite(seconds):
        return nullcontext()
    return _Limit(_PROCESSOR if processor else _WALL, seconds)


@contextmanager
def many_limits() -> Iterator[None]:
    """Keeps the alarms of both clocks while many short blocks are limited one after the other."""
    with _Limit(_WALL, math.inf), _Limit(_PROCESSOR, math.inf):
        yield


def is_delicate(frame: FrameType | None) -> bool:
    """Decides whether an exception raised in the frame would leave something half made, or be lost.

    A module that is imported, an object of a library in C, a limit; a call that drops exceptions, of the garbage
    collector, of a weak reference or of the compiler.
    """
    collecting = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        if file.startswith("<frozen importlib") or file.endswith(DELICATE) or COMPILER in file:
            return True
        if code in collecting or code in _OWN or code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


@dataclass
class RunLimit:
    """Until when the questions of a run are asked, whether Ctrl-C ended it, and who is told of it.

    `read`: the clock of `end`, of the processor (`clock.now`) or of the wall (`time.monotonic`).
    """

    end: float = math.inf
    stopped: bool = False
    tell: Callable[[float, str], None] | None = None
    read: Callable[[], float] = now
    around: RunLimit | None = None

    def announce(self, share: float, label: str) -> None:
        """Tells what is asked now."""
        if self.tell is not None:
            self.tell(share, label)

    @property
    def left(self) -> float:
        """Returns the seconds that are left, also of the run around it; none once it was stopped."""
        if self.stopped:
            return 0.0
        left = max(0.0, self.end - self.read())
        return left if self.around is None else min(left, self.around.left)

    def ending(self) -> AbstractContextManager[None]:
        """Raises TimeOverError in the block at the end of the run."""
        return at_most(self.left, processor=self.read is now)


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
def run_limit(seconds: float, *, wall: bool = False) -> Iterator[RunLimit]:
    """Ends the questions of the block after so many seconds of the processor; the run around it knows of Ctrl-C.

    `wall`: of the wall, for a run that waits for servers or for other processes.
    """
    around, read = _RUN.get(), time.monotonic if wall else now
    inner = RunLimit(read() + seconds, around.stopped, around.tell, read, None if around is _NO_RUN else around)
    token = _RUN.set(inner)
    try:
        yield inner
    finally:
        _RUN.reset(token)
        if around is not _NO_RUN:
            around.stopped = inner.stopped


def shares_of_run(number: int) -> Iterator[AbstractContextManager[RunLimit]]:
    """Yields a limit for each of so many parts of a run: what is left, by the parts that wait; all where it has no end.

    What a part does not need is left for those after it.
    """
    for waiting in range(number, 0, -1):
        yield run_limit(current_run().left / waiting)


def is_interruptible() -> bool:
    """Returns whether a run was begun that Ctrl-C ends in order."""
    return _RUN.get().tell is not None

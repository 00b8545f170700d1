"""Runs one call through a tree of calls, plainly: every try, refusal, hang, pause and limit at its time.

A callee works, then makes its own calls one after another.  A caller that gives up cancels what is under way (nothing
is sent after it) or abandons it (it goes on).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf

Time = Fraction | float
ZERO = Fraction(0)


@dataclass(frozen=True)
class PlainCall:
    """A call as the design states it; None: not stated.  `again`: causes that are tried again (None: any)."""

    caller: str
    callee: str
    tries: int = 1
    deadline: Fraction | None = None
    per_try: Fraction | None = None
    pause: Fraction = ZERO
    again: tuple[str, ...] | None = None
    abandons: bool = False

    @property
    def limit(self) -> Time:
        """Returns how long one try may take."""
        return min(
            self.per_try if self.per_try is not None else inf, self.deadline if self.deadline is not None else inf
        )

    def line(self, **more: str) -> str:
        """Renders the call as a line of a design."""
        keys = {"from": self.caller, "to": self.callee, "tries": str(self.tries) if self.tries > 1 else ""}
        keys |= {
            "deadline": _seconds(self.deadline),
            "per_try": _seconds(self.per_try),
            "pause": _seconds(self.pause) if self.pause else "",
            "retry_when": "" if self.again is None else f"[{', '.join(self.again)}]",
            "on_timeout": "abandon" if self.abandons else "cancel",
        }
        return f"  - {{{', '.join(f'{key}: {value}' for key, value in {**keys, **more}.items() if value)}}}"


def _seconds(value: Fraction | None) -> str:
    return "" if value is None else f"{float(value):g} s"


@dataclass
class CallRun:
    """One run in which the leaves fail in one way: they answer with a cause after `takes`, or hang.

    What would begin when a limit of its caller ends does not begin.
    `answers`: a hang that no limit of its caller ends is told by the leaf itself, at once.  `races`: what ends with its
    limit comes too late.  `quiet`: leaves that answer at once and do not fail.  `work`: how long each thing works
    before its calls; `recovers`: leaves of which the last try works, so long; `sent`: (time, callee) of every try that
    a limit may still stop; `alone`: (since when, callee) of those that come after their caller has abandoned the work;
    `left`: (caller, callee, how long the callee works on after its caller has gone); `cut`: calls whose deadline let
    not all tries begin.
    """

    calls: tuple[PlainCall, ...]
    cause: str
    takes: Mapping[str, Fraction]
    answers: bool = False
    races: bool = False
    quiet: frozenset[str] = frozenset()
    work: Mapping[str, Fraction] = field(default_factory=dict)
    recovers: Mapping[str, Fraction] = field(default_factory=dict)
    sent: list[tuple[Time, str]] = field(default_factory=list)
    alone: list[tuple[Time, str]] = field(default_factory=list)
    left: list[tuple[str, str, Time]] = field(default_factory=list)
    cut: list[PlainCall] = field(default_factory=list)

    def serve(self, thing: str, start: Time) -> tuple[Time, str]:
        """Returns when the thing answers, and with what cause of failure (empty: none)."""
        own = [call for call in self.calls if call.caller == thing]
        time: Time = start + self.work.get(thing, ZERO)
        if thing in self.quiet:
            return time, ""
        if not own:
            hangs = self.cause == "timeout" and thing not in self.takes
            return (inf, "timeout") if hangs else (time + self.takes.get(thing, ZERO), self.cause)
        cause = ""
        for call in own:
            time, failed = self.called(call, time)
            cause = cause or failed
            if time == inf:
                break
        return time, cause

    def called(self, call: PlainCall, start: Time) -> tuple[Time, str]:
        """Returns when the call is over, and with what cause."""
        over = start + (call.deadline if call.deadline is not None else inf)
        time, cause = start, "timeout"
        for number in range(call.tries):
            if time >= over:
                self.cut.append(call)
                return over, "timeout"
            self.sent.append((time, call.callee))
            before, apart = len(self.sent), len(self.alone)
            recovers = number + 1 == call.tries and call.callee in self.recovers
            end, cause = (time + self.recovers[call.callee], "") if recovers else self.serve(call.callee, time)
            if end == inf and call.limit == inf and self.answers:
                end = time
            until = min(time + (call.per_try if call.per_try is not None else inf), over)
            cut_short = end == until and not call.abandons and any(begin >= until for begin, _ in self.sent[before:])
            if end > until or cut_short or (self.races and end == until):
                if call.abandons and end > until:
                    self.left.append((call.caller, call.callee, end - until))
                    self.alone += [(until, callee) for begin, callee in self.sent[before:] if begin >= until]
                elif not call.abandons:
                    self.alone[apart:] = [entry for entry in self.alone[apart:] if entry[0] < until]
                self.sent[before:] = [entry for entry in self.sent[before:] if entry[0] < until]
                end, cause = until, "timeout"
            if not cause or end == inf or (call.again is not None and cause not in call.again):
                return end, cause
            time = end + (call.pause if number + 1 < call.tries else ZERO)
        return time, cause

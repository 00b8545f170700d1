"""Draws graphs of timers and activities with promises about their events, with their truth: every run of corner times.

The lines of designs are long, as in YAML.  Each family returns what `drawn` says.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from tests.second_interpreter.drawn import Drawn
from tests.second_interpreter.loads import Span, span, stated

Times = dict[str, list[Fraction]]
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class PlainTimer:
    """A timer: where it runs from, how long, what it then does, and what keeps it from firing."""

    name: str
    begin: str
    after: Span
    then: str
    unless: str = ""

    def line(self) -> str:
        """Renders the timer as a line of a design."""
        unless = f", unless: {self.unless}" if self.unless else ""
        return f"  {self.name}: {{from: {self.begin}, after: {stated(self.after, ' s')}{unless}, then: {self.then}}}"


def times_of(timers: list[PlainTimer], chosen: Mapping[str, Fraction]) -> Times:
    """Returns when each event happens, where the first event happens at 0; what goes on is not started again."""
    due: list[tuple[Fraction, int, str]] = [(Fraction(0), 0, "alarm")]
    times: Times = {}
    going: dict[str, str] = {}
    count = itertools.count(1)
    while due:
        now, _, event = heapq.heappop(due)
        if event.startswith("?"):  # a timer is due
            timer = next(t for t in timers if t.name == event[1:])
            if timer.unless and timer.unless in times:
                continue
            event = timer.name
            heapq.heappush(due, (now, next(count), timer.then))
        event, _, run = event.partition("#")  # the end of this run of an activity
        thing, _, what = event.partition(" ")
        if (what == "starts" and thing in going) or (what == "ends" and run not in ("", going.get(thing))):
            continue
        if what == "ends" and thing not in going:
            continue
        times.setdefault(event, []).append(now)
        for timer in timers:
            if timer.begin == event:
                heapq.heappush(due, (now + chosen[timer.name], next(count), f"?{timer.name}"))
        if what == "starts":
            going[thing] = str(number := next(count))
            heapq.heappush(due, (now + chosen[thing], number, f"{thing} ends#{number}"))
        elif what == "ends":
            del going[thing]
    return times


def runs(timers: list[PlainTimer], takes: Mapping[str, Span]) -> Iterator[Times]:
    """Yields the times of every choice of ends and middles."""
    ranges = {**{timer.name: timer.after for timer in timers}, **takes}
    options = [sorted({low, (low + high) / 2, high}) for low, high in ranges.values()]
    for values in itertools.product(*options):
        yield times_of(timers, dict(zip(ranges, values, strict=True)))


def graph(random: Random) -> tuple[list[PlainTimer], dict[str, Span]]:
    """Draws activities that timers start one after another, or at once, and timers that may end one early."""
    takes = {f"n{k}.work": span(random, 1, 6, (0, 0, 2, 4)) for k in range(random.randint(1, 3))}
    events, timers = ["alarm"], list[PlainTimer]()
    for number, activity in enumerate(takes):
        begin = random.choice(events)
        timers.append(PlainTimer(f"t{number}", begin, span(random, 0, 6, (0, 0, 1, 3)), f"{activity} starts"))
        events += [f"{activity} starts", f"{activity} ends"]
        if random.random() < 0.2:
            low, high = span(random, 1, 6, (0, 0, 2))
            grace = PlainTimer(f"g{number}", f"{activity} starts", (low + HALF, high + HALF), f"{activity} ends")
            timers.append(grace)
        if random.random() < 0.2:
            timers.append(PlainTimer(f"s{number}", "alarm", span(random, 0, 9, (0, 2)), f"{activity} starts"))
    low, high = span(random, 0, 8, (0, 0, 2))
    unless = random.choice(["", "", *(e for e in events if e.endswith("ends"))])
    timers.append(PlainTimer("stop", random.choice(events), (low + HALF / 2, high + HALF / 2), "abort job", unless))
    return timers, takes


def answered_in_time(random: Random) -> Drawn:
    """A promise that one event follows another within a time."""
    timers, takes = graph(random)
    known = list(runs(timers, takes))
    happening = sorted(set().union(*known))
    ends = [e for e in happening if e.endswith("ends") or e == "stop"]
    first, then = (
        random.choice([e for e in happening if (e != "stop" and " " in e) or e == "alarm"]),
        random.choice(ends),
    )
    waits = (_gap(run, first, then, None) for run in known if first in run and then in run)
    gaps = [gap for gap in waits if gap is not None]
    within = max(Fraction(0), (max(gaps) if gaps else Fraction(5)) + random.choice([-2, -1, 0, 0, 1, 3]) * HALF)
    cases = [_gap(run, first, then, within) is None for run in known if first in run]
    text = _design(timers, takes, f"after {first} then {then} within {float(within):g} s")
    return Drawn(text, ("COH243",), any(cases), all(cases), "p")


def _gap(run: Times, first: str, then: str, within: Fraction | None) -> Fraction | None:
    """Returns the longest wait from a first event for a second one; None where none comes (in time)."""
    gaps = [min((at - begin for at in run.get(then, ()) if at >= begin), default=None) for begin in run[first]]
    known = [gap for gap in gaps if gap is not None and (within is None or gap <= within)]
    return max(known) if len(known) == len(gaps) else None


def events_in_order(random: Random) -> Drawn:
    """A promise that one event comes before another."""
    timers, takes = graph(random)
    known = list(runs(timers, takes))
    happening = sorted(set().union(*known) - {"alarm"})
    named = [e for e in happening if e.endswith("ends") or " " not in e]
    first, then = random.sample(named, 2) if len(named) > 1 else ("t0", "stop")
    both = [(run[first][0], run[then][0]) for run in known if first in run and then in run]
    broken = [a > b for a, b in both]
    touching = any(a == b for a, b in both)
    text = _design(timers, takes, f"{first} before {then}")
    several = any(sum(t.then == timer.then for t in timers) > 1 for timer in timers) or any(t.unless for t in timers)
    truth = None if (touching and not any(broken)) or (several and not any(broken)) else any(broken)
    return Drawn(text, ("COH208",), truth, None if touching else all(broken), "p")


def timer_against_work(random: Random) -> Drawn:
    """A timer that an event ends: does it fire before in some run, in every one?"""
    timers, takes = graph(random)
    stop = timers[-1]
    ends = [f"{activity} ends" for activity in takes]
    timers[-1] = stop = replace(stop, begin=random.choice(["alarm", stop.begin]), unless=random.choice(ends))
    known = [run for run in runs(timers, takes) if stop.begin in run]
    cases = ["stop" in run and (stop.unless not in run or run["stop"][0] < run[stop.unless][0]) for run in known]
    text = _design(timers, takes, f"{stop.unless} before stop")
    several = any(sum(t.then == timer.then for t in timers) > 1 for timer in timers)
    return Drawn(text, ("COH207",), None if several and not any(cases) else any(cases), all(cases))


def _design(timers: list[PlainTimer], takes: Mapping[str, Span], promise: str) -> str:
    parts = ", ".join(f"{name[:-5]}: {{takes: {{work: {stated(ends, ' s')}}}}}" for name, ends in takes.items())
    lines = "\n".join(timer.line() for timer in timers)
    return f"coherence: 1\ncomponents: {{{parts}}}\ntimers:\n{lines}\npromises: {{p: {promise}}}\n"


EVENTS = (answered_in_time, events_in_order, timer_against_work)

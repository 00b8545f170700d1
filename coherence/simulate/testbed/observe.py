"""Measures requests by one set of measures, for observed and simulated ones alike.

Windows are of the arrival of requests: `before` the trigger (without the first fifth, a warm-up, and the
last tenth, whose requests may still be under way when it comes), `during` it, `after` it, and the `end`, the last
quarter of the time after it.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass

from coherence.simulate.testbed.set_up import RunTiming

RULE = "collapsed: fewer than half of the requests of the last quarter succeed; else recovered"
COLLAPSED, RECOVERED = "collapsed", "recovered"
FEWEST = 20  # requests of the window in which recovery is judged
WINDOWS = ("before", "during", "after", "end")


@dataclass(frozen=True)
class Request:
    """One request: when it came and was answered (s from the start of the load), its tries, and its success."""

    start: float
    end: float
    tries: int
    succeeded: bool


@dataclass(frozen=True)
class WindowMeasures:
    """Means over the requests that came in a window; `tries` of each is the amplification."""

    requests: int
    tries: float
    success: float


@dataclass(frozen=True)
class Measures:
    """`recovery`: s from the end of the trigger until requests succeed again for good; infinite if they do not.

    `latency`: median and 99th percentile of the successes before the trigger, s.
    """

    windows: dict[str, WindowMeasures]
    recovery: float
    verdict: str
    latency: tuple[float, float]


def measure(requests: Sequence[Request], course: RunTiming, trigger: tuple[float, float]) -> Measures:
    """Returns the measures of requests; `trigger` = its start and end, s."""
    ordered = sorted(requests, key=lambda request: request.start)
    starts = [request.start for request in ordered]
    spans = dict(zip(WINDOWS, _spans(course, trigger), strict=True))
    chosen_in = {
        name: ordered[bisect.bisect_left(starts, low) : bisect.bisect_left(starts, high)]
        for name, (low, high) in spans.items()
    }
    windows = {name: _window(chosen) for name, chosen in chosen_in.items()}
    verdict = RECOVERED if windows["end"].success >= 0.5 else COLLAPSED
    recovery = recovery_time(chosen_in["after"], trigger[1]) if verdict == RECOVERED else math.inf
    taken = sorted(request.end - request.start for request in chosen_in["before"] if request.succeeded)
    return Measures(windows, recovery, verdict, (quantile(taken, 0.5), quantile(taken, 0.99)))


def _spans(course: RunTiming, trigger: tuple[float, float]) -> tuple[tuple[float, float], ...]:
    start, end = trigger
    return (
        (start / 5, 0.9 * start),
        (start, end),
        (end, course.lasts),
        (end + 0.75 * (course.lasts - end), course.lasts),
    )


def _window(requests: Sequence[Request]) -> WindowMeasures:
    number = len(requests)
    if not number:
        return WindowMeasures(0, math.nan, math.nan)
    tries, successes = sum(r.tries for r in requests), sum(r.succeeded for r in requests)
    return WindowMeasures(number, tries / number, successes / number)


def recovery_time(after: Sequence[Request], end: float) -> float:
    """Seconds from `end` until requests succeed for good; infinite where they do not within what was seen.

    The middle of the last window, of about one second of requests, in which fewer than half succeed.  Of a
    clean step from failure to success this is the step; a few late failures do not move it.
    """
    if not after:
        return math.inf
    rate = len(after) / max(after[-1].start - after[0].start, 1e-9)
    width = min(len(after), max(FEWEST, round(rate)))
    good = sum(request.succeeded for request in after[:width])
    last = -1
    for index in range(len(after) - width + 1):
        if index:
            good += after[index + width - 1].succeeded - after[index - 1].succeeded
        if 2 * good < width:
            last = index
    if last < 0:  # no bad window: the failures at the very beginning, if they are most of what there is
        head = next((i for i, request in enumerate(after) if request.succeeded), 0)
        return max(0.0, after[head].start - end) if head else 0.0
    return math.inf if last == len(after) - width else after[last + (width + 1) // 2].start - end


def quantile(ordered: Sequence[float], share: float) -> float:
    """Returns the value below which a share of the ordered values lies; nan of none."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else math.nan

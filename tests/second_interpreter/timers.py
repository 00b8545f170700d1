# ruff: noqa: E501
"""Draws designs of timers with ranges, with their truth: every moment of a grid, one by one.

The lines of designs are long, as in YAML.  Each family returns what `drawn` says.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from random import Random

from tests.second_interpreter.drawn import Drawn


def order_of_timers(random: Random) -> Drawn:
    """Work that one timer starts and another one cuts short, both from one event: it ends in time, or at the limit."""
    first, takes, limit = (_span(random, *ends) for ends in ((1, 9), (1, 5), (3, 15)))
    ends = (a + d for a, d in itertools.product(_values(first), _values(takes)))
    breaks = any(end > cut for end, cut in itertools.product(list(ends), _values(limit)))
    text = f"""coherence: 1
components: {{rank: {{takes: {{dump: {_stated(takes)}}}}}}}
timers:
  beat: {{from: step hangs, after: {_stated(first)}, then: rank.dump starts}}
  stop: {{from: step hangs, after: {_stated(limit)}, then: abort job}}
promises: {{evidence: rank.dump ends before stop}}
"""
    return Drawn(text, ("COH208",), breaks)


def lives_of_a_run(random: Random) -> Drawn:
    """Failures that come so far apart, counted in a half-open window: are there ever more than are allowed?"""
    apart, lives, window = _span(random, 1, 6), random.randint(0, 5), random.randint(1, 24)
    soonest = itertools.takewhile(lambda at: at < window, itertools.count(0, int(apart[0])))
    breaks = len(list(soonest)) > lives
    text = f"""coherence: 1
components: {{runner: {{returns: always}}}}
limits: {{failures: {{counts: runner.failures, at_most: {lives}, window: {window} s, when_full: fail and lose}}}}
timers: {{spot: {{from: runner starts, after: {_stated(apart)}, then: evict runner}}}}
"""
    return Drawn(text, ("COH241",), breaks)


def starts_of_one_timer(random: Random) -> Drawn:
    """An activity that a clock starts again and again, each start early or late by its jitter: does one meet the next?"""
    takes, every, jitter = _span(random, 1, 9), random.randint(2, 10), random.choice([0, 0, 1, 2])
    moved = [Fraction(k, 2) for k in range(-2 * jitter, 2 * jitter + 1)]
    breaks = any(a + span > every + b for span in _values(takes) for a, b in itertools.product(moved, moved))
    more = f", jitter: {jitter} s" if jitter else ""
    text = f"""coherence: 1
components: {{rank: {{takes: {{save: {_stated(takes)}}}}}}}
timers: {{clock: {{from: job starts, every: {every} s{more}, then: rank.save starts}}}}
"""
    return Drawn(text, ("COH246",), breaks)


def first_end_of_several(random: Random) -> Drawn:
    """An activity that two or three timers of one event start: is one of its runs over before a limit, in every run?

    A starter that something else may lift starts it, or not.
    """
    starters = [(_span(random, 0, 8), random.random() < 0.3) for _ in range(random.randint(2, 3))]
    takes, limit = _span(random, 1, 5), _span(random, 2, 14)
    longest = [[a + d for a, d in itertools.product(_values(after), _values(takes))] for after, _ in starters]
    late = [[end for end in ends if end >= cut] for cut in _values(limit) for ends in longest]
    latest = [any(ends) for ends in late]
    rounds = [latest[k : k + len(starters)] for k in range(0, len(latest), len(starters))]
    breaks = any(all(ok or may_not for ok, (_, may_not) in zip(cut, starters, strict=True)) for cut in rounds)
    lines = [
        f"  s{k}: {{from: message comes, after: {_stated(after)}{', unless: cache miss' if lifted else ''}, then: worker.task starts}}"
        for k, (after, lifted) in enumerate(starters)
    ]
    text = "\n".join([
        "coherence: 1", f"components: {{worker: {{takes: {{task: {_stated(takes)}}}}}}}", "timers:", *lines,
        f"  limit: {{from: message comes, after: {_stated(limit)}, unless: worker.task ends, then: kill worker}}", "",
    ])  # fmt: skip
    return Drawn(text, ("COH207",), None if all(lifted for _, lifted in starters) else breaks)


def _span(random: Random, low: int, high: int) -> tuple[Fraction, Fraction]:
    first = Fraction(random.randint(low, high))
    return first, first + random.choice([0, 0, 1, 3])


def _values(span: tuple[Fraction, Fraction]) -> list[Fraction]:
    return [span[0] + Fraction(k, 2) for k in range(int(2 * (span[1] - span[0])) + 1)]


def _stated(span: tuple[Fraction, Fraction]) -> str:
    return f"{span[0]} s" if span[0] == span[1] else f"{span[0]} s .. {span[1]} s"


TIMERS = (order_of_timers, lives_of_a_run, starts_of_one_timer, first_end_of_several)

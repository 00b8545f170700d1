"""Draws activities that start each other round and round, and a timer among them, with its truth: the sums of a round.

Between the event that a timer runs from and the next one that lifts it lies a part of a round; its length is that of
the pauses and activities on it, each of which takes any time of its range in every round anew.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

from tests.second_interpreter.drawn import Drawn
from tests.second_interpreter.loads import Span, span, stated

QUARTER = Fraction(1, 4)
Step = tuple[str, Span]  # an event, and how long the next one takes to come


def round_of(random: Random) -> list[Step]:
    """Draws the events of a round: each activity starts and ends, and a timer starts the next one."""
    steps = list[Step]()
    for number in range(random.randint(1, 3)):
        steps.append((f"n{number}.work starts", span(random, 1, 6, (0, 0, 2, 4))))
        steps.append((f"n{number}.work ends", span(random, 0, 6, (0, 0, 1, 3))))
    return steps


def timer_in_rounds(random: Random) -> Drawn:
    """A timer from one event of a round that the next of another one lifts: does it fire in some round, in all?"""
    steps = round_of(random)
    events = [event for event, _ in steps]
    begin, unless = random.choice(events), random.choice([event for event in events if event.endswith("ends")])
    at, until = events.index(begin), events.index(unless)
    between = [steps[k % len(steps)][1] for k in range(at, until if until > at else until + len(steps))]
    least, most = sum((low for low, _ in between), Fraction(0)), sum((high for _, high in between), Fraction(0))
    low = max(Fraction(0), random.choice([least, most]) + random.choice([-2, -1, 0, 0, 1, 2])) + QUARTER
    after = (low, low + random.choice([0, 0, 2]))
    return Drawn(_text(steps, begin, after, unless), ("COH207",), after[0] < most, after[1] < least)


def _text(steps: list[Step], begin: str, after: Span, unless: str) -> str:
    parts = ", ".join(
        f"{event.split('.', maxsplit=1)[0]}: {{takes: {{work: {stated(takes, ' s')}}}}}" for event, takes in steps[::2]
    )
    pauses = "\n".join(
        f"  t{number}: {{from: {event}, after: {stated(pause, ' s')}, then: {steps[(2 * number + 2) % len(steps)][0]}}}"
        for number, (event, pause) in enumerate(steps[1::2])
    )
    stop = f"  stop: {{from: {begin}, after: {stated(after, ' s')}, unless: {unless}, then: abort job}}"
    return f"coherence: 1\ncomponents: {{{parts}}}\ntimers:\n{pauses}\n{stop}\n"


ROUNDS: tuple[Callable[[Random], Drawn], ...] = (timer_in_rounds,)

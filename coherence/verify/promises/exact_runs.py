"""Runs exactly the part of a model that signals depend on, and reads what happens on the recurring lap."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.clock import is_over, now
from coherence.findings.question_input import Subject
from coherence.language.expressions.evaluate import NotExactError
from coherence.model.model import Model
from coherence.simulate.execute.slices import feedback_groups, lacking, sliced

if TYPE_CHECKING:  # most designs execute nothing: the executor is a tenth of a policy check
    from coherence.simulate.execute.exact import Action, Choices, Instant
    from coherence.simulate.execute.orbits import LongRun
    from coherence.verify.promises.certainty import Certainty

LAPS, MOST_INSTANTS = 120, 4_000


@dataclass(frozen=True)
class ClosedRuns:
    """The part of the model and its runs from the ends of the ranges; `missing`: why there are none."""

    model: Model
    runs: tuple[LongRun, ...]
    missing: str = ""


def not_carried() -> tuple[type[Exception], ...]:
    """Returns what an execution raises where it cannot be carried out."""
    from coherence.simulate.execute.exact import MissingValueError

    return (NotExactError, MissingValueError, ZeroDivisionError, OverflowError, ValueError)


def closed(subject: Subject, signals: tuple[str, ...]) -> ClosedRuns:
    """Returns runs from every corner where the part is closed; else what it lacks."""
    return subject.queries.get((closed, *sorted(signals)), lambda: _closed(subject, signals))


def _closed(subject: Subject, signals: tuple[str, ...]) -> ClosedRuns:
    part = sliced(subject.model, signals)
    missing = lacking(subject.model, signals, part.inputs)
    if missing:
        return ClosedRuns(part, (), missing)
    deadline = now() + subject.time_limit / 2
    try:
        return ClosedRuns(part, tuple(_until(deadline, runs(part))))
    except not_carried() as error:
        return ClosedRuns(part, (), str(error) or "a value that the executor does not carry")


def runs(part: Model) -> Iterator[LongRun]:
    """Returns the run from each end of the ranges, phases 0 and the declared order."""
    from coherence.simulate.execute.orbits import long_run
    from coherence.simulate.execute.starts import corners

    return (long_run(part, choices, laps=LAPS, most=MOST_INSTANTS) for choices in corners(part))


def start_count(part: Model) -> float:
    """Returns how many ends of ranges there are, run or not."""
    from coherence.simulate.execute.starts import corner_count

    return corner_count(part)


def _until(deadline: float, source: Iterator[LongRun]) -> Iterator[LongRun]:
    for run in source:
        yield run
        if is_over(deadline):
            return


def in_every_run(subject: Subject, part: ClosedRuns, is_so: Callable[[LongRun], bool]) -> Certainty:
    """Returns whether all runs are so, whatever the design leaves open: ranges, what varies, orders and phases."""
    return every_run(part.model, part.runs, is_so, subject.time_limit)


def every_run(model: Model, known: Sequence[LongRun], is_so: Callable[[LongRun], bool], seconds: float) -> Certainty:
    """Returns whether all runs are so, the known ones and those between them, of other phases and of other orders.

    Of a fact whose other end no run reads nothing is certain.  Each may take twice as long as the known ones.
    """
    from coherence.simulate.execute.open_ranges import one_ended
    from coherence.simulate.execute.orbits import hyperperiod
    from coherence.verify.promises.certainty import POSSIBLE, certainty

    if one_ended(model) or not known or not all(map(is_so, known)):
        return POSSIBLE
    longest = max((run.instants[-1].time for run in known if run.instants), default=Fraction(0))
    laps = math.ceil(2 * longest / hyperperiod(model))
    lengths = ((LAPS, MOST_INSTANTS), (max(LAPS, laps), max(2 * len(run.instants) for run in known)))

    def executed(choices: Choices) -> int:
        same = next((own for own in known if own.choices == choices), None)
        tries = (run_with(model, choices, laps=span, most=most) for span, most in lengths)
        shown = same or next((run for run in tries if run is not None and is_so(run)), None)
        return len(shown.instants) if shown is not None else 0

    return certainty(model, executed, now() + seconds)


def swings(run: LongRun, signals: tuple[str, ...]) -> bool:
    """Decides whether one of the signals keeps changing on the lap (what sustained-oscillation reports)."""
    return run.orbit is not None and any(run.orbit.turns(signal) for signal in signals)


def in_feedback(model: Model, names: tuple[str, ...]) -> bool:
    """Decides whether one of the loops reads its own effect (so that the loops' questions execute it)."""
    return any(loop.name in names for group in feedback_groups(model) for loop in group)


def against(instants: tuple[Instant, ...], one: str, other: str) -> Instant | None:
    """Returns the first instant in which the two loops act on one signal in opposite directions."""
    return next((i for i in instants if _opposed(i.actions, one, other)), None)


def _opposed(actions: tuple[Action, ...], one: str, other: str) -> bool:
    ways = [(a.loop, a.signal, a.after > a.before) for a in actions if a.loop in (one, other)]
    return any(a[0] != b[0] and a[1] == b[1] and a[2] != b[2] for a, b in itertools.combinations(ways, 2))


def acts(instants: tuple[Instant, ...]) -> dict[str, set[tuple[str, bool]]]:
    """Returns loop -> (signal, upward) of everything that it does."""
    moves: dict[str, set[tuple[str, bool]]] = {}
    for instant in instants:
        for action in instant.actions:
            moves.setdefault(action.loop, set()).add((action.signal, bool(action.after > action.before)))
    return moves


def run_with(model: Model, choices: Choices, *, laps: int = LAPS, most: int = MOST_INSTANTS) -> LongRun | None:
    """Returns the long run of these choices; None where it cannot be carried out."""
    from coherence.simulate.execute.orbits import long_run

    try:
        return long_run(model, choices, laps=laps, most=most)
    except not_carried():
        return None

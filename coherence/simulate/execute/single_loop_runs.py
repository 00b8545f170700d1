"""Runs one loop alone from every initial value and every phase relative to the other clocks.

Of one loop alone the phase does not matter, unless a sensor scrapes at times of its own: the order of samples and
scrapes, and with it the run, is then another for other phases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Name
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.lookback import parts_of
from coherence.simulate.execute.open_ranges import one_ended
from coherence.simulate.execute.orbits import LongRun, long_run
from coherence.simulate.execute.schedules import NotCommensurateError, every_phase
from coherence.simulate.execute.starts import finite

QUIET_LAPS, QUIET_INSTANTS = 160, 2_000  # of a run in which nothing changes
SEVERAL = "phases of several loops"


@dataclass(frozen=True)
class Rests:
    """How many starts there are (0: the time is over), and the run of each under every phase that matters."""

    starts: int
    runs: tuple[LongRun, ...]

    def render(self) -> str:
        """Returns the starts in words."""
        return render_starts(self.starts)


def every_rest(model: Model, *, laps: int, most: int, starts: int, late: Callable[[], bool] = lambda: False) -> Rests:
    """Returns the runs of a model of one loop without states, if every one of them settles.

    Raises NotExactError where a run does not settle, or a fact is a range that runs read at one end.
    """
    runs: list[LongRun] = []
    seen = set()
    for choices in every(model, starts):
        if late():
            return Rests(0, ())
        runs.append(_settled(model, choices, laps, most))
        seen.add(tuple(sorted(choices.values.items())))
    return Rests(len(seen), tuple(runs))


def _settled(model: Model, choices: Choices, laps: int, most: int) -> LongRun:
    run = long_run(model, choices, laps=laps, most=most)
    if run.orbit is None or not run.orbit.exact or not run.orbit.still:
        raise NotExactError("a start that does not settle exactly")
    return run


def every(model: Model, most: int) -> Iterator[Choices]:
    """Yields every start with every order of samples and scrapes.

    Raises NotExactError where these are not finitely many, or more than `most`, and MissingValueError.
    """
    if len(model.loops) > 1 or model.states:
        raise NotExactError(SEVERAL if len(model.loops) > 1 else "not every initial state")
    if facts := one_ended(model):
        raise NotExactError(f"needs one value of {', '.join(facts)}")
    starts = list(finite(model, most))
    try:
        phases = list(every_phase(model)) if model.loops else [{}]
    except NotCommensurateError as error:
        if not all(_quiet(model, start) for start in starts):
            raise NotExactError(str(error)) from None
        phases = [{}]
    if len(starts) * len(phases) > most:
        raise NotExactError(f"{len(starts)} starts in {len(phases)} phases are more than {most}")
    for start in starts:
        for chosen in phases:
            yield Choices(start.values, {name: phase for name, phase in chosen.items() if phase}, start.order)


def _quiet(model: Model, start: Choices) -> bool:
    """Does nothing ever change?  Then every phase reads the same."""
    modes = {loop.name for loop in model.loops}
    if parts_of(model, lambda part: isinstance(part, Name) and part.path in modes):
        return False  # that a loop is triggered is read, and it is from its first sample on only
    run = long_run(model, start, laps=QUIET_LAPS, most=QUIET_INSTANTS)
    if not run.instants:
        return False  # none of its instants was reached
    rest = run.instants[0].after
    still = all(not i.actions and i.after == rest for i in run.instants)
    return run.orbit is not None and run.orbit.exact and still


def render_runs(runs: list[Choices]) -> str:
    """Returns the number of runs in words: starts and phases."""
    starts = len({tuple(sorted(run.values.items())) for run in runs})
    phases = len(runs) // max(starts, 1)
    return f"{render_starts(starts)} in {phases} phases" if phases > 1 else render_starts(starts)


def render_starts(count: int) -> str:
    """Returns that all starts were run, in words."""
    return "its only start" if count == 1 else f"all {count} starts"

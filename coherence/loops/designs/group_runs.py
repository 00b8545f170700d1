"""Runs a group exactly from the ends of its ranges within a time limit: the design's own verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from coherence.base.watchdog import TimeOverError
from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.feedback_groups import Deadline, OutOfTimeError
from coherence.loops.designs.groups import LAPS, LONGER, MOST_INSTANTS, MOST_STARTS
from coherence.loops.designs.range_rests import StillSwingingError, rests_in_range
from coherence.model.model import Model
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.exact import Choices, Instant, MissingValueError
from coherence.simulate.execute.orbits import FollowedRun, LongRun
from coherence.simulate.execute.single_loop_runs import every, render_runs
from coherence.simulate.execute.starts import corners


@dataclass(frozen=True)
class RunVerdict:
    """What exact execution says.

    `verdict`: oscillates, settles, undecided.  `period` in s and `ranges` (signal -> lowest, highest) of an
    oscillation; `proved`: of every start, not only of those that were run; `how` in words; `run` is the one to show.
    `ends`: where each run came to rest (None: it did not).  `choices`: of the oscillation, where `run` shows none.
    """

    verdict: str
    how: str
    proved: bool
    period: Fraction | None
    ranges: Mapping[str, tuple[Fraction, Fraction]]
    run: LongRun | None
    ends: tuple[Mapping[str, Fraction] | None, ...]
    starts: int
    choices: Choices | None = None

    @property
    def shown(self) -> Choices | None:
        """Returns the choices under which it oscillates."""
        known = self.choices or (self.run.choices if self.run is not None else None)
        return known if self.verdict == "oscillates" else None


@dataclass(frozen=True)
class RestingCommand:
    """How a command came to rest in the run that is shown: where it began, how far it went, and its last change (s)."""

    signal: str
    first: Fraction
    lowest: Fraction
    highest: Fraction
    at: Fraction
    seconds: Fraction


def rests(answer: RunVerdict, signals: Iterable[str]) -> tuple[RestingCommand, ...]:
    """Returns how each of these commands came to rest; nothing where no run comes to rest in finite time."""
    run = answer.run
    if answer.verdict != "settles" or run is None or run.orbit is None or not run.orbit.exact:
        return ()
    return tuple(_rest(run.instants, signal) for signal in dict.fromkeys(signals))


def _rest(instants: Sequence[Instant], signal: str) -> RestingCommand:
    seen = [(i.time, plain(side[signal])) for i in instants for side in (i.sampled, i.after)]
    values = [value for _, value in seen]
    changes = [time for (_, before), (time, value) in pairwise(seen) if value != before]
    seconds = changes[-1] if changes else Fraction(0)
    return RestingCommand(signal, values[0], min(values), max(values), values[-1], seconds)


def long_run(
    model: Model, choices: Choices, deadline: Deadline, *, laps: int = LAPS, most: int = MOST_INSTANTS
) -> LongRun:
    """Runs as `orbits.long_run` does, but gives up at the deadline.  Raises OutOfTimeError."""
    return _followed(FollowedRun(model, choices), deadline, laps, most)


def _followed(run: FollowedRun, deadline: Deadline, laps: int, most: int = MOST_INSTANTS) -> LongRun:
    """Follows a run up to the deadline.  Raises OutOfTimeError."""
    try:
        with deadline.ending():  # the numbers of one instant may be too long to end in time
            return run.until(laps, most, deadline.check)
    except TimeOverError:
        raise OutOfTimeError from None


def pushed(model: Model) -> Iterator[Choices]:
    """Yields starts with every command at the lower, then at the upper end of what its loops may write."""
    nominal = next(corners(model))
    for side in (0, 1):
        values = dict(nominal.values)
        for loop in model.loops:
            end = (loop.bounds.low, loop.bounds.high)[side]
            if loop.signal and end is not None:
                values[loop.signal] = end
        if values != dict(nominal.values):
            yield Choices(values, nominal.phases, nominal.order)


def from_bounds(model: Model, signals: Sequence[str], deadline: Deadline) -> RunVerdict:
    """Runs as `executed` does, from the ends of the bounds: what a disturbance may leave behind."""
    runs: list[LongRun] = []
    try:
        for choices in pushed(model):
            runs.append(long_run(model, choices, deadline))
            if turning(runs[-1], signals):
                return _swings(runs, signals)
    except (NotExactError, MissingValueError, ValueError) as error:
        return _none(runs, _reason(error))
    if not runs or not all(run.orbit is not None for run in runs):
        return _none(runs, _growing(runs, signals) if runs else "no bounds to start from")
    return RunVerdict(
        "settles", _tried(runs, "the ends of its bounds"), False, None, {}, runs[0], tuple(map(_end, runs)), len(runs)
    )


def turning(run: LongRun, signals: Iterable[str]) -> bool:
    """Decides whether one of the signals keeps changing direction for ever."""
    return run.orbit is not None and any(run.orbit.turns(signal) for signal in signals)


def executed(
    model: Model, signals: Sequence[str], deadline: Deadline, *, every_start: bool = True, laps: int = LAPS
) -> RunVerdict:
    """Returns the verdict on a model; `signals` are the commands that may oscillate."""
    runs: list[LongRun] = []
    followed: list[FollowedRun] = []
    try:
        for choices in corners(model):
            followed.append(FollowedRun(model, choices))
            runs.append(_followed(followed[-1], deadline if not runs else deadline.share(0.7), laps))
            if turning(runs[-1], signals):
                return _swings(runs, signals)
        if runs and all(run.orbit is None for run in runs):
            runs[0] = _longer(followed[0], runs[0], deadline, laps)
            if turning(runs[0], signals):
                return _swings(runs[:1], signals)
    except (NotExactError, MissingValueError, ValueError) as error:
        return _none(runs, _reason(error))
    if not all(run.orbit is not None for run in runs):
        return _none(runs, _growing(runs, signals))
    ran, why, other = _every(model, signals, deadline) if every_start else ("", "the ends of its ranges", None)
    if other is not None:
        return _swings([*runs, other], signals)
    how = f"from {ran}" if ran else _tried(runs, why)
    return RunVerdict("settles", how, bool(ran), None, {}, runs[0], tuple(map(_end, runs)), len(runs))


def _longer(followed: FollowedRun, run: LongRun, deadline: Deadline, laps: int) -> LongRun:
    """Returns the run over more laps, where its numbers stay short enough and there is time; else the run."""
    try:
        return _followed(followed, deadline, LONGER * laps)
    except (NotExactError, OutOfTimeError):
        return run


def _tried(runs: Sequence[LongRun], why: str) -> str:
    return f"from {len(runs)} start{'s' if len(runs) > 1 else ''} tried ({why})"


def _swings(runs: list[LongRun], signals: Sequence[str]) -> RunVerdict:
    orbit = runs[-1].orbit
    assert orbit is not None
    moving = [s for s in dict.fromkeys((*signals, *orbit.lap[0].after)) if s in orbit.lap[0].after]
    numbers = [s for s in moving if not isinstance(orbit.lap[0].after[s], bool)]
    ranges = {signal: orbit.range_of(signal) for signal in numbers if orbit.turns(signal)}
    how = "exact run to a recurrence" if orbit.exact else "exact run, rational orbit that attracts"
    return RunVerdict("oscillates", how, True, orbit.period, ranges, runs[-1], tuple(map(_end, runs)), len(runs))


def _none(runs: list[LongRun], why: str) -> RunVerdict:
    run = runs[-1] if runs else None
    return RunVerdict("undecided", why, False, None, {}, run, tuple(map(_end, runs)), len(runs))


def _reason(error: Exception) -> str:
    if isinstance(error, OutOfTimeError):
        return str(error)
    return f"needs {error}" if isinstance(error, MissingValueError) else f"not exact: {error}"


def _growing(runs: list[LongRun], signals: Sequence[str]) -> str:
    run = next(run for run in runs if run.orbit is None)
    late = run.instants[2 * len(run.instants) // 3 :]
    if late and not any(action.signal in signals for instant in late for action in instant.actions):
        states = [p for p, v in late[0].after.items() if not isinstance(v, bool) and late[-1].after[p] != v]
        if states:
            return f"commands come to rest, {', '.join(states)} does not"
    return "no recurrence within the laps that were run"


def _end(run: LongRun) -> Mapping[str, Fraction] | None:
    orbit = run.orbit
    if orbit is None or any(action for instant in orbit.lap for action in instant.actions):
        return None
    return {p: plain(v) for p, v in orbit.lap[-1].after.items() if not isinstance(v, bool)}


def _every(model: Model, signals: Sequence[str], deadline: Deadline) -> tuple[str, str, LongRun | None]:
    """Returns every start in words, if all of them settle; else the reason, and a run that swings if one does."""
    if len(model.loops) > 1:
        return "", "other phases were not run", None
    settled = []
    try:
        if any(not constant.range.exact for constant in model.constants.values()):
            return _every_value(model, signals, deadline)
        for choices in every(model, MOST_STARTS):
            run = long_run(model, choices, deadline)
            if turning(run, signals):
                return "", "", run
            if run.orbit is None or not run.orbit.exact:
                return "", "not every start recurs", None
            settled.append(choices)
    except (NotExactError, MissingValueError) as error:
        return "", str(error), None
    return render_runs(settled), "", None


def _every_value(model: Model, signals: Sequence[str], deadline: Deadline) -> tuple[str, str, LongRun | None]:
    """Returns what `_every` does, for every value of the one constant that is a range.  Raises NotExactError."""
    try:
        rests = rests_in_range(
            model, laps=LAPS, most=MOST_INSTANTS, starts=MOST_STARTS, late=lambda: deadline.left <= 0
        )
    except StillSwingingError as error:
        swings = turning(error.run, signals)
        return "", "" if swings else "not every start recurs", error.run if swings else None
    if rests is None:
        return "", "the time limit", None
    return rests.render(), "", None

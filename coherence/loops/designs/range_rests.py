"""Shows that a loop settles for every value of one open range: follows its runs with the value as a parameter.

The run at a sample of the range decides by comparisons; wherever in the range these turn out as at the sample, the run
is the same but for numbers that are functions of the value.  So finitely many samples stand for the whole range where
the intervals around them fill it.  A run recurs where its configurations are equal as functions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from coherence.base.solver import joined
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.lower_smt import real, symbol
from coherence.model.model import Interval, Model
from coherence.simulate.execute.exact import Choices, Execution, Instant
from coherence.simulate.execute.lookback import durations
from coherence.simulate.execute.orbits import LongRun, Orbit, end_of, hyperperiod, long_run
from coherence.simulate.execute.parametric_numbers import BranchRecord, Poly, Stretch, reach_of
from coherence.simulate.execute.schedules import NotCommensurateError, schedules
from coherence.simulate.execute.single_loop_runs import every, render_starts

MOST_SAMPLES = 1_000  # of the range, over all starts
FEW = 3  # starts whose samples say how many all of them will take; fewer do where they say far too many
RELATIONS = {
    frozenset({-1}): "<", frozenset({-1, 0}): "<=", frozenset({0}): "=", frozenset({0, 1}): ">=", frozenset({1}): ">",
}  # fmt: skip


class StillSwingingError(NotExactError):
    """Raised where a run does not settle at some value of the range: `run`."""

    def __init__(self, run: LongRun) -> None:
        super().__init__("a start that does not settle exactly")
        self.run = run


@dataclass(frozen=True)
class SampleRun:
    """A run at one value of the range, and the values for which it takes the same steps, by these signs."""

    run: LongRun
    reach: Stretch
    decisions: BranchRecord


@dataclass(frozen=True)
class RangeRests:
    """The constant whose range is filled, how many starts there are, and the runs that stand for all values."""

    path: str
    span: Interval
    starts: int
    samples: tuple[tuple[SampleRun, ...], ...]  # of each start

    @property
    def runs(self) -> tuple[LongRun, ...]:
        """Returns the runs at all samples."""
        return tuple(sample.run for samples in self.samples for sample in samples)

    def render(self) -> str:
        """Returns starts and values in words."""
        values = "1 value that stands" if len(self.runs) == 1 else f"{len(self.runs)} values that stand"
        return f"{render_starts(self.starts)} at {values} for all of {self.path}"

    def script(self) -> str:
        """Returns the claims that the samples of each start fill the range, and that their signs hold around them."""
        return joined([_filled(self.path, self.span, samples) for samples in self.samples])


def open_constant(model: Model) -> str:
    """Returns the only constant of a model that is an unknown number of a range.  Raises NotExactError."""
    open_ = [path for path, c in model.constants.items() if not c.range.exact or c.varies]
    (path, *others) = open_ or [""]
    if not path or others:
        raise NotExactError(f"{' and '.join(open_)} are ranges" if others else "no range")
    constant = model.constants[path]
    if constant.varies or constant.range.low is None or constant.range.high is None or path in durations(model):
        raise NotExactError(f"{path} is a range of reals")
    return path


def rests_in_range(
    model: Model, *, laps: int, most: int, starts: int, late: Callable[[], bool] = lambda: False
) -> RangeRests | None:
    """Returns the runs that stand for every value of the one open range, if all settle; None where time is over.

    Raises NotExactError, StillSwingingError.
    """
    path = open_constant(model)
    span = model.constants[path].range
    assert span.low is not None
    try:
        list(schedules(model))
    except NotCommensurateError as error:
        raise NotExactError(str(error)) from None
    low = replace(model.constants[path], range=Interval(span.low, span.low))
    choices = list(every(replace(model, constants={**model.constants, path: low}), starts))
    samples: list[tuple[SampleRun, ...]] = []
    for start in choices:
        left = MOST_SAMPLES - sum(map(len, samples))
        own = tuple(itertools.islice(_samples(model, path, start, laps, most, late), left))
        if late():
            return None
        samples.append(own)
        expected = sum(map(len, samples)) * len(choices) / len(samples)
        if len(own) == left or (len(samples) <= FEW and expected * len(samples) > MOST_SAMPLES * FEW):
            raise NotExactError(f"more than {MOST_SAMPLES} values of {path} stand for its range")
    return RangeRests(path, span, len({tuple(sorted(start.values.items())) for start in choices}), tuple(samples))


def _samples(
    model: Model, path: str, start: Choices, laps: int, most: int, late: Callable[[], bool]
) -> Iterator[SampleRun]:
    """Yields samples until the intervals around them fill the range."""
    span = model.constants[path].range
    assert span.low is not None
    assert span.high is not None
    waiting = [Stretch(span.low, span.high)]
    while waiting and not late():
        part = waiting.pop()
        sample = _sampled(model, path, start, part, laps, most)
        waiting += [rest for rest in (part.left_of(sample.reach), part.right_of(sample.reach)) if not rest.is_empty]
        yield sample


def _sampled(model: Model, path: str, start: Choices, part: Stretch, laps: int, most: int) -> SampleRun:
    decisions = BranchRecord((part.low + part.high) / 2)
    at = replace(start, values={**start.values, path: decisions.sample})
    along = replace(start, values={**start.values, path: decisions.parameter()})
    if not _settles(model, along, laps, most):
        raise StillSwingingError(long_run(model, at, laps=laps, most=most))
    run = long_run(model, at, laps=laps, most=most)
    if run.orbit is None or not run.orbit.exact or not run.orbit.still:
        raise StillSwingingError(run)
    return SampleRun(run, reach_of(decisions, part), decisions)


def _settles(model: Model, choices: Choices, laps: int, most: int) -> bool:
    """Decides whether a run comes to rest, its numbers compared as functions of the parameter."""
    run, whole = Execution(model, choices), hyperperiod(model)
    instants: list[Instant] = []
    seen: dict[tuple[Any, ...], int] = {}
    end = end_of(run, whole * laps)
    while len(instants) < most and (due := run.next_time()) <= end:
        key = run.configuration(whole) if run.count else None
        if key is not None and key in seen:
            lap = tuple(instants[seen[key] :])
            return Orbit(lap[0].time, Fraction(0), lap, True, Fraction(0)).still
        if key is not None:
            seen[key] = len(instants)
        instants.append(run.advance(due))
    return False


# -- the script -------------------------------------------------------------------------------------------


def _filled(path: str, span: Interval, samples: tuple[SampleRun, ...]) -> str:
    assert span.low is not None
    assert span.high is not None
    name = symbol(path)
    claims = [f"(or {' '.join(_inside(name, sample.reach) for sample in samples)})"]
    claims += [f"(=> {_inside(name, sample.reach)} (and true {' '.join(_signs(name, sample))}))" for sample in samples]
    return (
        f"(set-logic QF_NRA)\n(declare-const {name} Real)\n"
        f"(assert (and (<= {real(span.low)} {name}) (<= {name} {real(span.high)})))\n"
        f"(assert (not (and {' '.join(claims)})))\n(check-sat)\n"
    )


def _inside(name: str, reach: Stretch) -> str:
    low, high = ("<=" if reach.with_low else "<"), ("<=" if reach.with_high else "<")
    return f"(and ({low} {real(reach.low)} {name}) ({high} {name} {real(reach.high)}))"


def _signs(name: str, sample: SampleRun) -> Iterator[str]:
    for condition in sample.decisions.conditions:
        yield f"({RELATIONS[condition.signs]} {_polynomial(name, condition.poly)} 0.0)"


def _polynomial(name: str, poly: Poly) -> str:
    """Returns a polynomial by Horner's rule."""
    term = real(poly[-1])
    for coefficient in reversed(poly[:-1]):
        term = f"(+ {real(coefficient)} (* {name} {term}))"
    return term

"""Shows that a loop settles for every value of one open range, or of two: follows its runs with values as parameters.

The run at a sample of the range decides by comparisons; wherever in the range these turn out as at the sample, the run
is the same but for numbers that are functions of the value.  So finitely many samples stand for the whole range where
the intervals around them fill it.  A run recurs where its configurations are equal as functions.

Of two ranges each sample stands for a part of the rectangle, in which its comparisons keep their signs.  Samples are
taken where no part is: of a lattice first, then of what the solver finds, until it shows that the parts fill it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from coherence.base.solver import Outcome, joined, unsat
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.lower_smt import real, symbol
from coherence.model.model import Interval, Model
from coherence.simulate.execute.exact import Choices, Execution, Instant
from coherence.simulate.execute.lookback import durations
from coherence.simulate.execute.orbits import LongRun, Orbit, end_of, hyperperiod, long_run
from coherence.simulate.execute.parametric_numbers import (
    WIDTH,
    BranchRecord,
    PlaneRecord,
    Poly,
    SignRecord,
    Stretch,
    reach_of,
)
from coherence.simulate.execute.schedules import NotCommensurateError, every_phase
from coherence.simulate.execute.single_loop_runs import every, render_starts

MOST_SAMPLES = 1_000  # of the range, over all starts
MOST_PARTS = 200  # of two ranges, of each start
LATTICE = 8  # parts of each of two ranges between values that are asked before the solver is
SOLVER_MS = 5_000  # of one question
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
class PartRun:
    """A run at a value of each of two ranges, which takes the same steps wherever these signs hold."""

    run: LongRun
    decisions: PlaneRecord


@dataclass(frozen=True)
class RangeRests:
    """The constants whose ranges are filled, how many starts there are, and the runs that stand for all values."""

    spans: Mapping[str, Interval]
    starts: int
    samples: tuple[tuple[SampleRun, ...] | tuple[PartRun, ...], ...]  # of each start

    @property
    def runs(self) -> tuple[LongRun, ...]:
        """Returns the runs at all samples."""
        return tuple(sample.run for samples in self.samples for sample in samples)

    @property
    def assumed(self) -> str:
        """Returns what the ranges are taken for."""
        one = "is one unknown constant of its range"
        return f"{' and '.join(self.spans)} {one if len(self.spans) == 1 else one.replace('is', 'are each', 1)}"

    def render(self) -> str:
        """Returns starts and values in words."""
        values = "1 value that stands" if len(self.runs) == 1 else f"{len(self.runs)} values that stand"
        return f"{render_starts(self.starts)} at {values} for all of {' and '.join(self.spans)}"

    def script(self) -> str:
        """Returns the claims that the samples of each start fill the range, and that their signs hold around them."""
        return joined([_filled(self.spans, samples) for samples in self.samples])


def open_constants(model: Model) -> tuple[str, ...]:
    """Returns the constant of a model that is an unknown number of a range, or both.  Raises NotExactError."""
    open_ = tuple(path for path, c in model.constants.items() if not c.range.exact or c.varies)
    if not 1 <= len(open_) <= 2:
        raise NotExactError(f"{' and '.join(open_)} are ranges" if open_ else "no range")
    for path in open_:
        constant = model.constants[path]
        if constant.varies or constant.range.low is None or constant.range.high is None or path in durations(model):
            raise NotExactError(f"{path} is a range of reals")
    return open_


def rests_in_range(
    model: Model, *, laps: int, most: int, starts: int, late: Callable[[], bool] = lambda: False
) -> RangeRests | None:
    """Returns the runs that stand for every value of the open ranges, if all settle; None where time is over.

    Raises NotExactError, StillSwingingError.
    """
    paths = open_constants(model)
    spans = {path: model.constants[path].range for path in paths}
    try:
        list(every_phase(model))
    except NotCommensurateError as error:
        raise NotExactError(str(error)) from None
    low = {path: replace(model.constants[path], range=Interval(span.low, span.low)) for path, span in spans.items()}
    choices = list(every(replace(model, constants={**model.constants, **low}), starts))
    samples: list[tuple[SampleRun, ...] | tuple[PartRun, ...]] = []
    for start in choices:
        left = MOST_SAMPLES - sum(map(len, samples))
        if len(paths) == 2:
            samples.append(tuple(_parts(model, paths, start, laps, most, late)))
        else:
            samples.append(tuple(itertools.islice(_samples(model, paths[0], start, laps, most, late), left)))
        if late():
            return None
        own, expected = len(samples[-1]), sum(map(len, samples)) * len(choices) / len(samples)
        full = len(paths) == 1 and own == left
        if full or (len(samples) <= FEW and expected * len(samples) > MOST_SAMPLES * FEW):
            raise NotExactError(f"more than {MOST_SAMPLES} values of {' and '.join(paths)} stand for its range")
    return RangeRests(spans, len({tuple(sorted(start.values.items())) for start in choices}), tuple(samples))


def _samples(
    model: Model, path: str, start: Choices, laps: int, most: int, late: Callable[[], bool]
) -> Iterator[SampleRun]:
    """Yields samples until the intervals around them fill the range."""
    waiting = [Stretch(*_ends(model.constants[path].range))]
    while waiting and not late():
        part = waiting.pop()
        decisions = BranchRecord((part.low + part.high) / 2)
        run = _resting(model, start, {path: decisions.sample}, {path: decisions.parameter()}, laps, most)
        sample = SampleRun(run, reach_of(decisions, part), decisions)
        waiting += [rest for rest in (part.left_of(sample.reach), part.right_of(sample.reach)) if not rest.is_empty]
        yield sample


def _parts(
    model: Model, paths: tuple[str, ...], start: Choices, laps: int, most: int, late: Callable[[], bool]
) -> Iterator[PartRun]:
    """Yields samples of two ranges until the parts for which they stand fill the rectangle."""
    spans = {path: model.constants[path].range for path in paths}
    waiting, known = list(_lattice(*(_ends(span) for span in spans.values()))), list[PlaneRecord]()
    while not late():
        point = waiting[0] if waiting else _outside(spans, known)
        if point is None:
            return
        if len(known) == MOST_PARTS:
            raise NotExactError(f"more than {MOST_PARTS} values of {' and '.join(paths)} stand for their ranges")
        decisions = PlaneRecord(point)
        along = dict(zip(paths, decisions.parameters(), strict=True))
        run = _resting(model, start, dict(zip(paths, point, strict=True)), along, laps, most)
        known.append(decisions)
        waiting = [other for other in waiting if not decisions.holds_at(other)]
        yield PartRun(run, decisions)


def _lattice(*ends: tuple[Fraction, Fraction]) -> Iterator[tuple[Fraction, Fraction]]:
    """Yields points of a rectangle: those inside of all its cells first."""
    for first in (1, 0):
        steps = range(first, 2 * LATTICE + 1, 2)
        (left, right), (low, high) = ends
        for i, j in itertools.product(steps, steps):
            yield left + (right - left) * i / (2 * LATTICE), low + (high - low) * j / (2 * LATTICE)


def _outside(spans: Mapping[str, Interval], known: Sequence[PlaneRecord]) -> tuple[Fraction, Fraction] | None:
    """Returns values that lie in no part; None where the parts fill the rectangle.  Raises NotExactError."""
    names = [symbol(path) for path in spans]
    answer = unsat(_script(spans, [f"(not {_all(names, decisions)})" for decisions in known]), timeout_ms=SOLVER_MS)
    if answer.unsat:
        return None
    values = dict(line.split(" = ", 1) for line in answer.model.splitlines()) if answer.outcome is Outcome.SAT else {}
    try:
        x, y = (Fraction(values[name.strip("|")]) for name in names)
    except (KeyError, ValueError):
        raise NotExactError("where its runs turn is no rational number, or not found") from None
    return x, y


def _ends(span: Interval) -> tuple[Fraction, Fraction]:
    assert span.low is not None
    assert span.high is not None
    return span.low, span.high


def _resting(
    model: Model, start: Choices, at: Mapping[str, Fraction], along: Mapping[str, Any], laps: int, most: int
) -> LongRun:
    """Returns the run at some values, once it rests as a function of them.  Raises StillSwingingError."""
    rests = _settles(model, replace(start, values={**start.values, **along}), laps, most)
    run = long_run(model, replace(start, values={**start.values, **at}), laps=laps, most=most)
    if not rests or run.orbit is None or not run.orbit.exact or not run.orbit.still:
        raise StillSwingingError(run)
    return run


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


def _filled(spans: Mapping[str, Interval], samples: Sequence[SampleRun | PartRun]) -> str:
    names = [symbol(path) for path in spans]
    parts = [sample for sample in samples if isinstance(sample, PartRun)]
    if parts:
        return _script(spans, [f"(not {_all(names, part.decisions)})" for part in parts])
    reaches = {id(s): _inside(names[0], s.reach) for s in samples if isinstance(s, SampleRun)}
    claims = [f"(or {' '.join(reaches.values())})"]
    claims += [f"(=> {reaches[id(sample)]} {_all(names, sample.decisions)})" for sample in samples]
    return _script(spans, [f"(not (and {' '.join(claims)}))"])


def _script(spans: Mapping[str, Interval], claims: Sequence[str]) -> str:
    """Returns the question whether values of the ranges meet all these claims."""
    lines = ["(set-logic QF_NRA)"]
    for path, span in spans.items():
        name, (low, high) = symbol(path), _ends(span)
        lines.append(f"(declare-const {name} Real)")
        lines.append(f"(assert (and (<= {real(low)} {name}) (<= {name} {real(high)})))")
    return "\n".join([*lines, *(f"(assert {claim})" for claim in claims), "(check-sat)\n"])


def _inside(name: str, reach: Stretch) -> str:
    low, high = ("<=" if reach.with_low else "<"), ("<=" if reach.with_high else "<")
    return f"(and ({low} {real(reach.low)} {name}) ({high} {name} {real(reach.high)}))"


def _all(names: Sequence[str], decisions: SignRecord) -> str:
    """Returns that all signs are those on which a run has depended."""
    signs = (f"({RELATIONS[c.signs]} {_polynomial(names, c.poly)} 0.0)" for c in decisions.conditions)
    return f"(and true {' '.join(signs)})"


def _polynomial(names: Sequence[str], poly: Poly) -> str:
    """Returns a polynomial of one name or of two, by Horner's rule."""
    if len(names) == 1:
        return _horner(names[0], [real(coefficient) for coefficient in poly])
    rows = [[real(coefficient) for coefficient in poly[k : k + WIDTH]] for k in range(0, len(poly), WIDTH)]
    return _horner(names[1], [_horner(names[0], row) for row in rows])


def _horner(name: str, terms: Sequence[str]) -> str:
    term = terms[-1]
    for coefficient in reversed(terms[:-1]):
        term = f"(+ {coefficient} (* {name} {term}))"
    return term

"""Predicts replicas, for every value of the thresholds that nobody measured.

An unknown threshold is a constant with a range that a state is compared with (`age >= counted`).  A loop sees it at
its own samples only, so it is enough to decide, at each sample at which the state stands inside the range, whether the
threshold has been reached: the runs branch there, and runs that agree in everything that decides their future are one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.base.errors import InputError, Problem
from coherence.language.expressions.tree import Compare, Name, walk
from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.exact import Choices, Execution

MOST_RUNS = 2_000  # at one time; beyond, branches are dropped and the answer says so

Trajectory = tuple[tuple[Fraction, int], ...]


@dataclass(frozen=True)
class Threshold:
    """`state >= constant`, and the range in which the constant lies."""

    state: str
    constant: str
    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class ReplicaPrediction:
    """What the status of an autoscaler shows: (time, replicas), each time the replicas are others than before.

    `nominal`: every unknown at the upper end of its range.  `possible`: every trajectory that the unknown thresholds
    leave open; unknowns that are no thresholds are tried at the ends of their ranges, a phase that is not stated at
    every whole second.  `complete` is false where there were too many runs to follow.
    """

    nominal: Trajectory
    possible: tuple[Trajectory, ...]
    unknowns: tuple[str, ...]
    complete: bool

    @property
    def sequences(self) -> tuple[tuple[int, ...], ...]:
        """The different sequences of replicas, the nominal one first."""
        every = [values_of(self.nominal), *sorted({values_of(one) for one in self.possible})]
        return tuple(dict.fromkeys(every))


def values_of(trajectory: Iterable[tuple[Any, int]]) -> tuple[int, ...]:
    """Returns the replicas without their times."""
    return tuple(replicas for _, replicas in trajectory)


def predict(model: Model, *, until: Fraction) -> ReplicaPrediction:
    """Returns the replicas that the autoscaler of a design shows.  Raises InputError where there is no such loop."""
    if model.gaps:
        raise InputError(Problem(gap.place, f"needs {gap.needs}", "add it") for gap in model.gaps)
    scaler, limits, unknown = autoscaler_of(model), thresholds(model), _unknown(model)
    highest = {path: model.constants[path].range.high or Fraction(0) for path in unknown}
    others = [path for path in unknown if path not in {limit.constant for limit in limits}]
    starts = [
        Choices({**highest, **dict(zip(others, ends, strict=True))}, {scaler.name: phase})
        for phase in _phases(scaler)
        for ends in itertools.product(*(_ends(model, path) for path in others))
    ]
    followed = [_branched(model, choices, scaler, limits, until) for choices in starts]
    nominal = _shown(model, Choices(highest, {scaler.name: _phases(scaler)[0]}), scaler, until)
    possible = {trajectory for shown, _ in followed for trajectory in shown}
    free = [f"phase of {scaler.name}"] if scaler.phase is None else []
    return ReplicaPrediction(nominal, tuple(sorted(possible)), (*unknown, *free), all(whole for _, whole in followed))


def autoscaler_of(model: Model) -> SampledLoop:
    """The loop with an upper bound that writes again and again (the last declared of several).  Raises InputError."""
    bounded = [loop for loop in model.loops if loop.bounds.high is not None and loop.mode != "once"]
    if not bounded:
        place = next(iter(model.design.loops.values())).place
        raise InputError([Problem(place, "no loop with bounds: nothing here is an autoscaler", "add one")])
    return bounded[-1]


def thresholds(model: Model) -> tuple[Threshold, ...]:
    """Returns every comparison `state >= constant` of an output where the constant has a range."""
    trees = (node for tree in model.outputs.values() for node in walk(tree))
    made = (_threshold(model, node) for node in trees if isinstance(node, Compare) and node.op == ">=")
    return tuple(dict.fromkeys(one for one in made if one is not None))


def _threshold(model: Model, node: Compare) -> Threshold | None:
    if not (isinstance(node.left, Name) and isinstance(node.right, Name)):
        return None
    state, constant = node.left.path, model.constants.get(node.right.path)
    if state not in model.states or constant is None or constant.range.exact:
        return None
    low, high = constant.range.low, constant.range.high
    return None if low is None or high is None else Threshold(state, constant.path, low, high)


def _unknown(model: Model) -> list[str]:
    return [path for path, constant in model.constants.items() if not constant.range.exact]


def _ends(model: Model, path: str) -> list[Fraction]:
    span = model.constants[path].range
    return [end for end in (span.low, span.high) if end is not None]


def _phases(scaler: SampledLoop) -> list[Fraction]:
    """Returns the stated one, or every whole second of the period."""
    return [Fraction(n) for n in range(math.ceil(scaler.period))] if scaler.phase is None else [scaler.phase]


def _samples(run: Execution, scaler: SampledLoop, until: Fraction) -> Iterator[Fraction]:
    moment = run.phase_of(scaler)
    while moment <= until:
        yield moment
        moment += scaler.period


def _shown(model: Model, choices: Choices, scaler: SampledLoop, until: Fraction) -> Trajectory:
    run = Execution(model, choices)
    shown: Trajectory = ()
    for moment in _samples(run, scaler, until):
        shown = _sample(run, moment, scaler.signal, shown)
    return shown


def _sample(run: Execution, moment: Fraction, signal: str, shown: Trajectory) -> Trajectory:
    """Run through the sample at `moment`; what it found there, if that is new, is shown from then on."""
    while run.next_time() < moment:
        run.advance()
    replicas = int(run.advance().sampled[signal])
    return shown if shown and shown[-1][1] == replicas else (*shown, (moment, replicas))


def _branched(
    model: Model, choices: Choices, scaler: SampledLoop, limits: Sequence[Threshold], until: Fraction
) -> tuple[list[Trajectory], bool]:
    first = Execution(model, choices)
    live: list[tuple[Execution, Trajectory]] = [(first, ())]
    complete = True
    for moment in _samples(first, scaler, until):
        following: dict[Any, tuple[Execution, Trajectory]] = {}
        for run, shown in live:
            for branch in _branches(run, moment, limits):
                after = _sample(branch, moment, scaler.signal, shown)
                following.setdefault(_future(branch, after, limits), (branch, after))
        live = list(following.values())[:MOST_RUNS]
        complete = complete and len(following) <= MOST_RUNS
    return [shown for _, shown in live], complete


def _branches(run: Execution, moment: Fraction, limits: Sequence[Threshold]) -> Iterator[Execution]:
    """Yields the run as it stands before the sample, once for every set of thresholds that it may find reached."""
    while run.next_time() < moment:
        run.advance()
    for threshold in limits:
        if run.values[threshold.state] < threshold.low:  # a new life of the state: nothing is decided yet
            run.values[threshold.constant] = threshold.high
    opened = [
        threshold
        for threshold in limits
        if threshold.low <= run.values[threshold.state] < run.values[threshold.constant]
    ]
    for size in range(len(opened) + 1):
        for reached in itertools.combinations(opened, size):
            branch = run.copy()
            branch.values |= {threshold.constant: run.values[threshold.state] for threshold in reached}
            yield branch


def _future(run: Execution, shown: Trajectory, limits: Sequence[Threshold]) -> Any:
    """Returns what decides the rest of the run, and what it has shown: equal keys have equal trajectories."""
    decided = {limit.constant: run.values[limit.state] >= run.values[limit.constant] for limit in limits}
    memory = tuple(run.memory[loop.name].relative(run.time, loop, run.longest) for loop in run.model.loops)
    values = tuple({**run.values, **decided}.values())
    seen = () if run.horizon is None else run.configuration(run.time + 1)  # some expression looks back: no short cut
    return shown, values, tuple(run.modes.values()), tuple(run.commanded.values()), memory, tuple(run.pending), seen

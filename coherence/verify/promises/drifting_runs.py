"""Follows runs whose values grow for ever by as much in each lap: a lap from c + s d ends at c + (s + 1) d.

A lap is executed with its numbers as functions of s.  Where every comparison on which it depends has one outcome for
all s from 0 on, and the lap adds d to each number, all later laps take the same steps: by induction over the laps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.lower_smt import real
from coherence.language.expressions.tree import Call, Held, Tree, walk
from coherence.model.model import Model
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.certificates.run_frames import CLOCK
from coherence.simulate.execute.exact import Execution
from coherence.simulate.execute.lookback import trees_of
from coherence.simulate.execute.orbits import Drift, LongRun, hyperperiod, looked_at, word_periods
from coherence.simulate.execute.parametric_numbers import BranchRecord, SignCondition, value_of

MOST_PERIODS = 3
NOW, LATE = Fraction(0), Fraction(2**40)  # laps after which promises are looked at that turn once
COUNTING = ("previous", "mean_over", "max_over")


def with_drift(model: Model, run: LongRun, condition: Tree, kind: str) -> LongRun:
    """Returns the run with how it drifts at its end, where it has no orbit and that decides a promise of the kind."""
    if run.orbit is not None or not run.instants or _remembers_more(model, condition):
        return run
    scheduled = max((at for at, *_ in run.choices.schedule), default=Fraction(-1))
    last = run.instants[-1].time
    for period in itertools.islice(word_periods([*run.instants], hyperperiod(model)), MOST_PERIODS):
        again = Execution(model, run.choices)
        if last - 2 * period <= scheduled + (again.horizon or 0):
            continue
        _go_on(again, last - 2 * period)
        try:
            drift = _drift(again, period, condition, kind)
        except (NotExactError, ZeroDivisionError):
            continue
        if drift is not None:
            return replace(run, drift=drift)
    return run


def _remembers_more(model: Model, condition: Tree) -> bool:
    """Decides whether something flows, or a run remembers numbers beside those that its configuration names."""
    nodes = (node for tree in (condition, *trees_of(model)) for node in walk(tree))
    remembers = any(isinstance(n, Held) or (isinstance(n, Call) and n.function in COUNTING) for n in nodes)
    limited = any(loop.hold_down or loop.hold_up or loop.rates or loop.cooldown is not None for loop in model.loops)
    moves = any(state.flow is not None or state.switch is not None for state in model.states.values())
    return remembers or limited or moves


def _drift(run: Execution, period: Fraction, condition: Tree, kind: str) -> Drift | None:
    """Returns how a run drifts from its present time on; None where no number of laps after it is known to."""
    after = run.copy()
    _go_on(after, run.time + period)
    if after.time != run.time + period or _beside_numbers(run) != _beside_numbers(after):
        return None
    before, later = _numbers(run), _numbers(after)
    if before.keys() != later.keys():
        return None
    added = {name: later[name] - before[name] for name in before}
    record = BranchRecord(sample=LATE)
    laps = record.parameter()
    lap, seen, promised = run.copy(), list[bool](), dict[SignCondition, None]()
    lap.map_numbers(lambda name, _: before[name] + added[name] * laps if added[name] else before[name])
    while lap.next_time() <= run.time + period:
        instant = lap.advance()
        of_run = dict(record.conditions)
        seen.extend(bool(truth) for truth in looked_at(lap, instant, condition))
        promised.update(record.conditions)
        record.conditions = of_run
    ended = {name: later[name] + added[name] * laps for name in before}
    if lap.modes != run.modes or _beside_numbers(lap) != _beside_numbers(run) or not _are_equal(_numbers(lap), ended):
        return None
    if not all(_holds_from(NOW, branch) for branch in record.conditions) or not _is_kept(promised, kind, seen):
        return None
    moved = {name: number for name, number in added.items() if number}
    return Drift(run.time, period, moved, tuple(seen), tuple(map(_claim, {**record.conditions, **promised})))


def _go_on(run: Execution, until: Fraction) -> None:
    while run.count == 0 or run.next_time() <= until:
        run.advance()


def _is_kept(promised: Iterable[SignCondition], kind: str, seen: Sequence[bool]) -> bool:
    """Decides whether what is seen of a promise stays so: from now on, or late, where that is all the promise needs."""
    late = kind == "eventually_always" or (kind == "eventually" and any(seen))
    begin = next((begin for begin in (NOW, LATE) if all(_holds_from(begin, branch) for branch in promised)), None)
    return begin == NOW or (late and begin == LATE)


def _are_equal(numbers: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Decides whether numbers are the same whatever the parameter is."""
    if numbers.keys() != others.keys():
        return False
    differences = (numbers[name] - others[name] for name in numbers)
    return all(isinstance(number, int | Fraction) and number == 0 for number in differences)


def _holds_from(begin: Fraction, condition: SignCondition) -> bool:
    """Decides whether a polynomial has one of the signs for every parameter from one on: all coefficients have it."""
    constant, *others = condition.poly
    if begin:
        constant = value_of(condition.poly, begin)
    signs = {(c > 0) - (c < 0) for c in others if c}
    if len(signs) != 1:
        return False
    [sign] = signs
    at_begin = (constant > 0) - (constant < 0)
    return at_begin in (0, sign) and {at_begin, sign} <= condition.signs


def _claim(condition: SignCondition) -> str:
    """Returns as a term that a polynomial of the laps that have passed has one of the signs, from none on."""
    value = real(condition.poly[-1])
    for coefficient in reversed(condition.poly[:-1]):
        value = f"(+ {real(coefficient)} (* |{CLOCK}| {value}))"
    words = {-1: "<", 0: "=", 1: ">"}
    signs = " ".join(f"({words[sign]} {value} 0.0)" for sign in sorted(condition.signs))
    return f"(=> (<= 0.0 |{CLOCK}|) (or false {signs}))"


def _numbers(run: Execution) -> dict[str, Any]:
    """Returns the numbers of a run by their names: fractions, or functions of the parameter."""
    numbers: dict[str, Any] = {}

    def read(name: str, value: Any) -> Any:
        numbers[name] = plain(value)
        return value

    run.copy().map_numbers(read)
    return numbers


def _beside_numbers(run: Execution) -> tuple[Any, ...]:
    """Returns what decides the future beside the numbers: the clock, modes, what is under way, what loops remember."""
    memory = tuple(memory.done for memory in run.memory.values())
    pending = tuple((at - run.time, path) for at, path, _ in run.pending)
    past = tuple(run.time - at for at in run.history.times() if run.horizon and at >= run.time - run.horizon)
    return run.time % hyperperiod(run.model), tuple(run.modes.values()), pending, memory, past

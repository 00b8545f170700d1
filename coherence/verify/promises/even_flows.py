"""Gives states that flow at one rate for ever, and that no loop samples, steps at which promises are looked at.

Between two looks such a state lies between its values at both, so that a comparison of sums of states that holds at
each holds always.  They are a tenth of the time until the promise would break apart, or a second.  What must always
hold is looked at along the flows; what must come once is proved of states that step, each value one step early.
Constants may say the rates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from coherence.language.expressions import names as names_of
from coherence.language.expressions.evaluate import Constants, evaluate
from coherence.language.expressions.tree import Arithmetic, Compare, Name, Number, Tree
from coherence.model.model import EVERYTHING, Interval, Model, State
from coherence.verify.facts.ranges import enclosure
from coherence.verify.systems.bent_flows import bent_flows

STEPS, SELDOM = 10, Fraction(10**6)
CLOCK = "looks at even flows"  # no name of a design has spaces


def with_even_steps(model: Model, condition: Tree, *, flows: bool) -> Model:
    """Returns the model with steps, where nothing else gives it a clock and each state flows at one plain rate.

    `flows`: the states go on flowing and the steps are a clock beside them; else the states themselves step.
    """
    flows_by = [name for state in model.states.values() if state.flow is not None for name in names_of(state.flow)]
    fixed = _fixed(model, (*names_of(condition), *flows_by))
    rates = {path: rate for path, state in model.states.items() if (rate := _rate(state, fixed)) is not None}
    reads = {*names_of(condition)} - fixed.keys()
    compared = isinstance(condition, Compare) and condition.op not in ("==", "!=")
    if compared and flows and not model.loops and model.states.keys() == reads <= bent_flows(model):
        return _with_clock(model, SELDOM)  # a curve goes one way: any looks do
    if not compared or model.loops or not rates or len(rates) < len(model.states) or not reads <= rates.keys():
        return model
    assert isinstance(condition, Compare)
    if not (_is_sum(condition.left) and _is_sum(condition.right)):
        return model
    step = _step(model.states, rates, Arithmetic("-", condition.left, condition.right), fixed)
    if flows:
        return _with_clock(model, step)
    states = {path: _stepped(state, _grown(state, step), step) for path, state in model.states.items()}
    return replace(model, states=states)


def from_its_side(model: Model, condition: Tree, kind: str) -> Tree:
    """Returns what says that a value which flows comes to equal another one: that it is no longer on the side of it
    where it begins, for a sum that flows jumps over nothing.
    """
    if kind != "eventually" or not isinstance(condition, Compare) or condition.op != "==":
        return condition
    fixed = _fixed(model, names_of(condition))
    names = {*names_of(condition)}
    plain = (state for path in names if (state := model.states.get(path)) and not (state.switch or state.integer))
    flowing = {state.path: state for state in plain if state.flow is not None}
    known = names <= flowing.keys() | fixed.keys() and not names <= fixed.keys()
    if not known or not (_is_sum(condition.left) and _is_sum(condition.right)):
        return condition
    begins = {path: state.initial for path, state in flowing.items()}
    begins |= {path: model.constants[path].range for path in fixed}
    apart = enclosure(Arithmetic("-", condition.left, condition.right), begins)
    if apart.low is not None and apart.low >= 0:
        return replace(condition, op="<=")
    return replace(condition, op=">=") if apart.high is not None and apart.high <= 0 else condition


def _fixed(model: Model, names: Iterable[str]) -> dict[str, Fraction]:
    """Returns one value of each of these constants that keeps the one that it has; of others nothing is read."""
    ranges = {path: model.constants[path].range for path in names if path in model.constants}
    ends = {path: span.low if span.low is not None else span.high for path, span in ranges.items()}
    return {path: end for path, end in ends.items() if end is not None and not model.constants[path].varies}


def _with_clock(model: Model, step: Fraction) -> Model:
    zero = Interval(Fraction(0), Fraction(0))
    clock = replace(next(iter(model.states.values())), path=CLOCK, initial=zero, integer=False)
    return replace(model, states={**model.states, CLOCK: _stepped(clock, Number(Fraction(0)), step)})


def _rate(state: State, fixed: Mapping[str, Fraction]) -> Fraction | None:
    """Returns a rate of a state whose flow reads constants alone; None for any other, or one that stops at a range."""
    if state.flow is None or state.switch is not None or state.range != EVERYTHING:
        return None
    if not {*names_of(state.flow)} <= fixed.keys():
        return None
    rate = evaluate(state.flow, Constants(fixed))
    return Fraction(rate) if isinstance(rate, int | Fraction) and not isinstance(rate, bool) else None


def _is_sum(tree: Tree) -> bool:
    """Decides whether an expression adds states and numbers, each times a number at most."""
    match tree:
        case Name() | Number():
            return True
        case Arithmetic(op="+" | "-", left=left, right=right):
            return _is_sum(left) and _is_sum(right)
        case Arithmetic(op="*", left=left, right=right):
            return _is_sum(left) and _is_sum(right) and Number in (type(left), type(right))
    return False


def _step(
    states: Mapping[str, State], rates: Mapping[str, Fraction], apart: Tree, fixed: Mapping[str, Fraction]
) -> Fraction:
    """Returns a tenth of the time until both sides are equal, from the lower ends; 1 s where they do not near."""
    start = {path: state.initial.low or Fraction(0) for path, state in states.items()}
    later = {path: value + rates[path] for path, value in start.items()}
    now, then = (Fraction(evaluate(apart, Constants({**fixed, **values}))) for values in (start, later))
    change = then - now
    return abs(now / change) / STEPS if change * now < 0 else Fraction(1)


def _grown(state: State, step: Fraction) -> Tree:
    """Returns what a flow adds in a step."""
    assert state.flow is not None
    return Arithmetic("*", state.flow, Number(step))


def _stepped(state: State, by: Tree, step: Fraction) -> State:
    return replace(state, flow=None, step=step, next=Arithmetic("+", Name(state.path), by))

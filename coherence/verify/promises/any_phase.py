"""Lets the one loop of a model begin at once, for proofs where its phase is open and states flow.

A loop alone with phase p begins as one with phase 0 does, from the values that its states have flowed to by p.  Before
its first sample its command stands still, so that a state whose flow reads no state moves at a rate within known ends:
all phases below the period are starts of a wider range.  What holds at each of those starts before the loop has acted,
and in every run with phase 0 from them, holds for every phase.  The range may be too wide: it refutes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from coherence.language.expressions import names as names_of
from coherence.language.expressions.tree import Call, Held, Tree, walk
from coherence.model.model import Interval, Model, State
from coherence.simulate.execute.lookback import LOOK_BACK
from coherence.verify.facts.ranges import Values, enclosure, truth

ZERO = Fraction(0)


def begun_at_once(model: Model, condition: Tree, *, wanted: bool) -> Model | None:
    """Returns the model with phase 0 from every value that its states may have at the first sample; else None.

    None where the phase is stated, other loops or steps have one too, a condition looks at times (`for h`), what is
    read of the past is no command, or nothing shows that the condition is `wanted` until the loop has acted.
    """
    if len(model.loops) != 1 or model.loops[0].phase is not None:
        return None
    (loop,) = model.loops
    flows = [tree for state in model.states.values() for tree in state.trees]
    plain = all(state.flow is not None and state.switch is None for state in model.states.values())
    if not plain or any(
        _looks_at_times(tree, model) for tree in (*loop.trees, *model.outputs.values(), *flows, condition)
    ):
        return None
    still = {path: signal.range for path, signal in model.constants.items()}
    still |= {path: signal.initial for path, signal in model.commands.items()}
    before = _with_outputs(still, model)
    states = {path: _by_first_sample(state, before, loop.period) for path, state in model.states.items()}
    begun = {path: state for path, state in states.items() if state is not None}
    there = _with_outputs(still | {path: state.initial for path, state in begun.items()}, model)
    if len(begun) < len(states) or truth(condition, there) is not wanted:
        return None
    return replace(model, states=begun, loops=(replace(loop, phase=ZERO),))


def _looks_at_times(tree: Tree, model: Model) -> bool:
    """Decides whether an expression reads for how long something holds, or the past of what moves by itself."""
    return any(
        isinstance(node, Held)
        or (isinstance(node, Call) and node.function in LOOK_BACK and not _stands(node, model))
        for node in walk(tree)
    )  # fmt: skip


def _stands(call: Call, model: Model) -> bool:
    return call.function == "delayed" and set(names_of(call)) <= {*model.commands, *model.constants}


def _with_outputs(values: Mapping[str, Interval], model: Model) -> Values:
    """Returns the ranges with those of all outputs that are computed from them."""
    known = dict(values)
    for path, tree in model.outputs.items():
        if known.keys() >= set(names_of(tree)):
            known[path] = enclosure(tree, known)
    return known


def _by_first_sample(state: State, before: Values, period: Fraction) -> State | None:
    """Returns the state from every value that it may have within a period; None where its rate has no known ends."""
    assert state.flow is not None
    rate = enclosure(state.flow, before) if before.keys() >= set(names_of(state.flow)) else Interval(None, None)
    if rate.low is None or rate.high is None:
        return None
    low, high = state.initial.low, state.initial.high
    ends = [
        None if low is None else state.range.clip(low + min(ZERO, rate.low) * period),
        None if high is None else state.range.clip(high + max(ZERO, rate.high) * period),
    ]
    return replace(state, initial=Interval(*ends))

"""Watches what a promise says of flowing states between the instants of a run.

A condition over states that flow may turn and turn back where no loop samples.  A state that switches where the promise
is broken makes each turn an instant of the run, and keeps that it was broken, however short.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from coherence.language.expressions.tree import Compare, Logic, Name, Number, Tree
from coherence.model.model import Interval, Model, StateSwitch
from coherence.verify.systems.affine_between_instants import decided_at_instants

WATCH = "promise broken"  # no name of a design has spaces
OFF, ON = Fraction(0), Fraction(1)


def with_watch(model: Model, condition: Tree, kind: str) -> Model:
    """Returns the model with a state that switches where the promise is broken, if instants alone do not decide it."""
    if kind not in ("always", "never") or decided_at_instants(model, condition, kind):
        return model
    broken = condition if kind == "never" else Logic("not", (condition,))
    like = next(state for state in model.states.values() if state.flow is not None)
    switch = StateSwitch(broken, None, OFF, ON)
    watch = replace(like, path=WATCH, initial=Interval(OFF, OFF), flow=None, integer=False, switch=switch)
    return replace(model, states={**model.states, WATCH: watch})


def is_watched(model: Model) -> bool:
    """Decides whether a model watches its promise between the instants."""
    return WATCH in model.states


def with_watched(model: Model, condition: Tree, kind: str) -> Tree:
    """Returns the condition of a promise, with what was seen of it between instants where the model watches that."""
    if not is_watched(model):
        return condition
    seen = Compare("==", Name(WATCH), Number(ON))
    return Logic("or", (condition, seen)) if kind == "never" else Logic("and", (condition, Logic("not", (seen,))))

"""Writes expressions as loops may see them at any look, with ranges, and as they are where commands stand still."""

from __future__ import annotations

from collections.abc import Mapping

from coherence.language.expressions.tree import Call, Held, Logic, Name, Tree, rebuilt
from coherence.model.model import EVERYTHING, Interval, Model
from coherence.verify.convergence.command_moves import bounds_of
from coherence.verify.facts.ranges import PAST, hull

IDLE = ("none", "unset")  # laws that write nothing


def at_any_look(model: Model, tree: Tree, *, past: bool) -> Tree:
    """Returns a tree whose outputs are written out: a look back sees any value, and how long something held is open.

    `past`: commands are seen as they were at any time before, under names that end in ` before`.
    """
    match tree:
        case Name(path=path) if path in model.outputs:
            return at_any_look(model, model.outputs[path], past=past)
        case Name(path=path) if past and path in model.commands:
            return Name(f"{path} before")
        case Held(condition=condition):
            return Logic("and", (at_any_look(model, condition, past=past), Name("long enough")))
        case Call(function=function, arguments=(inner, *_)) if function in PAST:
            return at_any_look(model, inner, past=True)
    return rebuilt(tree, lambda part: at_any_look(model, part, past=past))


def at_rest(model: Model, tree: Tree) -> Tree:
    """Returns a tree as it is where commands stand still, outputs written out: a look back sees what is there."""
    match tree:
        case Name(path=path) if path in model.outputs:
            return at_rest(model, model.outputs[path])
        case Call(function=function, arguments=(inner, *_)) if function in PAST:
            return at_rest(model, inner)
    return rebuilt(tree, lambda part: at_rest(model, part))


def ranges_at_looks(model: Model, part: Mapping[str, Interval]) -> dict[str, Interval]:
    """Returns the range of each constant and state, and of what a command may have been."""
    known = {path: constant.range for path, constant in model.constants.items()}
    known |= {path: state.range for path, state in model.states.items()} | dict(part)
    known |= dict.fromkeys(model.inputs, EVERYTHING)
    for path, command in model.commands.items():
        writers = [loop for loop in model.loops if loop.signal == path and loop.law not in IDLE]
        ends = [bounds_of(model, loop) for loop in writers]
        known[f"{path} before"] = hull([command.initial, *ends])
    return known

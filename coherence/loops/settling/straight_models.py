"""Decides whether a model is straight: flows, steps and laws are sums of signals, and only bounds of commands bend it.

Then its network at one point is that of every point, and what is proved of it holds of the whole model.  Laws may have
least, largest and absolute values too, which `kinked_laws` takes out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherence.language.expressions.tree import Arithmetic, Call, Name, Tree
from coherence.loops.designs.feedback_groups import is_smooth
from coherence.loops.designs.kinks import BENT
from coherence.loops.designs.linear import skeleton
from coherence.model.model import EVERYTHING, Model, SampledLoop
from coherence.simulate.execute.lookback import LOOK_BACK, look_backs
from coherence.simulate.execute.open_ranges import one_ended
from coherence.simulate.execute.slices import signals_in

PAST = (*(name for name in LOOK_BACK if name != "max_over"), "previous")
LAWS = ("set", "step")


def why_bent(model: Model) -> str:
    """Returns the first thing for which a model is not straight, in words; nothing where it is."""
    return next(_bends(model), "")


def _bends(model: Model) -> Iterator[str]:
    yield from (f"{name} may take any value" for name in model.inputs)
    yield from one_ended(model)
    yield from (f"{path} is a range" for path, c in model.constants.items() if c.varies or not c.range.exact)
    yield from (what for loop in model.loops for what in _of_loop(loop))
    yield from _clocks(model)
    yield from (what for path in model.states for what in _of_state(model, path))
    straight = _Straight(model, kinked=True)
    for loop in model.loops:
        yield from (f"what {loop.name} decides is no sum of signals" for tree in loop.trees if not straight.of(tree))


def _of_loop(loop: SampledLoop) -> Iterator[str]:
    if not is_smooth(loop) or loop.law not in LAWS or loop.mode == "once":
        yield f"{loop.name} does not act at every sample by setting or changing its command"


def _clocks(model: Model) -> Iterator[str]:
    """Yields that phases are open where several clocks run; of one alone the phase does not matter."""
    yield from (left for left in skeleton(model)[1] if not left.startswith("bounds of "))
    steps = sum(1 for state in model.states.values() if state.step)
    scrapes = sum(1 for function, _ in look_backs(model) if function == "sampled")
    if len(model.loops) + steps + scrapes > 1:
        yield from (f"the phase of {loop.name} is open" for loop in model.loops if loop.phase is None)


def _of_state(model: Model, path: str) -> Iterator[str]:
    state = model.states[path]
    if state.switch is not None or state.integer or state.range != EVERYTHING:
        yield f"{path} has a range, steps of one or a switch"
    elif not all(map(_Straight(model).of, state.trees)):
        yield f"where {path} goes is no sum of signals"


@dataclass(frozen=True)
class _Straight:
    """Decides about expressions of a model; `kinked`: with least, largest and absolute values of what is straight."""

    model: Model
    kinked: bool = False

    def moves(self, tree: Tree) -> bool:
        """Decides whether an expression reads a state, a command or whether a loop is on."""
        read = signals_in(self.model, tree)
        return any(self.model.kind(path) in ("state", "command", "loop") for path in read)

    def of(self, tree: Tree) -> bool:
        """Decides whether an expression is a sum of signals, now or in the past, times constants."""
        match tree:
            case _ if not self.moves(tree):
                return True
            case Name(path=path):
                return (
                    self.of(self.model.outputs[path]) if path in self.model.outputs else self.model.kind(path) != "loop"
                )
            case Arithmetic(op="+" | "-", left=left, right=right):
                return self.of(left) and self.of(right)
            case Arithmetic(op="*", left=left, right=right) if not (self.moves(left) and self.moves(right)):
                return self.of(left) and self.of(right)
            case Arithmetic(op="/", left=left, right=right):
                return not self.moves(right) and self.of(left)
            case Call(function=function, arguments=(inner, *seconds)) if function in PAST:
                return _Straight(self.model).of(inner) and not any(map(self.moves, seconds))
            case Call(function=function, arguments=parts) if function in BENT:
                return self.kinked and all(map(self.of, parts))
            case _:
                return False

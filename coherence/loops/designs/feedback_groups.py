"""Groups a design's loops by feedback, separates smooth laws from thresholds, and switches loops off.

Loops that influence each other (or themselves) through signals are the strongly connected parts of one graph of
loops, commands, states and outputs.  Switching a loop off means that its command stays where it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.clock import left_until, now, record_cut
from coherence.base.graphs import components, reached
from coherence.base.reads import unnoted
from coherence.base.units import ONE
from coherence.base.watchdog import GRACE, at_most, current_run
from coherence.language.expressions import names as names_of
from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.groups import Group
from coherence.model.model import Constant, Interval, Model, SampledLoop
from coherence.simulate.execute.slices import influences, reads, sliced


class OutOfTimeError(NotExactError):
    """The time limit came first."""

    def __init__(self) -> None:
        super().__init__("the time limit was reached")


class Deadline:
    """A point in time, in seconds of the processor, after which a search answers `undecided`; as the end of the run."""

    def __init__(self, seconds: float) -> None:
        self.end = now() + seconds

    @property
    def left(self) -> float:
        """Returns seconds."""
        run = current_run().left
        if not run:
            record_cut()
        return min(left_until(self.end), run)

    @property
    def over(self) -> bool:
        return self.left <= 0

    def check(self) -> None:
        """Raises OutOfTimeError."""
        if self.over:
            raise OutOfTimeError

    def share(self, part: float) -> Deadline:
        """Returns a deadline after a part of the time that is left."""
        return Deadline(max(0.0, self.left) * part)

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Raises TimeOverError in the block a little after its end, for what looks at no clock."""
        with at_most(max(self.left, 0.0) + GRACE, processor=True):
            yield


@dataclass(frozen=True)
class Structure:
    """Groups of loops in feedback, and the loops that are in none, with the reason."""

    groups: tuple[Group, ...]
    alone: tuple[tuple[str, str], ...]


def structure(model: Model) -> Structure:
    """Returns all groups in order of declaration."""
    with unnoted():  # who belongs together; what a group is made of is read when it is run
        labels, cyclic = _labels(model)
    members: dict[int, list[SampledLoop]] = {}
    alone = []
    for loop in model.loops:
        if labels[loop.name] in cyclic:
            members.setdefault(labels[loop.name], []).append(loop)
        else:
            alone.append((loop.name, _why_alone(model, loop)))
    groups = [_group(model, tuple(loops)) for loops in members.values()]
    return Structure(tuple(groups), tuple(alone))


def _group(model: Model, loops: tuple[SampledLoop, ...]) -> Group:
    signals = tuple(dict.fromkeys(loop.signal for loop in loops if loop.signal))
    return Group(loops, sliced(model, signals or tuple(loop.name for loop in loops)))


def _why_alone(model: Model, loop: SampledLoop) -> str:
    with unnoted():
        sees = reads(loop)
        open_inputs = sorted(name for name in sees if model.kind(name) == "input")
    if not sees:
        return "reads no signal"
    if open_inputs and loop.signal:
        path = open_inputs[0]
        key = path.rpartition(".")[2]
        return f"no law says what {path} is; where it follows from {loop.signal}, state how, under the key `{key}`"
    if loop.measured is not None and loop.signal:
        return f"has no effect on what it reads: nothing there depends on {loop.signal}"
    return "what it reads does not depend on what it writes"


def _labels(model: Model) -> tuple[dict[str, int], set[int]]:
    """Returns the strongly connected part of every node, and the parts that hold a cycle."""
    nodes = [*(loop.name for loop in model.loops), *model.commands, *model.states, *model.outputs]
    after: dict[str, list[str]] = {name: [] for name in nodes}
    for node, needed in _edges(model):
        if node in after and needed in after:
            after[node].append(needed)
    groups = list(components(after))
    labels = {name: number for number, group in enumerate(groups) for name in group}
    return labels, {labels[node] for node, needs in after.items() for other in needs if labels[node] == labels[other]}


def _edges(model: Model) -> Iterable[tuple[str, str]]:
    """Returns (node, what it depends on)."""
    for loop in model.loops:
        yield from ((loop.name, name) for name in reads(loop))
        if loop.signal:
            yield loop.signal, loop.name
    for path, tree in model.outputs.items():
        yield from ((path, name) for name in names_of(tree))
    for state in model.states.values():
        yield from ((state.path, name) for tree in (state.next, state.flow) if tree for name in names_of(tree))


def is_smooth(loop: SampledLoop) -> bool:
    """Decides whether the loop acts at every sample, by a law with a derivative."""
    return not (loop.relay or loop.rules or loop.trigger is not None or loop.law in ("none", "ignore"))


def frozen(model: Model, levels: Mapping[str, Fraction], names: Collection[str]) -> Model:
    """Returns the model with some loops switched off: commands that nobody else writes stay at their level."""
    running = tuple(loop for loop in model.loops if loop.name not in names)
    written = {loop.signal for loop in running}
    held = {loop.signal for loop in model.loops if loop.name in names and loop.signal} - written
    constants = dict(model.constants)
    for path in held:
        command = model.commands[path]
        constants[path] = Constant(path, Interval(levels[path], levels[path]), False, command.dimension, command.place)
    for loop in model.loops:
        if loop.name in names:  # its mode, where others read it
            constants[loop.name] = Constant(
                loop.name, Interval(Fraction(0), Fraction(0)), False, ONE, loop.source.place
            )
    commands = {path: command for path, command in model.commands.items() if path not in held}
    return replace(model, loops=running, commands=commands, constants=constants)


def region(model: Model, names: Collection[str]) -> frozenset[str]:
    """Returns signals that some of these loops move and that some of them read, directly or not."""
    others = frozen(model, _zeros(model), [loop.name for loop in model.loops if loop.name not in names])
    seen = influences(others, [name for loop in others.loops for name in reads(loop)])
    moved = _moved(others, names)
    own = {loop.signal for loop in others.loops if loop.signal}
    return frozenset((seen | own) & moved)


def _zeros(model: Model) -> dict[str, Fraction]:
    return dict.fromkeys(model.commands, Fraction(0))


def _moved(model: Model, names: Collection[str]) -> set[str]:
    """Returns everything downstream of the loops."""
    after: dict[str, list[str]] = {}
    for node, source in _edges(model):
        after.setdefault(source, []).append(node)
    return reached(names, lambda node: after.get(node, ()))

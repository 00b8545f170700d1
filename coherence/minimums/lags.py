"""Finds the ways from a loop's reading back to its own command, and the age of the reading along each.

A way is read off the model's expressions: `delayed` adds its time, `sampled` looks at the last multiple of its period,
`mean_over` averages a window.  Nothing is executed.  The instants are those of the exact executor: what is written at
an instant is seen after it, what lands at an instant is seen at it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from coherence.base.reads import answered, unnoted
from coherence.language.expressions.tree import Call, Choose, Name, Number, Tree, children
from coherence.model.model import Model, SampledLoop

CELLS, DECISIONS, MOST_BRANCHES = 4_000, 200, 64
Operation = tuple[str, Fraction]  # (delayed | sampled | mean_over | max_over, seconds)


@dataclass(frozen=True)
class LagPath:
    """From the reading to the command, outermost first.  `static`: no state and no other loop lies on it."""

    operations: tuple[Operation, ...]
    static: bool

    @property
    def dead(self) -> Fraction:
        """Returns seconds that surely pass on it."""
        return sum((span for kind, span in self.operations if kind == "delayed"), Fraction(0))

    def after(self, kind: str, span: Fraction, *, static: bool = True) -> LagPath:
        """Returns the way with one more operation; a delay of nothing is none."""
        more = ((kind, span),) if span or kind != "delayed" else ()
        return LagPath((*self.operations, *more), self.static and static)

    def text(self) -> str:
        """Returns the operations in words."""
        return ", ".join(f"{kind.replace('_', ' ')} {float(span):g} s" for kind, span in self.operations)


Branch = tuple[LagPath, ...]  # ways that count together


def ways(model: Model, loop: SampledLoop) -> tuple[LagPath, ...]:
    """Returns every different way from what the loop reads to its own command; none where it does not feed back."""
    every = (branch for take in loop.expressions() for branch in _back(model, loop, take))
    return tuple(dict.fromkeys(way for branch in every for way in branch))


def branches(model: Model, loop: SampledLoop) -> tuple[Branch, ...]:
    """Returns what a proportional law compares: the ways that count together, for each outcome of `min`, `max` and
    `if`.
    """
    return _together(_back(model, loop, partial(getattr, loop, name)) for name in ("measured", "setpoint"))


def _back(model: Model, loop: SampledLoop, take: Callable[[], Tree | None]) -> tuple[Branch, ...]:
    """Returns the branches of an expression of a loop; one from which no way leads back is not read."""
    return answered(lambda: _behind(model, (take, _nothing, True), loop.signal, LagPath((), True), ()))


def _behind(model: Model, step: Step, command: str, way: LagPath, seen: tuple[str, ...]) -> tuple[Branch, ...]:
    """Returns the branches of the expression that a step leads to."""
    take, lag, static = step
    tree = take()
    return () if tree is None else _branches(model, tree, command, way.after("delayed", lag(), static=static), seen)


def _branches(model: Model, tree: Tree, command: str, way: LagPath, seen: tuple[str, ...]) -> tuple[Branch, ...]:
    """Returns the branches of a tree.  `way`: what was passed so far; `seen`: names behind it, passed once."""
    match tree:
        case Name(path=path) if path == command:
            return ((way,),)
        case Name(path=path):
            steps = () if path in seen else tuple(_steps(model, path))
            return _together(answered(partial(_behind, model, step, command, way, (*seen, path))) for step in steps)
        case Call(function="delayed" | "sampled" | "mean_over" | "max_over" as kind, arguments=(inner, span)):
            return _branches(model, inner, command, way.after(kind, least(model, span)), seen)
        case Call(function="min" | "max", arguments=parts):
            return _capped(branch for part in parts for branch in _branches(model, part, command, way, seen))
        case Choose(condition=condition, then=then, otherwise=otherwise):
            sides = _capped(
                branch for part in (then, otherwise) for branch in _branches(model, part, command, way, seen)
            )
            return _together((_branches(model, condition, command, way, seen), sides))
        case Call(function="rate_of" | "previous", arguments=(inner,)):
            return _branches(model, inner, command, way.after("delayed", Fraction(0), static=False), seen)
    return _together(_branches(model, child, command, way, seen) for child in children(tree))


def _together(parts: Iterable[tuple[Branch, ...]]) -> tuple[Branch, ...]:
    """Returns one outcome of each part at a time; parts without a way count for nothing."""
    together: tuple[Branch, ...] = ()
    for part in parts:
        if part:
            pairs = itertools.product(together or ((),), part)
            together = _capped(tuple(dict.fromkeys((*one, *other))) for one, other in pairs)
    return together


def _capped(found: Iterable[Branch]) -> tuple[Branch, ...]:
    every = tuple(dict.fromkeys(found))
    if len(every) <= MOST_BRANCHES:
        return every
    return (tuple(dict.fromkeys(way for branch in every for way in branch)),)  # too many to tell apart: all count


Step = tuple[Callable[[], Tree | None], Callable[[], Fraction], bool]  # expression, s that surely pass, is it static


def _steps(model: Model, path: str) -> Iterator[Step]:
    """Yields what leads to each expression that an output, a state or a loop's command is computed from."""
    if path in model.outputs:
        yield partial(model.outputs.__getitem__, path), _nothing, True
    state = model.states.get(path)
    if state is not None:
        yield from ((partial(getattr, state, name), _nothing, False) for name in ("next", "flow"))
    with unnoted():
        writers = [other for other in model.loops if other.signal == path]
    for other in writers:
        yield from ((take, partial(getattr, other, "lands"), False) for take in other.expressions())


def _nothing() -> Fraction:
    return Fraction(0)


def least(model: Model, span: Tree) -> Fraction:
    """Returns the least number of seconds that a constant stands for; 0 where that is not known."""
    match span:
        case Number(value=seconds):
            return seconds
        case Name(path=path) if path in model.constants:
            return model.constants[path].range.low or Fraction(0)
        case Name(path=path) if path in model.outputs:
            return least(model, model.outputs[path])
    return Fraction(0)


def weights(way: LagPath, loop: SampledLoop) -> tuple[Fraction, ...] | str:
    """Returns the shares of the reading that show the command of 0, 1, 2, ... decisions ago, or why not known."""
    windows = [span for kind, span in way.operations if kind == "mean_over"]
    samplers = [span for kind, span in way.operations if kind == "sampled"]
    if not way.static:
        return "a state or another loop lies between the command and the reading"
    if any(kind == "max_over" for kind, _ in way.operations) or len(windows) > 1:
        return "more than one window, or a window of maxima"
    if samplers and loop.phase is None:
        return f"phase of {loop.name} (its sensor samples at multiples of a period)"
    if any(span <= 0 or loop.period % span for span in samplers):
        return "a sampler whose period does not divide the loop's"
    if loop.ready is not None:
        return "a law that multiplies what has landed: this one multiplies the ready members"
    if not loop.counts_commanded and _decisions((), loop, Fraction(0)):
        return f"count: commanded of {loop.name} (its law multiplies what has landed, more than one decision late)"
    cells, width = _cells(way, loop, windows)
    if cells > CELLS:
        return f"a window of more than {CELLS} steps"
    by_step: dict[int, Fraction] = {}
    for at in range(cells):
        age = _decisions(way.operations, loop, width * (2 * at + 1) / 2 if windows else Fraction(0))
        if age >= DECISIONS:
            return f"readings of more than {DECISIONS} decisions ago"
        by_step[age] = by_step.get(age, Fraction(0)) + Fraction(1, cells)
    return tuple(by_step.get(k, Fraction(0)) for k in range(max(by_step) + 1))


def _cells(way: LagPath, loop: SampledLoop, windows: list[Fraction]) -> tuple[int, Fraction]:
    """Returns (number, width) of equal parts of the window in each of which the seen command stays the same."""
    if not windows or not windows[0]:
        return 1, Fraction(0)
    window = windows[0]
    width = window
    for span in (loop.period, loop.phase or Fraction(0), loop.lands, *(span for _, span in way.operations)):
        width = _common(width, span)
    return int(window / width), width


def _common(one: Fraction, other: Fraction) -> Fraction:
    while other:
        one, other = other, one % other
    return one


def _decisions(operations: tuple[Operation, ...], loop: SampledLoop, into: Fraction) -> int:
    """Returns how many decisions old the command is that is seen `into` seconds deep in the window, at decision 0."""
    time, phase = Fraction(0), loop.phase or Fraction(0)
    for kind, span in operations:
        if kind == "delayed":
            time -= span
        elif kind == "mean_over":
            time -= into
        else:
            time = (time + phase) // span * span - phase
    since = -time + loop.lands  # the last command with an effect was decided at least so long ago
    steps = since // loop.period + 1
    if loop.lands and since % loop.period == 0:
        steps -= 1  # it lands at the very instant that is looked at, and is seen
    return int(max(steps, 1)) - 1

"""Kinks: operating points at which min, max or a choice has two branches, and the model of each branch.

`ready: min(desired, delayed(desired, 60 s))` has two derivatives at every constant point: while the command
rises the late value counts, while it falls the present one.  One linear verdict for each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from coherence.base.reads import rebuilt
from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Held, Logic, Number, Tree, walk
from coherence.loops.designs.equilibria import AtRest
from coherence.model.model import Model, SampledLoop, State, changed_outputs
from coherence.simulate.execute.instants import MissingValueError
from coherence.simulate.execute.slices import signals_in, sliced

NEAR = Fraction(1, 10**9)  # relative difference below which two branches meet
MOST = 16
BENT = ("min", "max", "abs")
STEPPED = ("floor", "ceil")
MOST_PIECES = 64


@dataclass(frozen=True)
class Branch:
    """A model without the kinks of one point; `sides`: kink -> the side that was taken, in words."""

    sides: tuple[tuple[str, str], ...]
    model: Model

    def render_sides(self, others: Sequence[Branch]) -> str:
        """Renders the sides in which it differs from another branch."""
        apart = {kink for other in others for kink, side in other.sides if dict(self.sides).get(kink) != side}
        return ", ".join(f"{kink} = {side}" for kink, side in self.sides if kink in apart)


@dataclass(frozen=True)
class Sides:
    """The branches (`complete`: all of them), and expressions that jump at the point: there one side alone counts."""

    branches: tuple[Branch, ...]
    complete: bool
    jumps: tuple[str, ...]


def stopped(model: Model, point: dict[str, Fraction]) -> frozenset[str]:
    """Returns states that stand at an end of their range and are pressed against it: a small push is lost at once."""
    view = AtRest(model, point)
    paths = set()
    for path, state in model.states.items():
        ends = (state.range.low, state.range.high)
        if state.flow is None or point[path] not in ends:
            continue
        rate = evaluate(state.flow, view)
        if (rate < 0 and point[path] == ends[0]) or (rate > 0 and point[path] == ends[1]):
            paths.add(path)
    return frozenset(paths)


def ties(model: Model, point: dict[str, Fraction]) -> list[tuple[Choose | Call, tuple[Tree, ...]]]:
    """Returns the kinks of which several sides meet at a point, and these sides."""
    view = AtRest(model, point)
    return [(tree, sides) for tree in _kinks(model) if len(sides := _sides(tree, view)) > 1]


def branches(model: Model, point: dict[str, Fraction]) -> Sides:
    """Returns one model for each combination of sides, at most MOST."""
    view = AtRest(model, point)
    safe = stopped(model, point)
    met = ties(model, point)
    total = math.prod(len(sides) for _, sides in met)
    variants = []
    for chosen in itertools.islice(itertools.product(*(sides for _, sides in met)), MOST):
        taken = {tree: side for (tree, _), side in zip(met, chosen, strict=True)}
        named_sides = tuple((written(tree), written(side)) for tree, side in taken.items())
        variants.append(Branch(named_sides, mapped(model, lambda tree, taken=taken: taken.get(tree))))  # type: ignore[misc]
    jumps = tuple(written(t) for t in _jumping(model) if _jumps(t, view, safe))
    return Sides(tuple(variants), total <= MOST, jumps)


def pieces(model: Model, of: Collection[str]) -> Iterator[Model]:
    """Yields what some states and commands depend on with one side of every kink taken that they move: each
    combination of sides, at most MOST_PIECES.
    """
    part = sliced(model, of)
    kinks = _moved_kinks(part, of)
    combinations = itertools.product(*kinks.values()) if kinks else ()
    for chosen in itertools.islice(combinations, MOST_PIECES):
        taken = dict(zip(kinks, chosen, strict=True))
        yield mapped(part, lambda tree, taken=taken: taken.get(tree))  # type: ignore[misc]


def piece_count(model: Model, of: Collection[str]) -> int:
    """Returns how many combinations of sides there are."""
    return math.prod(len(sides) for sides in _moved_kinks(sliced(model, of), of).values())


def _moved_kinks(part: Model, of: Collection[str]) -> dict[Tree, tuple[Tree, ...]]:
    """Returns the kinks that some states and commands move, and the sides of each."""
    kinks = [kink for kink in _kinks(part) if not signals_in(part, kink).isdisjoint(of)]
    return {kink: (kink.then, kink.otherwise) if isinstance(kink, Choose) else _compared(kink) for kink in kinks}


def _trees(model: Model) -> list[Tree]:
    trees: list[Tree] = [*model.outputs.values()]
    trees += [t for s in model.states.values() for t in (s.next, s.flow) if t is not None]
    return trees + [t for loop in model.loops for t in loop.trees]


def _kinks(model: Model) -> Iterator[Choose | Call]:
    """Yields every min, max, absolute value and choice, once."""
    nodes = (node for tree in _trees(model) for node in walk(tree))
    kinks = (n for n in nodes if isinstance(n, Choose) or (isinstance(n, Call) and n.function in BENT))
    yield from dict.fromkeys(kinks)


def _jumping(model: Model) -> Iterator[Choose | Call]:
    """Yields every choice and every rounding, once."""
    nodes = (node for tree in _trees(model) for node in walk(tree))
    steps = (n for n in nodes if isinstance(n, Choose) or (isinstance(n, Call) and n.function in STEPPED))
    yield from dict.fromkeys(steps)


def _compared(kink: Call) -> tuple[Tree, ...]:
    """Returns what a kink takes the least or the largest of: of an absolute value the number and its negative."""
    if kink.function != "abs":
        return kink.arguments
    (inner,) = kink.arguments
    return inner, Arithmetic("-", Number(Fraction(0)), inner)


def _sides(tree: Tree, view: AtRest) -> tuple[Tree, ...]:
    """Returns the branches that meet at this point."""
    try:
        if isinstance(tree, Choose):
            return _choices(tree, view)
        assert isinstance(tree, Call)
        values = [Fraction(evaluate(argument, view)) for argument in _compared(tree)]
    except (NotExactError, MissingValueError, TypeError, ValueError):
        return ()
    best = min(values) if tree.function == "min" else max(values)
    scale = max(abs(best), Fraction(1, 10**6))
    near = [a for a, v in zip(_compared(tree), values, strict=True) if abs(v - best) <= NEAR * scale]
    return tuple(dict.fromkeys(near))


def _choices(tree: Choose, view: AtRest) -> tuple[Tree, ...]:
    return (tree.then, tree.otherwise) if _undecided(tree, view) and _equal(tree.then, tree.otherwise, view) else ()


def _undecided(tree: Choose, view: AtRest) -> bool:
    """Decides whether the condition compares two equal numbers."""
    condition = tree.condition
    return isinstance(condition, Compare) and _equal(condition.left, condition.right, view)


def _equal(one: Tree, other: Tree, view: AtRest) -> bool:
    left, right = Fraction(evaluate(one, view)), Fraction(evaluate(other, view))
    return abs(left - right) <= NEAR * max(abs(left), abs(right), Fraction(1, 10**6))


def _jumps(tree: Choose | Call, view: AtRest, safe: frozenset[str]) -> bool:
    """Decides whether its two sides differ at the point, and what it compares or rounds can move."""
    try:
        if not _is_torn(tree, view):
            return False
    except (NotExactError, MissingValueError, TypeError, ValueError):
        return False
    deciding = tree.condition if isinstance(tree, Choose) else tree.arguments[0]
    model = view.model
    return not signals_in(model, deciding) - model.constants.keys() - model.outputs.keys() <= safe


def _is_torn(tree: Choose | Call, view: AtRest) -> bool:
    if isinstance(tree, Choose):
        return _undecided(tree, view) and not _equal(tree.then, tree.otherwise, view)
    number = Fraction(evaluate(tree.arguments[0], view))
    return abs(number - round(number)) <= NEAR * max(abs(number), Fraction(1))


def mapped(model: Model, change: Callable[[Tree], Tree | None]) -> Model:
    """Returns the model with nodes of its expressions replaced, outermost first (None: kept)."""

    def new(tree: Tree | None) -> Any:
        return None if tree is None else substituted(tree, change)

    def of_state(state: State) -> State:
        return rebuilt(state, next=lambda: new(state.next), flow=lambda: new(state.flow))

    def of_loop(loop: SampledLoop) -> SampledLoop:
        return rebuilt(
            loop,
            measured=lambda: new(loop.measured),
            setpoint=lambda: new(loop.setpoint),
            ready=lambda: new(loop.ready),
            by=lambda: new(loop.by),
            to=lambda: new(loop.to),
        )

    return replace(
        model,
        outputs=changed_outputs(model, new),
        states={path: of_state(state) for path, state in model.states.items()},
        loops=tuple(map(of_loop, model.loops)),
    )


def substituted(tree: Tree, change: Callable[[Tree], Tree | None]) -> Tree:
    """Replaces nodes of one tree, as `mapped`; what takes a node's place is passed through as well."""
    replacement = change(tree)
    if replacement is not None and replacement != tree:
        return substituted(replacement, change)
    match tree:
        case Call(arguments=parts):
            return replace(tree, arguments=tuple(substituted(p, change) for p in parts))
        case Logic(terms=parts):
            return replace(tree, terms=tuple(substituted(p, change) for p in parts))
        case Arithmetic(left=left, right=right) | Compare(left=left, right=right):
            return replace(tree, left=substituted(left, change), right=substituted(right, change))
        case Choose(condition=condition, then=then, otherwise=otherwise):
            return replace(
                tree,
                condition=substituted(condition, change),
                then=substituted(then, change),
                otherwise=substituted(otherwise, change),
            )
        case Held(condition=condition):
            return replace(tree, condition=substituted(condition, change))
        case _:
            return tree


def written(tree: Tree) -> str:
    """Renders the expression, short."""
    from coherence.base.number_text import render_quantity
    from coherence.language.expressions.tree import Name, Truth

    match tree:
        case Number(value=number, dimension=dimension):
            return render_quantity(number, dimension)
        case Truth(value=truth):
            return "true" if truth else "false"
        case Name(path=path):
            return path
        case Call(function=function, arguments=parts):
            return f"{function}({', '.join(map(written, parts))})"
        case Arithmetic(op=op, left=left, right=right) | Compare(op=op, left=left, right=right):
            return f"{_bracketed(left)} {op} {_bracketed(right)}"
        case Logic(op=op, terms=terms):
            return f"not {written(terms[0])}" if op == "not" else f" {op} ".join(map(_bracketed, terms))
        case Choose(condition=condition, then=then, otherwise=otherwise):
            return f"{written(then)} if {written(condition)} else {written(otherwise)}"
        case Held(condition=condition, duration=duration):
            return f"{written(condition)} for {float(duration):g} s"


def _bracketed(tree: Tree) -> str:
    return f"({written(tree)})" if isinstance(tree, Arithmetic | Compare | Logic | Choose) else written(tree)

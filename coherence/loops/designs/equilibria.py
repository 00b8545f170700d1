"""Solves for equilibria: values at which every flow, step and law leaves everything where it is.

Unknowns are the states and the commands.  What each becomes is one equation: a state with a flow what it is a second
later (clipped to its range, so that a level pressed against its end rests there), a state that steps its next value,
a command what its loop decides.  At rest the past is the present, so that delays, windows and samples read what is
there now.  Newton's method with exact derivatives solves all equations together; a point counts only where none of
them leaves a residual.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from coherence.language.expressions.evaluate import evaluate
from coherence.language.expressions.tree import Tree
from coherence.model.laws import Recommendation, recommended
from coherence.model.model import Interval, Model, SampledLoop
from coherence.simulate.execute.affine import Affine, lift, variable
from coherence.simulate.execute.instants import MissingValueError
from coherence.simulate.execute.orbits import solve

NEWTON_STEPS = 40
PRECISION = 10**12
FARTHEST = 10**24  # a step as long as this leads nowhere
Num = Any  # Fraction or Affine
Point = Mapping[str, Fraction]


class AtRest:
    """An evaluation environment in which nothing has ever moved."""

    def __init__(self, model: Model, values: Mapping[str, Num]) -> None:
        self.model = model
        self.values: dict[str, Num] = {p: c.range.low for p, c in model.constants.items() if c.range.low is not None}
        self.values |= values
        self.loops = {loop.name: loop for loop in model.loops}

    def value(self, path: str) -> Num:
        """Returns a number, computed once.  Raises MissingValueError."""
        if path in self.loops and path not in self.values:
            self.values[path] = False  # of those that read each other
            self.values[path] = self._is_on(self.loops[path])
        if path not in self.values:
            if path not in self.model.outputs:
                raise MissingValueError(path)
            self.values[path] = evaluate(self.model.outputs[path], self)
        return self.values[path]

    def _is_on(self, loop: SampledLoop) -> bool:
        """Decides whether a loop acts where everything rests; a relay between its conditions is off, as at first."""
        if loop.rules:
            return any(bool(evaluate(rule.when, self)) for rule in loop.rules)
        condition = loop.trigger if loop.enter is None else loop.enter
        return condition is None or bool(evaluate(condition, self))

    def delayed(self, tree: Tree, delay: Fraction) -> Num:
        del delay
        return evaluate(tree, self)

    mean_over = sampled = max_over = delayed

    def held(self, condition: Tree, duration: Fraction) -> bool:
        del duration
        return bool(evaluate(condition, self))

    def previous(self, tree: Tree) -> Num:
        return evaluate(tree, self)


def law_at_rest(loop: SampledLoop, env: AtRest) -> Recommendation | None:
    """Returns the law by which the loop acts where everything rests; None where its conditions keep it from acting."""
    conditions = [tree for tree in (loop.trigger, loop.enter) if tree is not None]
    if not loop.recommendations or not all(evaluate(tree, env) for tree in conditions):
        return None
    if not loop.rules:
        return loop.recommendations[0]
    pairs = zip(loop.rules, loop.recommendations, strict=True)
    return next((law for rule, law in pairs if evaluate(rule.when, env)), None)


def decided(law: Recommendation, current: Num, env: Any) -> Num:
    """Returns what a law recommends of what an environment shows."""
    read = Fraction(0) if law.read is None else evaluate(law.read, env)
    ready = Fraction(0) if law.ready is None else evaluate(law.ready, env)
    return recommended(law.formula, current, read, ready)


def operating_point(
    model: Model,
    near: Point,
    check: Callable[[], object] = bool,
    *,
    of: Collection[str] | None = None,
    beside: Point | None = None,
) -> dict[str, Fraction] | None:
    """Returns the equilibrium that Newton's method reaches from `near`; None where it reaches none.

    `of`: the states and commands that move, all where it is left out; those of `beside` stay where they are.  `check`
    may raise to end it.  Raises NotExactError, MissingValueError.
    """
    names = [name for name in (*model.states, *model.commands) if of is None or name in of]
    point = {name: near[name] for name in names}
    for _ in range(NEWTON_STEPS):
        check()
        env = AtRest(model, {**(beside or {}), **{name: variable(name, value) for name, value in point.items()}})
        left = {name: end - variable(name, point[name]) for name, end in _ends(model, point, env).items()}
        if all(rests(residual, point) for residual in left.values()):
            return point if all(rests(residual, point) for residual in _decisions_left(model, point, env)) else None
        moved = _step(left)
        if moved is None or any(abs(by) > FARTHEST for by in moved.values()):
            return None
        point = {name: (moved.get(name, Fraction(0)) + x).limit_denominator(PRECISION) for name, x in point.items()}
    return None


def exact_equilibrium(model: Model, near: Point) -> dict[str, Fraction] | None:
    """Returns the equilibrium of equations that are straight, not rounded; None where they have none or many.

    Raises NotExactError, MissingValueError.
    """
    point = {name: near[name] for name in (*model.states, *model.commands)}
    env = AtRest(model, {name: variable(name, value) for name, value in point.items()})
    moved = _step({name: end - variable(name, point[name]) for name, end in _ends(model, point, env).items()})
    point = {name: value + (moved or {}).get(name, Fraction(0)) for name, value in point.items()}
    return point if moved is not None and is_exact(model, point) else None


def is_exact(model: Model, point: Point) -> bool:
    """Decides whether nothing at all moves at a point.  Raises NotExactError, MissingValueError."""
    env = AtRest(model, {name: lift(value) for name, value in point.items()})
    still = all(end.value == point[name] for name, end in _ends(model, point, env).items())
    return still and all(decision.value == point[loop.signal] for loop, decision in _decisions(model, point, env))


def is_straight(model: Model, points: Sequence[Point], of: Collection[str], beside: Point) -> bool:
    """Decides whether what some unknowns become has the same derivatives at every one of the points.

    Raises NotExactError, MissingValueError.
    """
    seen = []
    for point in points:
        env = AtRest(model, {**beside, **{name: variable(name, point[name]) for name in of}})
        ends = _ends(model, {name: point[name] for name in of}, env)
        seen.append({name: dict(end.gradient) for name, end in ends.items()})
    return all(derivatives == seen[0] for derivatives in seen)


def rests(residual: Affine, point: Point) -> bool:
    """Decides whether a residual is no more than what rounding the point makes of its equation."""
    doubt = sum(abs(slope) * (1 + abs(point[name])) for name, slope in residual.gradient)
    return abs(residual.value) * PRECISION <= doubt


def _ends(model: Model, point: Point, env: AtRest) -> dict[str, Affine]:
    """Returns what each unknown becomes."""
    ends = {name: lift(env.value(name)) for name in point}
    for path, state in model.states.items():
        if path not in point:
            continue
        if state.flow is not None:
            ends[path] = _moved(ends[path], lift(evaluate(state.flow, env)), state.range)
        elif state.next is not None:
            ends[path] = _clipped(lift(evaluate(state.next, env)), state.range)
    for loop, decision in _decisions(model, point, env):
        ends[loop.signal] = decision
    return ends


def _decisions_left(model: Model, point: Point, env: AtRest) -> Iterator[Affine]:
    """Yields by how much each loop would change its command: several that write one must all rest."""
    for loop, decision in _decisions(model, point, env):
        yield decision - variable(loop.signal, point[loop.signal])


def _decisions(model: Model, point: Point, env: AtRest) -> Iterator[tuple[SampledLoop, Affine]]:
    """Yields what each loop that acts decides for a command among the unknowns."""
    for loop in model.loops:
        law = law_at_rest(loop, env) if loop.signal in point else None
        if law is not None:
            yield loop, lift(decided(law, env.value(loop.signal), env))


def _moved(level: Affine, rate: Affine, limits: Interval) -> Affine:
    """Returns a level a second later; one whose rate depends on nothing is driven to the end of its range."""
    end = limits.low if rate.value < 0 else limits.high
    if rate.value and not rate.gradient and end is not None:
        return Affine(end)
    return _clipped(level + rate, limits)


def _clipped(end: Affine, limits: Interval) -> Affine:
    clipped = limits.clip(end.value)
    return end if clipped == end.value else Affine(clipped)


def _step(left: Mapping[str, Affine]) -> dict[str, Fraction] | None:
    """Returns how far each unknown moves in a step of Newton; None where the equations are singular."""
    if any(residual.value and not residual.gradient for residual in left.values()):
        return None
    moving = [name for name, residual in left.items() if residual.gradient]
    rows = [[left[n].coefficient(m) for m in moving] + [-left[n].value] for n in moving]
    step = solve(rows)
    return None if step is None else dict(zip(moving, step, strict=True))

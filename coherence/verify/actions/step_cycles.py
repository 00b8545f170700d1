"""Decides exactly whether loops that step or set one signal can undo each other for ever.

The values that such loops can reach form a lattice: the start plus multiples of the common divisor of all steps, and
the same from each value at which a write is clipped or to which the signal is set.  With one number left open (an
outside signal, or the fraction of a start that is not stated), every condition flips at finitely many values of that
number; between two of them the map from value to value is the same, so one sample of each interval, and each end,
decides all.

Derivation: let q be the greatest common divisor of the steps, p the open number and x_k = a_k + b_k p the lattice.  A
condition is a Boolean combination of comparisons f(x_k, p) < 0 with f affine in p, whose truth changes only at the
root of f; a clip changes only where x_k plus a step meets a bound.  The roots cut the range of p into points and open
intervals.  Limit case: no open number, one point, and the map is followed as it stands.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.findings.question_input import Certificate, rational
from coherence.language.expressions import names
from coherence.language.expressions.evaluate import Constants, NotExactError, evaluate
from coherence.language.expressions.lower_smt import lower_smt, symbol
from coherence.language.expressions.tree import (
    Arithmetic,
    Call,
    Compare,
    Logic,
    Name,
    Number,
    Tree,
    Truth,
    rename,
    walk,
)  # fmt: skip
from coherence.model.model import EVERYTHING, Interval
from coherence.simulate.execute.affine import Affine, lift
from coherence.verify.actions.loop_directions import Move
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.ranges import PAST
from coherence.verify.facts.satisfiability import plain

MOST_VALUES, MOST_CASES = 400, 40_000
FRACTION = "?fraction of the start"


@dataclass(frozen=True)
class StepLap:
    """A lap that goes on for ever: the value of an open outside signal, and (loop, before, after) of each write.

    `everywhere`: from every start, and at every value of an open number, some lap goes on for ever.
    """

    at: Mapping[str, Fraction]
    writes: tuple[tuple[str, Fraction, Fraction], ...]
    everywhere: bool = False


@dataclass(frozen=True)
class Rest:
    """Every run comes to rest; each script says that no further condition holds in one interval of the open number."""

    scripts: tuple[str, ...]


@dataclass(frozen=True)
class StepSystem:
    """Moves of loops on one signal, each with its whole condition over the signal and at most one open number."""

    signal: str
    moves: tuple[tuple[Move, Tree], ...]
    values: Interval
    whole: bool
    start: Fraction | None
    opened: tuple[str, Interval] | None

    @property
    def step(self) -> Fraction:
        """The greatest common divisor of all steps; 1 where the signal takes whole numbers."""
        steps = [abs(move.by) for move, _ in self.moves if move.by]
        if self.whole or not steps:
            return Fraction(1)
        denominator = math.lcm(*(step.denominator for step in steps))
        return Fraction(math.gcd(*(int(step * denominator) for step in steps)), denominator)


def step_system(
    facts: DesignFacts, signal: str, moves: Sequence[Move], *, start: Interval, conditions: Iterable[Tree | None]
) -> StepSystem | None:
    """Returns the system of these moves, each under its condition; None where it has no finite lattice of this kind."""
    loops = frozenset(facts.design.loops)
    trees = []
    for move, condition in zip(moves, conditions, strict=True):
        tree = facts.tree(condition or Truth(True))
        lasting = plain(_with_flag(tree, move.name), steady=True)
        if move.writer.relay or loops & set(names(lasting)) or any(_is_past(node) for node in walk(tree)):
            return None
        trees.append(rename(lasting, lambda path: path if path == signal else _stated(facts, path)))
    low = [move.writer.values.low for move in moves]
    high = [move.writer.values.high for move in moves]
    if None in low or None in high or not all(map(_affine_sides, trees)) or any(map(_reads_truth, trees)):
        return None
    values = Interval(min(end for end in low if end is not None), max(end for end in high if end is not None))
    opened = tuple(dict.fromkeys(path for tree in trees for path in names(tree) if path != signal))
    whole, exact = signal in facts.whole, start.low if start.exact else None
    if len(opened) + (not whole and exact is None) > 1 or (exact is not None and not _within(values, exact)):
        return None
    unknown = (opened[0], facts.values.get(opened[0], EVERYTHING)) if opened else None
    return StepSystem(signal, tuple(zip(moves, trees, strict=True)), values, whole, exact, unknown)


def _is_past(node: Tree) -> bool:
    return isinstance(node, Call) and node.function in PAST


def _with_flag(tree: Tree, own: str) -> Tree:
    """The condition at the time at which the loop acts: its own name is true."""
    return rename(tree, lambda path: Truth(True) if path == own else path)


def _stated(facts: DesignFacts, path: str) -> Tree | str:
    """The number that a name stands for, where it is one."""
    span = facts.values.get(path)
    return Number(span.low) if span is not None and span.exact and span.low is not None else path


def _affine_sides(tree: Tree) -> bool:
    """Decides whether all comparisons are between sums, products and quotients: each flips at one value of a number."""
    return all(isinstance(node, Compare | Arithmetic | Name | Number | Logic | Truth) for node in walk(tree))


def _reads_truth(tree: Tree) -> bool:
    """Decides whether a name stands where a truth does (`job.idle`): that is no number that a comparison flips at."""
    nodes = (tree, *(term for node in walk(tree) if isinstance(node, Logic) for term in node.terms))
    return any(isinstance(node, Name) for node in nodes)


def decide(system: StepSystem) -> StepLap | Rest | None:
    """Returns a lap on which at least two loops write for ever, or that every run rests; None beyond the limits."""
    lattice = _lattice(system)
    if lattice is None:
        return None
    name, cells = _cells(system, lattice)
    if cells is None or len(cells) * len(lattice) * len(system.moves) > MOST_CASES:
        return None
    scripts, first, rests = list[str](), list[StepLap](), False
    for sample, cell in cells:
        at = {name: sample} if sample is not None else {}
        starts = [number.value + sum(c for _, c in number.gradient) * (sample or 0) for number in lattice]
        try:
            run = _followed(system, at, [x for x in starts if _within(system.values, x)])
        except (NotExactError, ZeroDivisionError):
            return None
        if run is None:
            return first[0] if first else None
        first, rests = first or list(run.laps[:1]), rests or run.rests
        if first and rests:
            break  # no further piece says more
        scripts += [_script(system, name, (sample, cell), run.acting)] if not first else []
    return replace(first[0], everywhere=not rests) if first else Rest(tuple(scripts))


def decide_between(system: StepSystem) -> StepLap | Rest | None:
    """Decides the same where a signal of whole steps may begin between whole numbers."""
    outcome = decide(system)
    if system.start is not None or not system.whole:
        return outcome
    anywhere = decide(replace(system, whole=False)) if system.opened is None else None
    if isinstance(outcome, StepLap):
        return replace(outcome, everywhere=isinstance(anywhere, StepLap) and anywhere.everywhere)
    return anywhere


def _lattice(system: StepSystem) -> list[Affine] | None:
    """The values that may be a start: one, all whole numbers, or one fraction beyond each multiple of the step."""
    low, high = system.values.low, system.values.high
    assert low is not None
    assert high is not None
    if system.start is not None:
        return [lift(system.start)]
    base = Fraction(math.ceil(low)) if system.whole else low
    count = math.floor((high - base) / system.step) + 1
    if not 0 < count <= MOST_VALUES:
        return None
    gradient = () if system.whole else ((FRACTION, Fraction(1)),)
    return [Affine(base + k * system.step, gradient) for k in range(count)]


def _cells(system: StepSystem, lattice: Sequence[Affine]) -> tuple[str, list[tuple[Fraction | None, Interval]] | None]:
    """The open number, and (sample, interval) of each piece of its range on which the map is the same."""
    if system.opened is None and not any(number.gradient for number in lattice):
        return "", [(None, EVERYTHING)]
    fraction = system.opened is None
    name, span = (FRACTION, Interval(Fraction(0), system.step)) if fraction else system.opened or ("", EVERYTHING)
    roots: set[Fraction] = set()
    reachable = [*lattice, *map(lift, _anchored(system))]
    for here in reachable if fraction else map(lift, dict.fromkeys(number.value for number in reachable)):
        try:
            roots |= {root for root in _roots(system, name, here) if _within(span, root)}
        except (NotExactError, ZeroDivisionError):
            return name, None
    return name, list(_pieces(sorted(roots), span))


def _anchored(system: StepSystem) -> list[Fraction]:
    """All values that follow a clip or a set: multiples of the step beyond each bound and each value set."""
    low, high = system.values.low, system.values.high
    assert low is not None
    assert high is not None
    bounds = ((move.writer.values.low, move.writer.values.high, move.to) for move, _ in system.moves)
    ends = {end for bound in (*bounds, (system.start,)) for end in bound if end is not None}
    values = set[Fraction]()
    for end in ends:
        first = math.ceil((low - end) / system.step)
        values |= {end + k * system.step for k in range(first, math.floor((high - end) / system.step) + 1)}
    return sorted(values)


def _roots(system: StepSystem, name: str, here: Affine) -> Iterator[Fraction]:
    """Values of the open number at which a comparison flips, or a write meets a bound, from one value of the signal."""
    world = {system.signal: here, name: Affine(Fraction(0), ((name, Fraction(1)),))}
    for move, tree in system.moves:
        for compare in (node for node in walk(tree) if isinstance(node, Compare)):
            yield from _root(evaluate(Arithmetic("-", compare.left, compare.right), Constants(world)))
        for end in (move.writer.values.low, move.writer.values.high, system.values.low, system.values.high):
            yield from _root(here + (move.by or 0) - end) if end is not None else ()
            yield from _root(here - end) if end is not None else ()


def _root(difference: object) -> Iterator[Fraction]:
    number = lift(difference)  # type: ignore[arg-type]
    if not number.exact:
        raise NotExactError("a comparison that is not affine in the open number")
    slope = sum((slope for _, slope in number.gradient), Fraction(0))
    if slope:
        yield -number.value / slope


def _pieces(roots: Sequence[Fraction], span: Interval) -> Iterator[tuple[Fraction, Interval]]:
    """Each root as a point, and a sample of each open interval between roots and ends."""
    ends = [span.low, *roots, span.high]
    yield from ((root, Interval(root, root)) for root in dict.fromkeys(e for e in ends if e is not None))
    for low, high in itertools.pairwise(ends):
        if low is None and high is None:
            yield Fraction(0), EVERYTHING
        elif low is None or high is None:
            end = low if low is not None else high
            assert end is not None
            yield (end + 1 if high is None else end - 1), Interval(low, high)
        elif low < high:
            yield (low + high) / 2, Interval(low, high)


def _within(span: Interval, x: Fraction) -> bool:
    return (span.low is None or x >= span.low) and (span.high is None or x <= span.high)


@dataclass(frozen=True)
class FollowedRuns:
    """Which loop writes at each value that was reached, the laps, and whether some start ends in none."""

    acting: dict[Fraction, str]
    laps: tuple[StepLap, ...]
    rests: bool


def _followed(system: StepSystem, at: Mapping[str, Fraction], starts: Iterable[Fraction]) -> FollowedRuns | None:
    """Follows the runs from all starts; None where two write at once."""
    acting: dict[Fraction, str] = {}
    after: dict[Fraction, Fraction] = {}
    laps, ends = list[StepLap](), dict[Fraction, bool]()  # whether the run from a value ends in a lap of two loops
    for start in starts:
        x, path = start, dict[Fraction, None]()
        while x not in after:
            path[x] = None
            able = [(move, y) for move, tree in system.moves if (y := _written(system, move, tree, x, at)) is not None]
            if len({move.name for move, _ in able}) > 1:
                return None
            acting[x], after[x] = (able[0][0].name, able[0][1]) if able else ("", x)
            x = after[x]
        if x in path:
            lap = _lap(acting, after, x) if after[x] != x else ()
            ends[x] = len({name for name, *_ in lap}) > 1
            if ends[x]:
                laps.append(StepLap({name: level for name, level in at.items() if name != FRACTION}, lap))
        ends |= dict.fromkeys(path, ends[x])
    return FollowedRuns(acting, tuple(laps), not all(ends.values()))


def _written(system: StepSystem, move: Move, tree: Tree, x: Fraction, at: Mapping[str, Fraction]) -> Fraction | None:
    """What the move writes at a value; None where it does not act or changes nothing."""
    if not evaluate(tree, Constants({system.signal: x, **at})):
        return None
    level = move.writer.values.clip(move.to if move.to is not None else x + (move.by or 0))
    return level if level != x else None


def _lap(
    acting: Mapping[Fraction, str], after: Mapping[Fraction, Fraction], x: Fraction
) -> tuple[tuple[str, Fraction, Fraction], ...]:
    writes: list[tuple[str, Fraction, Fraction]] = []
    here = x
    while not writes or here != x:
        writes.append((acting[here], here, after[here]))
        here = after[here]
    return tuple(writes)


def _script(
    system: StepSystem, name: str, piece: tuple[Fraction | None, Interval], acting: Mapping[Fraction, str]
) -> str:
    """Claims that on this piece no loop acts at a reached value but the one that was followed."""
    (sample, cell), facts = piece, list[str]()
    if name and cell.exact and cell.low is not None:
        facts.append(f"(= {symbol(name)} {rational(cell.low)})")
    elif name:
        facts += [f"(> {symbol(name)} {rational(cell.low)})"] if cell.low is not None else []
        facts += [f"(< {symbol(name)} {rational(cell.high)})"] if cell.high is not None else []
    moving = sample if name == FRACTION and not cell.exact else None
    terms = dict.fromkeys(
        lower_smt(_at(system, tree, x, moving))
        for x, own in acting.items()
        for move, tree in system.moves
        if move.name != own and _changes(move, x)
    )
    facts.append(f"(or false {' '.join(terms)})")
    return Certificate({symbol(name): "Real"} if name else {}, tuple(facts), "false").script()


def _changes(move: Move, x: Fraction) -> bool:
    """Decides whether the move writes another value than the one that stands."""
    return move.writer.values.clip(move.to if move.to is not None else x + (move.by or 0)) != x


def _at(system: StepSystem, tree: Tree, x: Fraction, fraction: Fraction | None) -> Tree:
    """The condition at a value of the signal; `fraction`: the value moves with the open fraction of the start."""
    value: Tree = Number(x)
    assert system.values.low is not None
    if fraction is not None and ((x - fraction - system.values.low) / system.step).denominator == 1:
        value = Arithmetic("+", Number(x - fraction), Name(FRACTION))
    return rename(tree, lambda path: value if path == system.signal else path)

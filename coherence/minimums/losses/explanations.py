"""Finds which assumptions explain a measurement below its floor: the smallest sets without which nothing forbids it.

Without a set of assumptions a floor is replaced by the bound that remains (`Bound.without`); where none is known,
nothing remains.  An assumption that only makes things look better than they are (`ideal`) explains nothing, and one
whose relaxation leaves a floor above the measurement is innocent alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.assumptions import assumption
from coherence.minimums.bound import Bound
from coherence.minimums.floors import Number
from coherence.minimums.losses.composition import (
    BarrierTerm,
    KnownTerm,
    Leaf,
    Overlap,
    RepeatedTerm,
    Serial,
    Term,
    estimate,
    leaves,
)
from coherence.minimums.registry import entry

LARGEST = 3  # assumptions of a set
NOTHING = KnownTerm(Fraction(0), Fraction(0), "nothing")


@dataclass(frozen=True)
class Explanation:
    """Without all of these assumptions the floor is `left` at most."""

    assumptions: tuple[str, ...]
    left: Number


def relaxed(term: Term, dropped: frozenset[str]) -> Term:
    """Returns the composition that remains without some assumptions."""
    match term:
        case Leaf():
            return _weaker(term, dropped) or NOTHING
        case Serial(parts=parts) | Overlap(parts=parts) | BarrierTerm(parts=parts):
            return replace(term, parts=tuple(relaxed(part, dropped) for part in parts))
        case RepeatedTerm(part=part, factor=factor):
            times = Overlap((relaxed(factor, dropped), KnownTerm(Fraction(1), Fraction(1), "once")))
            return RepeatedTerm(relaxed(part, dropped), times if dropped & _assumed(factor) else factor)
    return term


def _assumed(term: Term) -> set[str]:
    return {name for leaf in leaves(term) for name in leaf.bound.assumptions}


def _weaker(leaf: Leaf, dropped: frozenset[str]) -> Leaf | None:
    """Returns the largest of the bounds that remain, each with what its own assumptions allow; None: no bound does."""
    hit = dropped & set(leaf.bound.assumptions)
    if not hit:
        return leaf
    weaker = [_weaker(other, dropped) for other in _rungs(leaf, hit)]
    left = [(one, estimate(one).low) for one in weaker if one is not None]
    return max(left, key=lambda pair: pair[1])[0] if left else None


def _rungs(leaf: Leaf, hit: frozenset[str]) -> Iterator[Leaf]:
    for name in sorted(hit & set(leaf.bound.without)):
        bound: Bound = entry(leaf.bound.without[name]).bound
        if bound.stands and name not in bound.assumptions and set(bound.names) <= set(leaf.inputs):
            yield Leaf(bound, {symbol: leaf.inputs[symbol] for symbol in bound.names}, leaf.within or leaf.bound.group)


def explanations(floor: Term, scheme: Term | None, known: Number, measured: Number) -> tuple[Explanation, ...]:
    """Returns the smallest sets without which the measurement is possible, the fewest assumptions first."""
    terms = [term for term in (floor, scheme) if term is not None]
    names = sorted({name for term in terms for name in _assumed(term) if not assumption(name).ideal})
    explained: list[Explanation] = []
    for size in range(1, min(LARGEST, len(names)) + 1):
        for chosen in itertools.combinations(names, size):
            left = max(_least(relaxed(term, frozenset(chosen))) for term in terms) + known
            if left <= measured and not any(set(one.assumptions) <= set(chosen) for one in explained):
                explained.append(Explanation(chosen, left))
    return tuple(explained)


def innocent(floor: Term, explained: Sequence[Explanation]) -> tuple[Explanation, ...]:
    """Returns the assumptions that a weaker bound is known for and that are in no explanation, with what it leaves."""
    guilty = {name for one in explained for name in one.assumptions}
    rungs = {name for leaf in leaves(floor) for name in leaf.bound.without} - guilty
    return tuple(Explanation((name,), _least(relaxed(floor, frozenset({name})))) for name in sorted(rungs))


def _least(term: Term) -> Number:
    try:
        return estimate(term).low
    except UsageError:  # what remains of the parts does not join
        return Fraction(0)


def common(of: Iterable[Sequence[Explanation]]) -> tuple[tuple[str, ...], ...]:
    """Returns the smallest sets of assumptions that explain several measurements at once."""
    rows = [[frozenset(one.assumptions) for one in row] for row in of]
    unions = {frozenset[str]().union(*chosen) for chosen in itertools.islice(itertools.product(*rows), 10_000)}
    least = min(map(len, unions), default=0)
    return tuple(sorted(tuple(sorted(union)) for union in unions if len(union) == least > 0))

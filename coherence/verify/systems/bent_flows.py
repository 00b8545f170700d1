"""Encloses a state between two instants whose flow reads its own level: what decays, drains, or fills up to a level.

Such a state moves one way and comes to rest at most; its mean rate lies between those at both ends, where the rate only
falls, or only rises, with the level.  The value at the end is an unknown under these rows: more runs than there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from coherence.language.expressions import names as names_of
from coherence.language.expressions.tree import Arithmetic, Call, Compare, Name, Tree, walk
from coherence.model.model import Interval, Model
from coherence.simulate.execute.slices import signals_in
from coherence.verify.systems.cases import AffineCase
from coherence.verify.systems.symbolic_instant import LESS
from coherence.verify.systems.terms import Guard, Term, add, constant, guard, scaled, unit

Amounts = Callable[[Term], list[AffineCase]]  # what flows at a rate meanwhile
CONTINUOUS = ("min", "max", "abs")


def bent_flows(model: Model) -> frozenset[str]:
    """Returns the states whose flow reads their own level and no other one that flows, without a jump."""
    flows = {path: state.flow for path, state in model.states.items() if state.flow is not None}
    return frozenset(
        path for path, flow in flows.items()
        if signals_in(model, flow) & flows.keys() == {path} and _continuous(flow, path, model)
    )  # fmt: skip


def compares_curves(model: Model, condition: Tree) -> bool:
    """Decides whether a comparison reads a state that flows in a curve beside another state that flows."""
    flowing, bent = {path for path, state in model.states.items() if state.flow is not None}, bent_flows(model)
    read = (flowing.intersection(names_of(node)) for node in walk(condition) if isinstance(node, Compare))
    return any(len(names) > 1 and names & bent for names in read)


def _continuous(tree: Tree, path: str, model: Model) -> bool:
    if path not in signals_in(model, tree):
        return True
    match tree:
        case Name(path=name):
            return name == path or _continuous(model.outputs[name], path, model)
        case Arithmetic(left=left, right=right):
            return _continuous(left, path, model) and _continuous(right, path, model)
        case Call(function=function, arguments=arguments) if function in CONTINUOUS:
            return all(_continuous(argument, path, model) for argument in arguments)
    return False


def enclosed(
    start: Term, later: str, rates: tuple[list[AffineCase], list[AffineCase]], amounts: Amounts, limits: Interval
) -> Iterator[AffineCase]:
    """Yields the values of a state at the end, by the name `later`; `rates`: the cases at the start and at the end."""
    end, (first, last) = unit(later), rates
    slopes = [dict(case.value.items).get(later, Fraction(0)) for case in last]
    falls, rises = max(slopes) <= 0, min(slopes) >= 0
    inside = guard(_within(end, limits))
    for before in first:
        for after in last:
            both = before.guard.joined(after.guard)
            open_ = both.joined(inside) if both is not None and inside is not None else None
            for sign in (Fraction(1), Fraction(-1)):
                same = _rows(open_, sign, [before.value, after.value, add(end, start, LESS)])
                least, most = (after, before) if falls else (before, after)
                yield from _between(
                    same, sign, (start, end), (least.value, most.value), amounts if falls or rises else None
                )
        for stop, sign in ((limits.high, Fraction(1)), (limits.low, Fraction(-1))):
            pushed = _rows(before.guard, sign, [before.value]) if stop is not None else None
            if pushed is not None and stop is not None:
                yield AffineCase(pushed, constant(stop))


def _between(
    same: Guard | None, sign: Fraction, ends: tuple[Term, Term], rates: tuple[Term, Term], amounts: Amounts | None
) -> Iterator[AffineCase]:
    """Yields the end under rows by which what was added lies between what flows at the least and the greatest rate."""
    start, end = ends
    if same is None or amounts is None:
        yield from [AffineCase(same, end)] if same is not None else []
        return
    for least in amounts(rates[0]):
        for most in amounts(rates[1]):
            joined = same.joined(least.guard)
            joined = joined.joined(most.guard) if joined is not None else None
            added = add(end, start, LESS)
            rows = _rows(joined, sign, [add(added, least.value, LESS), add(most.value, added, LESS)])
            if rows is not None:
                yield AffineCase(rows, end)


def _rows(begin: Guard | None, sign: Fraction, terms: list[Term]) -> Guard | None:
    """Returns a guard with terms that are at least 0 (sign 1) or at most 0 (-1)."""
    return guard([(scaled(term, -sign), "<=") for term in terms], begin) if begin is not None else None


def _within(term: Term, limits: Interval) -> Iterator[tuple[Term, str]]:
    if limits.low is not None:
        yield add(constant(limits.low), term, LESS), "<="
    if limits.high is not None:
        yield add(term, constant(limits.high), LESS), "<="

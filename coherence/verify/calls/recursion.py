"""Computes how many calls inside a circle one request starts: the branching of calls that lead back to their caller.

Each request of a thing is of one case by itself, with the weights that the design states, and each call of its case is
sent once or, as it fails, several times.  SOURCE: T. E. Harris, The Theory of Branching Processes (1963), chapter II:
with mean matrix M, circles end surely and after (I - M)^-1 1 requests on average where its spectral radius is below 1;
from 1 on that mean is infinite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.call_cases import CallCase, case_share, weights
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.call_graph import CallTree
from coherence.verify.calls.retry_policies import RetryPolicy, copies_of_try

Means = Mapping[str, Mapping[str, Fraction]]  # thing -> thing -> sends per request
ONE, ZERO = Fraction(1), Fraction(0)


@dataclass(frozen=True)
class MeanSends:
    """Sends of a call for one request of its caller, on average: at least `fewest`; `quiet` at most where no try fails,
    `most` where all do (None: without bound).  `stated`: the design says how many requests make the call.
    """

    plan: RetryPolicy
    fewest: Fraction
    quiet: Fraction
    most: Fraction | None
    stated: bool


def mean_sends(design: Design, tree: CallTree, cycle: Sequence[str]) -> tuple[MeanSends, ...]:
    """Returns the sends of each call that stays in a circle."""
    return tuple(_sends(plan, tree, weights(design)) for plan in tree.plans if _inside(plan, cycle))


def _inside(plan: RetryPolicy, cycle: Sequence[str]) -> bool:
    return plan.caller in cycle and plan.callee in cycle


def _sends(plan: RetryPolicy, tree: CallTree, stated: Mapping[str, Mapping[str, Quantity]]) -> MeanSends:
    share: tuple[Fraction, Fraction] | None = None
    if plan.call.cases:
        share = case_share(plan.call, stated.get(plan.caller, {}))
    elif plan.call.fallback_for is None and all(case.all_made for case in tree.cases[plan.caller]):
        share = ONE, ONE
    least, largest = share or (ZERO, ONE)
    after_failure = plan.call.fallback_for is not None
    quiet = ZERO if after_failure else largest * copies_of_try(plan.call)
    most = largest * copies_of_try(plan.call) * plan.tries if plan.tries is not None else None
    return MeanSends(plan, least, quiet, most, share is not None or after_failure)


def means(sends: Sequence[tuple[RetryPolicy, Fraction]]) -> Means:
    """Returns sends of calls as sends of things to things."""
    rows: dict[str, dict[str, Fraction]] = {}
    for plan, mean in sends:
        row = rows.setdefault(plan.caller, {})
        row[plan.callee] = row.get(plan.callee, ZERO) + mean
        rows.setdefault(plan.callee, {})
    return rows


def requests_started(mean: Means) -> Mapping[str, Fraction] | None:
    """Returns how many requests one request of each thing starts on average, itself included; None: without bound.

    Solves y = 1 + M y by elimination without pivoting: all pivots of I - M are above 0 where, and only where, the
    spectral radius of M is below 1 (SOURCE: M. Fiedler, V. Ptak, On matrices with non-positive off-diagonal elements
    and positive principal minors, 1962).
    """
    names = tuple(mean)
    rows = [[(ONE if a == b else ZERO) - mean[a].get(b, ZERO) for b in names] + [ONE] for a in names]
    for k, pivot in enumerate(rows):
        if pivot[k] <= 0:
            return None
        for row in rows[k + 1 :]:
            _subtract(row, pivot, row[k] / pivot[k])
    for k in reversed(range(len(rows))):
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for row in rows[:k]:
            _subtract(row, rows[k], row[k])
    return {name: row[-1] for name, row in zip(names, rows, strict=True)}


def _subtract(row: list[Fraction], other: Sequence[Fraction], times: Fraction) -> None:
    if times:
        row[:] = [own - times * entry for own, entry in zip(row, other, strict=True)]


def endless(tree: CallTree, cycle: Sequence[str]) -> frozenset[str]:
    """Returns the things of a circle of which no request can be answered: whatever its case, one of its calls stays
    among them, and so does each fallback of that call.
    """
    left = frozenset(cycle)
    while (staying := frozenset(name for name in left if _goes_on(tree, name, left))) != left:
        left = staying
    return left


def _goes_on(tree: CallTree, name: str, among: frozenset[str]) -> bool:
    return all(case.all_made and any(_stays(case, among)) for case in tree.cases[name])


def _stays(case: CallCase, among: frozenset[str]) -> Iterator[bool]:
    """Yields of each call whether it, and what is called when it has failed, stays among some things."""
    for stage in case.stages:
        yield from (all(call.callee is not None and call.callee.text in among for call in chain) for chain in stage)

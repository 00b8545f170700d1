"""Limits that another limit hides: over another window, or on a count that the first one bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Limit
from coherence.language.expressions import names as used
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Compare, Tree
from coherence.language.schema_kinds import Quantity
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.limits import cap, place_of
from coherence.verify.facts.satisfiability import SatState, sat_query, solve_query

SCOPE = ("per", "scope", "during", "actions", "when_full")
MOST_PAIRS = 400


def answers(ask: Question, subject: Subject, facts: DesignFacts) -> Iterator[Finding]:
    """Yields one answer per limit that is never the one that binds."""
    alike: dict[tuple[object, ...], list[Limit]] = {}
    for limit in subject.design.limits.values():
        if limit.counts is not None and limit.at_most is not None and limit.part is None:
            alike.setdefault(tuple(str(getattr(limit, key)) for key in SCOPE), []).append(limit)
    for group in alike.values():
        pairs = list(itertools.islice(_related(facts, group), MOST_PAIRS + 1))
        for first, second in pairs[:MOST_PAIRS]:
            yield from _pair(ask, facts, first, second)
        if len(pairs) > MOST_PAIRS:
            related = dict.fromkeys(limit.name for pair in pairs for limit in pair)
            needs = f"whether one of {len(group)} limits of one scope hides another: too many pairs"
            yield ask.undecided(needs, [limit.place for limit in pairs[-1]], related, bound=f"{MOST_PAIRS} pairs")


def _related(facts: DesignFacts, group: Sequence[Limit]) -> Iterator[tuple[Limit, Limit]]:
    """Yields the pairs of limits whose counts read one signal."""
    readers: dict[str, list[Limit]] = {}
    for limit in group:
        assert limit.counts is not None
        paths = used(facts.tree(limit.counts.tree))
        earlier = dict.fromkeys(other.name for path in paths for other in readers.get(path, ()))
        yield from ((facts.design.limits[name], limit) for name in earlier)
        for path in dict.fromkeys(paths):
            readers.setdefault(path, []).append(limit)


def _pair(ask: Question, facts: DesignFacts, first: Limit, second: Limit) -> Iterator[Finding]:
    assert first.counts is not None
    assert second.counts is not None
    a, b = facts.tree(first.counts.tree), facts.tree(second.counts.tree)
    windows = tuple(w.low if isinstance(w, Quantity) and w.exact else None for w in (first.window, second.window))
    if a == b and None not in windows and windows[0] != windows[1]:
        yield from _windows(ask, facts, *sorted((first, second), key=_window))
    elif first.window is None and second.window is None and first.counts.tree != second.counts.tree:
        for small, large, inner, outer in ((first, second, a, b), (second, first, b, a)):
            if set(used(inner)) & set(used(outer)) and small.when_full is not None:
                yield from _implied(ask, facts, small, large, inner, outer)


def _window(limit: Limit) -> Fraction:
    return limit.window.low if isinstance(limit.window, Quantity) else Fraction(0)


def _windows(ask: Question, facts: DesignFacts, short: Limit, long: Limit) -> Iterator[Finding]:
    """A longer window holds at most ceil(ratio) shorter ones; a shorter one never more than the longer."""
    caps = [facts.range(tree) if (tree := cap(facts, limit)) is not None else None for limit in (short, long)]
    if any(cap is None or not cap.exact for cap in caps) or _window(short) <= 0:
        return
    small, large = (cap.low or Fraction(0) for cap in caps if cap is not None)
    fits = math.ceil(_window(long) / _window(short))
    if large >= small * fits and short.rejects and _counts_refused(long):
        return  # what the shorter one refuses fills the longer one
    if large >= small * fits:
        claim = Certificate(claim=f"(>= {rational(large)} (* {rational(small)} {rational(fits)}))").script()
        why = f"{render_seconds(_window(long))} are {fits} windows of {render_seconds(_window(short))}"
        unsaid = [f"{long.name} does not count what {short.name} refuses"] if short.rejects and not long.refused else []
        yield _hidden(ask, long, short, claim, why, {"most in the longer window": (small * fits, "")}, assumed=unsaid)
    elif small >= large and short.rejects and _counts_refused(short) and not _counts_refused(long):
        return  # what the longer one refuses fills the shorter one
    elif small >= large:
        claim = Certificate(claim=f"(>= {rational(small)} {rational(large)})").script()
        why = f"what comes within {render_seconds(_window(short))} comes within {render_seconds(_window(long))}"
        yield _hidden(ask, short, long, claim, why, {"most in the longer window": (large, "")})
    elif math.floor(small) < math.floor(large) < math.floor(small) * fits:  # counts may be whole
        yield _both_bind(ask, (short, long), (small, large, Fraction(fits)))


def _counts_refused(limit: Limit) -> bool:
    return limit.refused is not None and limit.refused.text == "count"


def _both_bind(ask: Question, limits: tuple[Limit, Limit], sizes: tuple[Fraction, Fraction, Fraction]) -> Finding:
    """Answers that a limit may be full while the one over the longer window is not, and the other way round."""
    (short, long), (small, large, fits) = limits, sizes
    places = tuple(place_of(limit.at_most, limit).labelled("this one may bind") for limit in limits)
    message = (
        f"{short.name} binds while {long.name} has room left ({small} < {large}), "
        f"and {long.name} before {fits} times {short.name} are full"
    )
    claim = (
        f"(and (< {rational(small)} {rational(large)}) (< {rational(large)} (* {rational(small)} {rational(fits)})))"
    )
    evidence = arithmetic(
        {"most in the longer window": (small * fits, "")}, certificate=Certificate(claim=claim).script()
    )
    return ask.proved(message, places, (long.name, short.name), evidence)


def _implied(
    ask: Question, facts: DesignFacts, small: Limit, large: Limit, inner: Tree, outer: Tree
) -> Iterator[Finding]:
    """Where the first cap holds, the second count stays within its own, though it could pass it alone."""
    first, second = cap(facts, small), cap(facts, large)
    if first is None or second is None:
        return
    holds, passed = Compare("<=", inner, first), Compare(">", outer, second)
    try:
        both = sat_query(facts, (holds, passed), steady=False)
        counterexample, alone = solve_query(both), solve_query(sat_query(facts, (passed,), steady=False))
        back = solve_query(sat_query(facts, (Compare("<=", outer, second), Compare(">", inner, first)), steady=False))
    except NotExactError:
        return
    if (
        isinstance(counterexample, SatState)
        or not counterexample.unsat
        or not isinstance(alone, SatState)
        or not isinstance(back, SatState)
    ):
        return
    why = f"while {small.counts} <= {small.at_most}, {large.counts} stays below {large.at_most}"
    yield _hidden(ask, large, small, both.script(), why, {})


def _hidden(
    ask: Question, hidden: Limit, binding: Limit, certificate: str, why: str,
    numbers: dict[str, tuple[Fraction | float | int, str]], assumed: Sequence[str] = (),
) -> Finding:  # fmt: skip
    places = (
        place_of(hidden.at_most, hidden).labelled("never reached"),
        place_of(binding.at_most, binding).labelled("this one binds first"),
    )
    message = f"{hidden.name} never takes effect: {binding.name} binds first ({why})"
    steps = (Step(None, f"{binding.name} is full"), Step(None, f"{hidden.name} has room left: {why}"))
    evidence = arithmetic(numbers, witness=steps, certificate=certificate)
    return ask.conflict(message, places, (hidden.name, binding.name), evidence, certain=False, assumptions=assumed)

"""stated numbers: a promise about numbers that the design itself states, and that they break.

## What
A promise `always` or `never` over constants, ranges, rates and what is computed from them, with nothing in it that a
loop writes or that changes by itself.  It is evaluated over all values that the ranges allow: it holds for all
(proved, with a certificate) or fails for some, which are shown; what holds for none is `unsatisfiable-targets`.  A name
that stands at both sides, and functions of cases (`min`, `max`), are left to a solver.  Where
one number is not stated the promise is left to the questions about what changes.

## Why it hurts
The numbers stand in two files and were right when they were written.  One of them has changed since, and no
run of the system says which promise it broke.

## Example
```yaml
coherence: 1
workload: {hot: {rate: 8 req/s .. 12 req/s}}
components: {engine: {capacity: 10 req/s}}
promises: {stable: hot.rate < engine.capacity}
```

## Instead
`engine: {capacity: 15 req/s}`.

## Source
vllm-project/production-stack (a hot prefix sends more to one engine than it serves).  SOURCE of the method: Moore,
Kearfott, Cloud, Introduction to Interval Analysis (2009).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Evidence, Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.expressions import names as used
from coherence.language.expressions import walk
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Arithmetic, Call, Compare, Held, Logic, Number, Tree
from coherence.language.sentences import Promise
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.limits import largest, narrowed
from coherence.verify.facts.range_claims import claimed
from coherence.verify.facts.ranges import PAST, Corner, extremes, truth
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.timers.removals import departures

QUESTION = Question("COH244", "stated-numbers", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
ORDERED = ("<", "<=", ">", ">=")


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per promise whose every name stands for a stated number."""
    promises = [
        p for p in subject.design.promises.values() if p.kind in ("always", "never") and p.condition is not None
    ]
    if not promises:
        return
    facts = known(subject)
    for promise in promises:
        assert promise.condition is not None
        tree = facts.tree(promise.condition.tree)
        claim = Logic("not", (tree,)) if promise.kind == "never" else tree
        if (
            used(tree)
            and not facts.missing(tree)
            and _defined(facts, tree)
            and all(_constant(facts, path) for path in used(tree))
        ):
            yield from _answer(subject, facts, promise, claim)


def _defined(facts: DesignFacts, tree: Tree) -> bool:
    """Returns whether nothing is divided by what may be 0."""
    divisors = (node.right for node in walk(tree) if isinstance(node, Arithmetic) and node.op == "/")
    return all(truth(Compare("!=", divisor, Number(Fraction(0))), facts.values) for divisor in divisors)


def _constant(facts: DesignFacts, path: str) -> bool:
    """Returns whether the name stands for one number for ever."""
    return path in facts.quantities and path not in facts.written


def _answer(subject: Subject, facts: DesignFacts, promise: Promise, claim: Tree) -> Iterator[Finding]:
    holds = truth(claim, facts.values)
    if holds:
        evidence = arithmetic(_ranges(facts, claim), certificate=claimed(claim, facts.values, whole=facts.whole))
        yield _proved(facts, promise, claim, evidence)
        return
    if holds is None:
        beyond = _beyond(claim)
        excess = extremes(beyond, facts.values) if beyond is not None else None
        if excess is not None and _fails(claim, excess[1]):
            yield _conflict(subject, facts, promise, claim, beyond, excess[1].at)
        elif not any(
            isinstance(node, Held) or (isinstance(node, Call) and node.function in PAST) for node in walk(claim)
        ):
            yield from _solved(subject, facts, promise, claim, beyond)


def _solved(
    subject: Subject, facts: DesignFacts, promise: Promise, claim: Tree, beyond: Tree | None
) -> Iterator[Finding]:  # fmt: skip
    """Yields what a solver finds where names that stand at both sides, or cases, keep the ends from deciding."""
    from coherence.verify.facts.satisfiability import SatState, opposite, sat_query, solve_query

    try:
        query = sat_query(facts, [opposite(claim)], steady=True)
        solution = solve_query(query)
        certificate = query.script()
    except NotExactError:
        return
    if isinstance(solution, SatState):
        at = {path: Fraction(solution.at[path]) for path in used(claim) if path in solution.at}
        if len(at) == len(used(claim)):
            yield _conflict(subject, facts, promise, claim, beyond, at)
    elif solution.unsat:
        yield _proved(facts, promise, claim, arithmetic(_ranges(facts, claim), certificate=certificate))


def _proved(facts: DesignFacts, promise: Promise, claim: Tree, evidence: Evidence) -> Finding:
    return QUESTION.proved(
        f"the stated numbers keep '{promise.text}'",
        _places(facts, promise, claim),
        (promise.name, *_things(claim)),
        evidence,
        assumptions=tuple(_wanted(facts, claim)),
    )


def _wanted(facts: DesignFacts, claim: Tree) -> Iterator[str]:
    """Yields that a stated number of members is the wanted one, where something takes members away."""
    for path in used(claim):
        thing, _, signal = path.partition(".")
        if signal == "copies" and thing in facts.design.components:
            gone = dict.fromkeys(departure.name for departure in departures(facts, thing))
            if gone:
                yield f"{path} is how many are wanted: {thing}.available counts those that {' and '.join(gone)} left"


def _beyond(claim: Tree) -> Tree | None:
    """Returns how far one comparison is from holding: the larger the worse."""
    flip = False
    while isinstance(claim, Logic) and claim.op == "not":
        claim, flip = claim.terms[0], not flip
    if not isinstance(claim, Compare) or claim.op not in ORDERED:
        return None
    less = (claim.op in ("<", "<=")) != flip
    return Arithmetic("-", claim.left, claim.right) if less else Arithmetic("-", claim.right, claim.left)


def _fails(claim: Tree, worst: Corner) -> bool:
    from coherence.language.expressions.evaluate import Constants, evaluate

    return not evaluate(claim, Constants(worst.at))


def _things(claim: Tree) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path.partition(".")[0] for path in used(claim)))


def _ranges(facts: DesignFacts, claim: Tree) -> Numbers:
    ends = ((path, facts.values[path]) for path in used(claim))
    return {path: (range_.low if range_.low is not None else Fraction(0), "") for path, range_ in ends}


def _places(facts: DesignFacts, promise: Promise, claim: Tree) -> tuple[Place, ...]:
    stated = (facts.places[path].labelled(f"{path} is this") for path in used(claim) if path in facts.places)
    return (promise.place.labelled(f"promised here: {promise.name}"), *stated)


def _conflict(
    subject: Subject, facts: DesignFacts, promise: Promise, claim: Tree, beyond: Tree | None, at: Mapping[str, Fraction]
) -> Finding:  # fmt: skip
    values = {path: render_quantity(value, facts.quantities[path].dimension) for path, value in at.items()}
    shown = ", ".join(f"{path} = {text}" for path, text in values.items())
    message = f"the stated numbers may break '{promise.text}': {shown}"
    witness = (Step(None, shown), Step(None, f"'{promise.text}' does not hold"))
    numbers = {path: (value, "") for path, value in at.items()}
    return QUESTION.conflict(
        message, _places(facts, promise, claim), (promise.name, *_things(claim)),
        arithmetic(numbers, witness=witness), certain=False,
        repairs=_repairs(subject, facts, beyond, at) if beyond is not None else (),
    )  # fmt: skip


def _repairs(subject: Subject, facts: DesignFacts, beyond: Tree, worst: Mapping[str, Fraction]) -> Iterator[Repair]:
    """Yields each number alone, a tenth beyond the edge at which the promise holds for all others."""
    for path in used(beyond):
        quantity = facts.quantities[path]
        bound = largest(facts, beyond, path)
        if bound is not None and not quantity.exact:
            repair = repairs.proposal(narrowed(subject, quantity, bound * Fraction(9, 10)))
            yield from [repair] if repair else []
        edge = _edge(beyond, worst, path)
        if edge is not None and quantity.exact and edge > 0:
            value = _beside(edge, up=edge > worst[path], whole=path in facts.whole)
            repair = repairs.proposal(repairs.change(subject, quantity, value))
            yield from [repair] if repair else []


def _beside(edge: Fraction, *, up: bool, whole: bool) -> Fraction:
    """Returns the next whole number on the good side of the edge, or a tenth beyond it."""
    if whole:
        return Fraction(math.floor(edge) + 1 if up else math.ceil(edge) - 1)
    return repairs.upward_round(edge * Fraction(11, 10)) if up else repairs.downward_round(edge * Fraction(9, 10))


def _edge(beyond: Tree, worst: Mapping[str, Fraction], path: str) -> Fraction | None:
    """Returns the value of one name at which the worst case is exactly met, where the difference is linear in it."""
    from coherence.language.expressions.evaluate import Constants, evaluate

    try:
        at = [Fraction(evaluate(beyond, Constants({**worst, path: worst[path] + step}))) for step in (0, 1, 2)]
    except (NotExactError, ZeroDivisionError):
        return None
    slope = at[1] - at[0]
    return worst[path] - at[0] / slope if slope and at[2] - at[1] == slope else None

"""limit against demand: what a limit counts can reach more than it allows, or leaves nothing to act on.

## What
Evaluates what a limit counts over the ranges that the design states, with the limit's own rounding, and
compares it with the cap: `2 * agent.turns + 1` for 3 to 20 turns against 25 steps.  Equality fits, since
counts are whole.  A rate (`web.rate`) is counted over the window of the limit.  A limit that waits or sheds is meant
to be reached and is judged only when it always is.  Members that nobody calls (clients, workers) may each have a call
at a thing at once: where they are more than a limit on its work lets in (`counts: api.ongoing`), it is asked whether it
is meant to refuse those of calls that are made once, and what it loses is a conflict.
A disruption budget is the same question from the other side: with the fewest copies that an autoscaler may
choose, at least one must be free to go.  Of members that end by themselves (a job) it is told for how long a drain
waits, or asked how long they run.  Of two caps on one count only the smaller ever binds.

## Why it hurts
The run that matters most, the long one, dies at the limit and loses its work.  The node that must be emptied
waits for ever, because the budget never lets a pod go.  The generous setting is never reached.

## Example
```yaml
coherence: 1
components: {agent: {turns: 3 .. 20}}
limits: {steps: {counts: 2 * agent.turns + 1, at_most: 25, per: run, when_full: fail and lose}}
```

## Instead
```yaml
coherence: 1
components: {agent: {turns: 3 .. 20}}
limits: {steps: {counts: 2 * agent.turns + 1, at_most: 41, per: run, when_full: fail and lose}}
```

## Source
bytedance/deer-flow#55 (steps), devantler-tech/platform#1880 (a budget over one replica), devantler-tech/platform#1709
(a request above its limit), envoyproxy/envoy#11908 (the smaller of two caps).  Kubernetes documentation, Specifying a
Disruption Budget: percentages of both fields round up.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from coherence.findings.finding import Finding, Repair
from coherence.findings.question_input import Question, Subject
from coherence.language.design import Limit
from coherence.language.expressions import walk
from coherence.language.expressions.tree import Call, Compare, Name, Tree
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.limits import cap
from coherence.verify.facts.ranges import truth
from coherence.verify.patterns.limits import _disruption
from coherence.verify.patterns.limits._calling_members import answers
from coherence.verify.patterns.limits._demand import demand

QUESTION = Question(
    "COH209",
    "limit-against-demand",
    "ai.04 runtime control coherence",
    regardless=frozenset({"time", "end", "members", "rate"}),
)
QUESTIONS = (QUESTION,)
SEVERAL = ("karpenter_budget",)  # several side by side are its idiom: the smallest active one binds
SCOPE = ("per", "scope", "window", "during", "actions")  # caps that differ in one of these do not meet


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields each limit against what it counts, then every two caps on one count."""
    limits = subject.design.limits.values()
    if not limits:
        return
    facts = known(subject)
    for limit in limits:
        if _disruption.is_budget(facts, limit):
            yield from _disruption.budget(QUESTION, subject, facts, limit)
        elif limit.counts is not None and not _about_memory(limit):
            calling = tuple(answers(QUESTION, facts, limit))
            yield from calling or demand(QUESTION, subject, facts, limit)
    yield from _disruption.twice(QUESTION, limits)
    alike: dict[tuple[object, ...], list[Limit]] = {}
    for limit in limits:
        if limit.counts is not None:
            alike.setdefault((limit.counts.tree, *(getattr(limit, key) for key in SCOPE)), []).append(limit)
    for group in alike.values():
        for first, second in itertools.combinations(group, 2):
            yield from _smaller(subject, facts, first, second)


def _about_memory(limit: Limit) -> bool:
    """`sum of` members belongs to memory-admission."""
    assert limit.counts is not None
    return any(isinstance(node, Call) and node.function == "sum of" for node in walk(limit.counts.tree))


def _smaller(subject: Subject, facts: DesignFacts, tighter: Limit, other: Limit) -> Iterator[Finding]:
    """Two caps on one count in the same scope: the larger is never reached."""
    if tighter.part is not None and tighter.part == other.part and tighter.part.text in SEVERAL:
        return
    first, second = cap(facts, tighter), cap(facts, other)
    if first is None or second is None:
        return
    if facts.range(first).exact and facts.range(first) == facts.range(second):
        yield _equal(facts, (tighter, other), (first, second))
    for small, large, lower, upper in ((tighter, other, first, second), (other, tighter, second, first)):
        if truth(Compare("<", lower, upper), facts.values) and not _never_full(facts, small):
            yield _demand_hidden(subject, facts, small, large)


def _equal(facts: DesignFacts, limits: tuple[Limit, Limit], caps: tuple[Tree, Tree]) -> Finding:
    """Answers that two caps are full at the same count: neither hides the other."""
    from coherence.findings.question_input import arithmetic
    from coherence.verify.facts.limits import place_of
    from coherence.verify.facts.range_claims import claimed

    names = tuple(limit.name for limit in limits)
    places = tuple(place_of(limit.at_most, limit).labelled("allows as many") for limit in limits)
    evidence = arithmetic(
        {"limit": (facts.range(caps[0]).low or 0, "")}, certificate=claimed(Compare("==", *caps), facts.values)
    )
    return QUESTION.proved(f"{' and '.join(names)} allow as many: neither hides the other", places, names, evidence)


def _never_full(facts: DesignFacts, limit: Limit) -> bool:
    tree = cap(facts, limit)
    assert limit.counts is not None
    return tree is not None and bool(truth(Compare("<=", facts.tree(limit.counts.tree), tree), facts.values))


def _demand_hidden(subject: Subject, facts: DesignFacts, small: Limit, large: Limit) -> Finding:
    from coherence.findings import repairs
    from coherence.findings.finding import Step
    from coherence.findings.question_input import arithmetic
    from coherence.language.entries.limit_numbers import most_allowed
    from coherence.language.schema_kinds import Quantity
    from coherence.verify.facts.limits import place_of

    low, high = (facts.range(tree).high or 0 for limit in (small, large) if (tree := cap(facts, limit)) is not None)
    counted = small.counts.tree.path if small.counts and isinstance(small.counts.tree, Name) else str(small.counts)
    fewer, more = (most_allowed(facts.design, limit) or limit.at_most for limit in (small, large))
    stops = f"{small.name} stops it at {fewer}"
    message = f"{large.name} allows {counted} up to {more}, but {stops}: the smaller binds"
    places = (
        place_of(large.at_most, large).labelled("never reached"),
        place_of(small.at_most, small).labelled("this one binds"),
    )
    witness = (Step(None, f"{counted} reaches {fewer}: {small.name} is full, {large.name} is not"),)
    edits: list[Repair | None] = []
    if isinstance(fewer, Quantity) and isinstance(more, Quantity):
        edits = [repairs.proposal(repairs.change(subject, a, b.low)) for a, b in ((fewer, more), (more, fewer))]
    evidence = arithmetic({small.name: (low, ""), large.name: (high, "")}, witness=witness)
    assumptions = (f"more than {fewer} are asked for at once",)
    return QUESTION.conflict(
        message, places, (large.name, small.name), evidence,
        certain=False, assumptions=assumptions, repairs=[e for e in edits if e],
    )  # fmt: skip

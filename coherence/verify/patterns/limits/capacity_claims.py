"""capacity claims: what shares a capacity can ask for more than there is.

## What
Adds what the claims on a tier or a component may reach (the bounds of the loops that write them, stated
ranges) and compares the sum with the count.  A sum that passes it for some values is a possible conflict:
whether the loops go there together is their dynamics; that nothing in the design keeps them from it is not.

A boundary around the tier or the thing takes part: what a loop writes there takes effect `gain` times, `instances`
says how many members its slices have room for, `quota` how many devices can be had.  A sum of claims holds for every
delay: each part is within its bounds at any time.  `claims: {db.connections: ...}` claims a value that a thing
states, and what only a limit bounds stays within the limit,
and a limit on a sum that no loop writes (`counts: a.batch + b.batch`, with `when_full`) holds the claims that are a
multiple of it.

What runs on a tier claims it without `claims:` too: each member holds the `devices` of its `runs_on: {tier: a100,
devices: 2}`, or what it `needs` of the tier, and one where it does not say; where one each is too much, it is asked.  A
share (`devices: 1/7`) is inside one device: three of 4/7 do not fit on two.  Where `claims` and `devices` are both
written they must agree.  The extra copies of an update and jobs that need devices count beside the members: where they
have no room it is asked who waits; a job of which no member has room beside the fewest members is a conflict.  So it is
of any capacity that members hold by `needs`, unless an order says who waits.

What members hold (`needs: {gpu: 4}`) is added up in the same way over all members that a component has or may be
given, against what they run on, the one thing that has the resource, or all places together and each by itself.  A
job of which one member needs more than there is never runs.  Jobs that wait for their turn, members that wait for
each other and members under placement rules are decided elsewhere.

## Why it hurts
Each loop is right about its own bound.  Together they promise the same accelerators twice: one of them
waits, preempts or fails, and which one it is depends on who came first.

## Example
```yaml
coherence: 1
infrastructure: {tiers: {h100: {uses: h100_sxm, count: 64}}}
claims: {h100: pool.desired + batch.running}
loops:
  scale:
    target: {signal: pool.busy, setpoint: 70 %}
    actuation: {signal: pool.desired, law: proportional, bounds: [4, 64]}
  fill:
    trigger: pool.idle > 2
    actuation: {signal: batch.running, law: step, by: 5, bounds: [0, 64]}
```

## Instead
Bounds that fit together: `[4, 44]` for the pool and `[0, 20]` for the batch.

## Source
The design language: `claims` says what shares a capacity; sum <= count is a promise.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject
from coherence.verify.facts.design_facts import known

QUESTION = Question(
    "COH211",
    "capacity-claims",
    "ai.04 runtime control coherence",
    regardless=frozenset({"time", "end", "members", "rate"}),
)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per claimed capacity, and a conflict per capacity that members of components pass."""
    design = subject.design
    holding = any(component.needs is not None for component in design.components.values())
    if not (design.claims or design.tiers or design.jobs or holding):
        return
    from coherence.verify.patterns.limits import _claimed, _held, _hosted, _oversized

    facts = known(subject)
    yield from _held.answers(QUESTION, subject, facts)
    yield from _oversized.answers(QUESTION, subject, facts)
    for name, formula in design.claims.items():
        where = formula.place.labelled(f"claims on {name}")
        yield _claimed.claim_on(QUESTION, subject, name, formula.tree, where)
    for name in design.tiers:
        yield from _hosted.answers(QUESTION, subject, facts, name)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields a proof for each capacity that has room for all members of the components that hold parts of it."""
    if any(component.needs is not None for component in subject.design.components.values()):
        from coherence.verify.patterns.limits import _held

        yield from _held.absences(QUESTION, known(subject))

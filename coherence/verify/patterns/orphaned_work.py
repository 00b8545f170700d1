"""orphaned-work: nobody works for a caller that has gone.

## What
A caller waits `per_try` (or its deadline) for a callee, and the callee may need longer: for its own answer, for
its calls, for their retries. With `on_timeout: abandon` the callee goes on after the caller has left, and each
retry of the caller starts another copy beside it. With `cancel` the work ends with the try. Without `on_timeout`
the question stays open wherever the times alone do not settle it.

## Why it hurts
Capacity goes into answers that nobody reads, most of all when the system is slow already; what the work changes
is changed once per copy.

## Example
```yaml
calls:
  - {from: web, to: api, per_try: 1 s, tries: 2, on_timeout: abandon}
  - {from: api, to: db, deadline: 5 s}
```

## Instead
```yaml
calls:
  - {from: web, to: api, per_try: 6 s, tries: 2, on_timeout: abandon}
  - {from: api, to: db, deadline: 5 s}
```

## Source
boto/boto3 issue 883: a function ran four times because the read timeout was shorter than the function. B. Beyer et al.,
"Site Reliability Engineering", O'Reilly 2016, chapter 22: deadlines shrink down the call tree and cancellation travels along.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence import repairs
from coherence.finding import Edit, Finding, Repair, Step
from coherence.places import Place
from coherence.shape import Quantity
from coherence.subject import Question, Subject, arithmetic
from coherence.units import SECOND, seconds
from coherence.verify.attempts import ZERO, nice_above, nice_below, started, timeline
from coherence.verify.call_claims import bounded_sum, work_fits
from coherence.verify.call_tree import IN_TURN, CallTree, Enclosure, Work, call_tree, enclosure_of
from coherence.verify.plans import Plan, longest_end

QUESTION = Question("COH204", "orphaned-work", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Each call whose callee has stated work, against the time that the caller waits."""
    tree = call_tree(subject.design)
    for plan in tree.plans:
        work, around = tree.work[plan.callee], enclosure_of(plan)
        if around is not None and (work.serve or work.calls) and not tree.on_cycle(plan):
            yield from _answer(subject, tree, plan, work, around)


def _answer(subject: Subject, tree: CallTree, plan: Plan, work: Work, around: Enclosure) -> Iterator[Finding]:
    said = plan.call.on_timeout.text if plan.call.on_timeout else ""
    limit, of = around.limit.low, (plan.name, plan.callee, *(inner.name for inner in work.calls))
    late = work.known >= limit if work.calls else work.known > limit
    places = _places(plan, work, around)
    if late and said == "abandon":
        yield _orphan(subject, tree, plan, work, around)
    elif late and said == "cancel":
        message = f"{plan.callee} may need {seconds(work.known)}, but `on_timeout: cancel` of {plan.name} ends its work after {seconds(limit)}"
        certificate = bounded_sum({"work_until_cancelled": limit}, limit, "<=")
        assumptions = [f"cancelling {plan.callee} also ends what it waits for"]
        yield QUESTION.proved(
            message, places, of, arithmetic(_numbers(work, limit), certificate=certificate), assumptions=assumptions
        )
    elif late:
        yield QUESTION.undecided(
            f"needs on_timeout of {plan.name}: {plan.callee} may need {seconds(work.known)}, the caller waits {seconds(limit)}",
            places,
            of,
        )
    elif said == "abandon":
        yield _in_time(plan, work, around)


def _in_time(plan: Plan, work: Work, around: Enclosure) -> Finding:
    limit, of = around.limit.low, (plan.name, plan.callee, *(inner.name for inner in work.calls))
    places = _places(plan, work, around)
    if work.longest is None or work.longest > limit or (work.calls and work.longest == limit):
        return QUESTION.undecided(
            f"needs a bound on {_unbounded(plan, work)}: {plan.name} abandons it after {seconds(limit)}", places, of
        )
    message = f"{plan.callee} is done after {seconds(work.longest)} at most, before {plan.name} gives up after {seconds(limit)}"
    certificate = work_fits(
        [(inner, longest_end(inner) or ZERO) for inner in work.calls], work.serve, limit, strict=bool(work.calls)
    )
    assumptions = [IN_TURN.format(plan.callee)] if len(work.calls) > 1 else []
    if work.serve is None:
        assumptions.append(f"the own time of {plan.callee} is not stated and counts as 0 s")
    evidence = arithmetic(_numbers(work, limit), certificate=certificate)
    return QUESTION.proved(message, places, of, evidence, assumptions=assumptions, margin=work.longest < limit)


def _unbounded(plan: Plan, work: Work) -> str:
    """What keeps the work from having a bound."""
    for inner in work.calls:
        unknown = next((cause for cause in inner.causes if not cause.known), None)
        if unknown is not None:
            return f"{inner.name}, for example {unknown.ask}"
    return f"the work of {plan.callee} (a deadline of each of its calls)"


def _numbers(work: Work, limit: Fraction) -> dict[str, tuple[Fraction | int, str]]:
    return {"work at worst": (work.known, "s"), "the caller waits": (limit, "s")}


def _places(plan: Plan, work: Work, around: Enclosure) -> list[Place]:
    found = [around.place.labelled(f"{plan.name} waits this long")]
    found += [work.serve.place.labelled(f"{plan.callee} needs this long")] if work.serve else []
    for inner in work.calls[:4]:
        limit = inner.call.deadline if isinstance(inner.call.deadline, Quantity) else inner.call.per_try
        found += [limit.place.labelled(f"{inner.name} may take this long")] if isinstance(limit, Quantity) else []
    if plan.call.on_timeout is not None:
        found.append(plan.call.on_timeout.place.labelled("what a timeout does to the work"))
    return found


def _orphan(subject: Subject, tree: CallTree, plan: Plan, work: Work, around: Enclosure) -> Finding:
    limit, rest = around.limit.low, work.known - around.limit.low
    certain = work.serve is not None and around.limit.high is not None and work.serve.low > around.limit.high
    copies = _copies(plan, work)
    beside = f", with up to {copies} copies at once" if copies > 1 else ""
    more = f"for {seconds(rest)} more" if rest else "a moment longer"
    message = (
        f"{plan.callee} {'works' if certain else 'may work'} {more} after {plan.name} has given up and left it{beside}"
    )
    numbers = {**_numbers(work, limit), "copies at once": (copies, "")}
    return QUESTION.conflict(
        message, _places(plan, work, around), (plan.name, plan.callee, *(inner.name for inner in work.calls)),
        arithmetic(numbers, witness=_witness(plan, work, limit)), certain=certain,
        assumptions=[IN_TURN.format(plan.callee)] if len(work.calls) > 1 else [], repairs=_repairs(subject, tree, plan, work, around),
    )  # fmt: skip


def _copies(plan: Plan, work: Work) -> int:
    """Tries that start before the work of the first one ends."""
    cause = next((c for c in plan.causes if c.name == "timeout"), None)
    begun = started(plan.worst(cause), work.known) if cause is not None and plan.retries else 1
    return begun if begun is not None else 1


def _witness(plan: Plan, work: Work, limit: Fraction) -> Iterator[Step]:
    cause = next((c for c in plan.causes if c.name == "timeout"), None)
    yield Step(ZERO, f"{plan.name}: try 1 starts; {plan.callee} works on it")
    yield Step(limit, "the caller gives up; the work goes on")
    if cause is not None and plan.retries:
        later = (row for row in timeline(plan.worst(cause), work.known, most=4) if row[0] > 1)
        yield from (Step(at, f"try {k} starts a copy beside it") for k, at, _ in later)
    yield Step(work.known, "the work of try 1 ends; nobody reads it")


def _repairs(subject: Subject, tree: CallTree, plan: Plan, work: Work, around: Enclosure) -> Iterator[Repair]:
    """Cancel, wait longer, or bound what is inside."""
    word, limit = plan.call.on_timeout, around.limit.low
    made = [
        Edit(word.place, "abandon", "cancel") if word else None,
        repairs.rewrite(subject, around.place, nice_above(work.known), SECOND),
    ]
    shorter = nice_below(limit)
    if len(work.calls) == 1 and shorter and isinstance(work.calls[0].call.deadline, Quantity) and work.serve is None:
        made.append(repairs.change(subject, work.calls[0].call.deadline, shorter))
    yield from (repair for edit in made if (repair := repairs.proposal(edit)) is not None)

"""budget-containment: every try that a call configures fits the deadlines around it, at any depth.

## What
A call with a deadline T and n tries starts try k at S_k, the sum over the earlier tries of the time that the
failure consumes and of the pause after it. Tries that start at T or later never run; a try that would end
after T is cut. Only causes that consume time count: a timeout takes `per_try` (without one the whole
deadline, so no retry runs), another cause what `fails` says. The same holds one level up: what a callee may
spend on its own calls must fit one try of every caller above, the patience of the workload, and every timer that ends
it; what it needs to answer, its calls included, must fit too, with its start where it may be scaled to zero. A limit of
one try that always comes after its workload has given up is told of, for it never takes effect.

## Why it hurts
The retries that the configuration promises do not exist when they are needed: the first slow answer uses up
the budget, the caller sees a timeout, and the log shows one attempt.

## Example
```yaml
coherence: 1
calls:
  - {from: clients, to: svc, deadline: 2 s, tries: 4}      # a try that hangs takes all of the 2 s
```

## Instead
```yaml
coherence: 1
calls:
  - {from: clients, to: svc, deadline: 2 s, per_try: 400 ms, tries: 4}
```

## Source
istio/istio issues 21137, 30611 and 35545; grpc/grpc-go issue 6811: a deadline spans all attempts. A stated
worst case may touch a limit (a warning); a clock of another process may not, since it started earlier.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.entries.limit_numbers import most_allowed
from coherence.verify.calls.call_graph import CallTree, Enclosure, Work, call_tree, enclosure_of
from coherence.verify.calls.retry_policies import RetryPolicy
from coherence.verify.events.bounds import enclosures
from coherence.verify.patterns.calls._cold_start import cold_start
from coherence.verify.patterns.calls._contradictory_limits import contradiction
from coherence.verify.patterns.calls._inner_budget import cycles, inner_budget, outlived, single_tries
from coherence.verify.patterns.calls._own_budget import own_budget
from coherence.verify.patterns.calls._serving_time import serving_time, whole_answer

SHORTENS = frozenset({"fail"})  # no try takes longer where others fail at once
QUESTION = Question("COH201", "budget-containment", "ai.04 runtime control coherence", regardless=SHORTENS)
QUESTIONS = (QUESTION,)
MOST_KEPT = 64  # enclosures of one call whose answers are kept


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields each call against its own deadline, its callee's time and start, and everything that encloses it."""
    tree = call_tree(subject.design)
    for plan in tree.plans:
        yield from _no_retry(subject, plan) or _own(subject, plan)
        for around in (enclosure_of(plan), whole_answer(subject.design, tree, plan)):
            if around is not None:
                yield from serving_time(QUESTION, subject, tree, around)
        yield from cold_start(QUESTION, subject, plan)
    for enclosure in enclosures(subject.design, tree):
        own = () if enclosure.plan is not None else serving_time(QUESTION, subject, tree, enclosure)
        answers = (*own, *_inside(subject, tree, enclosure))
        yield from outlived(QUESTION, tree, enclosure)
        yield from answers if not enclosure.ask else (_if_it_encloses(enclosure, answer) for answer in answers)
    yield from cycles(QUESTION, subject, tree)
    yield from contradiction(QUESTION, subject.design)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields a proof for each call of one try, and each limit around it, that the try ends before the limit does."""
    tree = call_tree(subject.design)
    for enclosure in enclosures(subject.design, tree):
        if not enclosure.ask:
            yield from single_tries(QUESTION, tree, enclosure)


def _if_it_encloses(around: Enclosure, answer: Finding) -> Finding:
    """Returns the finding, or the question whether its limit bounds calls at all: a proof holds either way."""
    if answer.verdict is not Verdict.CONFLICT:
        return answer
    return QUESTION.undecided(f"needs {around.ask}: {answer.message}", answer.places, answer.of)


def _no_retry(subject: Subject, plan: RetryPolicy) -> tuple[Finding, ...]:
    """Answers that a budget of none lets no second try run, whatever `tries` says."""
    named = plan.call.budget
    limit = subject.design.limits.get(named.text) if named is not None else None
    most = most_allowed(subject.design, limit) if limit is not None and limit.during is None else None
    if limit is None or not plan.retries or most is None or most.high > 0:
        return ()
    message = f"{plan.name} may try again, but its budget {limit.name} allows no retry: no second try ever runs"
    places = (*(tries.place.labelled("never used") for tries in plan.call.tries[:1]), most.place.labelled("none"))
    return (QUESTION.vacuous(message, places, (plan.name, limit.name), arithmetic({"budget": (most.high, "")})),)


def _own(subject: Subject, plan: RetryPolicy) -> tuple[Finding, ...]:
    """Of the call by itself; kept with it, so that an edit elsewhere does not ask it again."""
    query = (own_budget, bool(subject.sources))  # without its text a design has no repairs
    return plan.call.queries.get(query, lambda: tuple(own_budget(QUESTION, subject, plan)))


def _inside(subject: Subject, tree: CallTree, around: Enclosure) -> tuple[Finding, ...]:
    """Of what one try encloses; kept with the first call inside, as long as the enclosure and the work are the same."""
    work = tree.work.get(around.inside, Work())
    if not work.calls and not work.below:
        return tuple(inner_budget(QUESTION, subject, tree, around))
    findings_of: dict[Enclosure, tuple[Work, tuple[Finding, ...]]] = work.calls[0].call.queries.get(
        (inner_budget, bool(subject.sources)), dict
    )
    if around not in findings_of or findings_of[around][0] != work:
        if len(findings_of) >= MOST_KEPT:
            findings_of.clear()
        findings_of[around] = (work, tuple(inner_budget(QUESTION, subject, tree, around)))
    return findings_of[around][1]

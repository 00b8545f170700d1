"""recursive calls: calls that lead back to their caller, of which it is asked whether each request comes to its end.

## What
An agent that plans anew, agents that call one another, a service behind its own callee: requests start requests of
their own kind.  With the weights of its cases (`cases:`) a thing starts so many on average.  Where that keeps them
below one for each (the spectral radius of the mean matrix, tries and second copies counted), every request ends, and
the mean number of requests that it starts is told.  Where it does not, that number has no bound.  Where every request
makes such a call, none is ever answered.

A limit that refuses (`counts: attempts(planner)`, `per: users`, `when_full: reject`) ends a circle through what it
counts, unless a refused call is tried for ever; so does one of what is in flight there, where no caller leaves what it
called on.  Where another one may (in a window, for all together), it is named and the answer is open; so it is where
what waits at a limit may wait for itself.  A deadline
ends only the wait for an answer: where it cancels, it is what ends the calls, and that is said, as of a breaker.

Jobs of one gang that call each other exchange what a step carries, and answer no requests: they are no circle.

Boundary: times and tries of calls without circles are `budget-containment` and `retry-amplification`; limits on steps
of one agent (part `agent_loop`) are `limit-against-demand`.

## Why it hurts
A plan that is made anew once for each plan, on average, never ends, while every step succeeds: tokens and calls grow
until somebody looks at the bill.

## Example
```yaml
coherence: 1
components: {planner: {cases: {again: 3, answer: 2}}}
calls:
  - {from: users, to: planner}
  - {from: planner, to: planner, case: again}
  - {from: planner, to: model, case: answer}
  - {from: planner, to: planner, case: again}
```

## Instead
```yaml
coherence: 1
components: {planner: {cases: {again: 3, answer: 2}}}
calls:
  - {from: users, to: planner}
  - {from: planner, to: planner, case: again}
  - {from: planner, to: model, case: answer}
```

## Source
T. E. Harris, The Theory of Branching Processes (1963), chapter II.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.graphs import reached
from coherence.base.places import Place
from coherence.findings.finding import Finding
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Design, Limit
from coherence.language.entries.limit_numbers import most_allowed
from coherence.verify.calls.call_graph import CANCELS, CallTree, call_tree, of_one_gang
from coherence.verify.calls.retry_policies import RetryPolicy

if TYPE_CHECKING:
    from coherence.verify.calls.recursion import Means, MeanSends

QUESTION = Question("COH253", "recursive-calls", "ai.13 agentic system stability")
QUESTIONS = (QUESTION,)
LARGEST = 40  # things of a circle
WAITING = "what waits there may wait for itself"
DRAWN = "each request is of one case by itself, as often as the weights say"


@dataclass(frozen=True)
class Circle:
    """Calls that lead back to their caller, what calls into them, and the limit that ends them, if any.

    `above`: the calls that lead to them, directly or not, and they themselves.  `perhaps`: limits that may end them
    too; `holding`: those of which it is open whether what waits at them ever goes on.  `nested`: the limit counts what
    is in flight, and so how many requests are within one another.
    """

    things: tuple[str, ...]
    sends: tuple[MeanSends, ...]
    into: tuple[RetryPolicy, ...]
    above: tuple[RetryPolicy, ...]
    sure: frozenset[str]
    limit: Limit | None
    most: Fraction
    nested: bool
    perhaps: tuple[Limit, ...]
    holding: tuple[Limit, ...]

    @property
    def way(self) -> str:
        """Returns the circle in words."""
        return " -> ".join((*self.things, self.things[0]))

    @property
    def entries(self) -> tuple[str, ...]:
        """Returns the things that are called from outside; all where none is."""
        return tuple(dict.fromkeys(plan.callee for plan in self.into)) or self.things

    @property
    def of(self) -> list[str]:
        """Returns what a finding speaks of."""
        calls = [*self.into, *(own.plan for own in self.sends)]
        limits = (self.limit,) if self.limit else (*self.perhaps, *self.holding)
        return [*self.things, *(plan.name for plan in calls), *dict.fromkeys(limit.name for limit in limits)]

    @property
    def places(self) -> list[Place]:
        """Returns the calls of the circle, and the limit."""
        ends = [own.plan.call.callee for own in self.sends]
        limits = [self.limit.place.labelled("ends them")] if self.limit else []
        limits = limits or [limit.place.labelled("may end them") for limit in self.perhaps]
        return [*(end.place.labelled("leads back") for end in ends if end), *limits]

    @property
    def ends(self) -> str:
        """Returns the deadlines and breakers that may end what goes around; empty where none does."""
        deadlines = [plan.name for plan in self.above if plan.limit is not None and not plan.call.abandons]
        breakers = [plan.name for plan in self.above if plan.call.breaker is not None]
        kinds = (("deadline", deadlines), ("breaker", breakers))
        return " or ".join(f"the {kind} of {', '.join(names)}" for kind, names in kinds if names)

    def reachable(self, sends: Iterable[tuple[RetryPolicy, Fraction]]) -> Means:
        """Returns the sends between things that some request reaches."""
        from coherence.verify.calls.recursion import means

        mean = means([(plan, count) for plan, count in sends if count])
        seen = reached(self.entries, lambda name: mean.get(name, ()))
        return {name: row for name, row in mean.items() if name in seen}


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer for each circle of calls."""
    design = subject.design
    if not design.calls:
        return
    tree = call_tree(design)
    for things in tree.cycles:
        if not of_one_gang(design, things):
            yield _answer(_circle(design, tree, things))


def _circle(design: Design, tree: CallTree, things: tuple[str, ...]) -> Circle:
    from coherence.verify.calls.recursion import endless, mean_sends
    from coherence.verify.calls.recursion_limits import ends, holding, may_end, nests

    into = tuple(plan for plan in tree.plans if plan.caller not in things and plan.callee in things)
    caps = tuple(design.limits.values())
    ending = [*((own, False) for own in caps if ends(own, design, tree, things)),
              *((own, True) for own in caps if nests(own, tree, things))]  # fmt: skip
    capped = ((own, q.high, nested) for own, nested in ending if (q := most_allowed(design, own)))
    limit, most, nested = next(capped, (None, Fraction(0), False))
    return Circle(
        things, mean_sends(design, tree, things), into, tree.above(things), endless(tree, things), limit, most,
        nested, may_end(caps, tree, things), holding(caps, tree, things),
    )  # fmt: skip


def _answer(circle: Circle) -> Finding:
    from coherence.verify.calls.recursion import requests_started

    fewest = circle.reachable((own.plan, own.fewest) for own in circle.sends)
    if not circle.sure.isdisjoint(circle.entries):
        return _unanswered(circle)
    if circle.holding:
        return _undecided(circle, f"{circle.holding[0].name} to refuse (when_full: reject): {WAITING}")
    if circle.limit is not None:
        return _limited(circle, circle.limit, circle.most)
    if len(circle.things) > LARGEST:
        return _undecided(circle, f"fewer than {LARGEST} things in a circle")
    if requests_started(fewest) is None:
        return _undecided(circle, _count_of(circle)) if circle.perhaps else _unbounded(circle)
    most = circle.reachable((own.plan, own.most) for own in circle.sends if own.most is not None)
    started = requests_started(most) if all(own.most is not None for own in circle.sends) else None
    return _proved(circle, most, started) if started is not None else _open(circle)


def _unanswered(circle: Circle) -> Finding:
    """Returns that no request is answered: each makes another one."""
    by = " or ".join((*(limit.name for limit in circle.perhaps), *([circle.ends] if circle.ends else [])))
    end = f"until {by} ends it" if by else "for ever"
    message = f"no request of {circle.entries[0]} is answered: each calls on along {circle.way} {end}"
    return QUESTION.conflict(message, circle.places, circle.of, arithmetic({}), certain=bool(circle.into))


def _limited(circle: Circle, limit: Limit, most: Fraction) -> Finding:
    if again := [plan.name for plan in circle.above if plan.tries is None and plan.deadline is None]:
        return _undecided(circle, f"a bound on the tries of {again[0]}: what {limit.name} refuses is tried for ever")
    refuses = (
        f"lets {most} of them be within one another and refuses more"
        if circle.nested
        else f"refuses after {most} of them"
    )
    message = f"requests along {circle.way} end: {limit.name} {refuses}"
    evidence = arithmetic({"sends": (most, "")}, certificate=_count(most))
    inside = (plan for plan in circle.above if circle.nested and plan.caller in circle.things)
    cancelled = (plan for plan in inside if plan.limit is not None or plan.call.hedge_after is not None)
    assumed = tuple(dict.fromkeys(CANCELS.format(plan.name) for plan in cancelled))
    return QUESTION.proved(message, circle.places, circle.of, evidence, assumptions=assumed)


def _count(most: Fraction) -> str:
    """Returns a script: a count within a cap, which rises by one where that keeps the cap, stays within it."""
    sent, cap = "(+ before 1.0)", rational(most)
    facts = (f"(<= before {cap})", f"(= after (ite (<= {sent} {cap}) {sent} before))")
    return Certificate({"before": "Real", "after": "Real"}, facts, f"(<= after {cap})").script()


def _unbounded(circle: Circle) -> Finding:
    by = circle.ends and f"; only {circle.ends} ends them"
    message = f"requests along {circle.way} start one or more of their kind each, on average: without bound{by}"
    numbers = {f"{own.plan.name}, at least": (own.fewest, "sends per request") for own in circle.sends}
    certain = bool(circle.into) and not circle.ends
    return QUESTION.conflict(
        message, circle.places, circle.of, arithmetic(numbers), certain=certain, assumptions=(DRAWN,)
    )


def _proved(circle: Circle, mean: Means, started: Mapping[str, Fraction]) -> Finding:
    most = max((started.get(name, Fraction(1)) for name in circle.entries), default=Fraction(1))
    message = f"requests along {circle.way} end: one starts at most {float(most):.3g} on average, itself included"
    numbers = {f"requests that one of {name} starts": (count, "") for name, count in started.items()}
    evidence = arithmetic(numbers, certificate=_no_growth(mean))
    return QUESTION.proved(message, circle.places, circle.of, evidence, assumptions=(DRAWN,))


def _no_growth(mean: Means) -> str:
    """Returns a script: no vector of requests, none below 0, is met or exceeded by what its requests start."""
    names = {thing: f"requests_{number}" for number, thing in enumerate(mean, 1)}
    facts = [f"(>= {name} 0.0)" for name in names.values()]
    for thing, name in names.items():
        parts = [f"(* {rational(mean[other][thing])} {names[other]})" for other in mean if mean[other].get(thing)]
        facts.append(f"(>= (+ 0.0 0.0 {' '.join(parts)}) {name})")
    total = f"(+ 0.0 {' '.join(names.values())})"
    return Certificate(dict.fromkeys(names.values(), "Real"), tuple(facts), f"(= {total} 0.0)").script()


def _open(circle: Circle) -> Finding:
    """Returns what it takes: weights, or fewer tries, or a limit."""
    from coherence.verify.calls.recursion import requests_started

    limit = _ending(circle)
    if unsaid := [own.plan.name for own in circle.sends if not own.stated]:
        return _undecided(circle, f"how many requests make {unsaid[0]} (weights of their cases), or {limit}")
    quiet = requests_started(circle.reachable((own.plan, own.quiet) for own in circle.sends))
    if quiet is None:
        return _undecided(circle, f"narrower weights: at one end of them each request starts another one; or {limit}")
    again = [own.plan.name for own in circle.sends if own.plan.tries != 1] or [circle.sends[0].plan.name]
    return _undecided(circle, f"fewer tries of {again[0]}: only while none fails is there a bound; or {limit}")


def _ending(circle: Circle) -> str:
    return f"a limit (counts: attempts({circle.entries[0]}), per: its caller, when_full: reject)"


def _count_of(circle: Circle) -> str:
    """Returns what to ask for where one request starts another one, and a limit may end that."""
    caps = ", ".join(limit.name for limit in circle.perhaps)
    return f"{_ending(circle)}: each starts one or more on average, and whether {caps} ends that is open"


def _undecided(circle: Circle, needs: str) -> Finding:
    return QUESTION.undecided(f"needs {needs}", circle.places, circle.of)

"""spent budget: a budget of failures without a window, or counted for something that begins anew, does not mean a rate.

## What
A limit on `x.failures`, `x.restarts`, `x.evictions` with `when_full: fail and lose`, or without it a promise of so
many, gives a run a number of lives.

- *Window.*  What comes again every T (a timer or loop that evicts, restarts or fails x) comes ceil(W / T) times in a
  window W, and without a window any number of times: the budget is spent for certain after n + 1 of them.  A run of
  bounded length (`takes` of x, where x does not come back) is a window of its own.
  A limit that counts a timer by its name (`counts: renew`) bounds how often it fires: a certificate that is renewed
  every 30 s, of an issuer that gives 50 a week.  It counts the timers of all members together (of what it counts from,
  or of the thing in the words of its event), unless it has the `per` of the timer.  Where members come and go a proof
  lets each new one fire as soon as its timer may, and nothing is certain.
  What the design takes away itself counts where it evicts; updates, scaling down and the loss of places are named as
  what a proof leaves out, and that an eviction is a failure as what a conflict supposes.
  Failures that come by chance (`mtbf` of x) spend one without a window in the mean after n + 1 times as long.
- *Scope.*  A limit on `job.restarts` counted `per: agent` bounds each agent, not the job: with N agents the job has N
  budgets, and an agent that comes back (`returns`) begins with a new one, so nothing bounds the job.

Where nothing in the design repeats, the window is asked for and nothing is claimed; so is how soon a counted timer
fires again whose event nothing brings about.

## Why it hurts
Five spot evictions over a weekend end a runner that never had a fault.  Or the opposite: a crash loop meant to stop
after three restarts goes on for ever, since each rejoin resets the count.

## Example
```yaml
coherence: 1
components: {runner: {returns: always}}
limits: {failures: {counts: runner.failures, at_most: 5, per: runner, when_full: fail and lose}}
timers: {spot: {from: runner starts, after: 4 h .. 12 h, then: evict runner}}
```

## Instead
```yaml
coherence: 1
components: {runner: {returns: always}}
limits: {failures: {counts: runner.failures, at_most: 5, window: 15 min, per: runner, when_full: fail and lose}}
timers: {spot: {from: runner starts, after: 4 h .. 12 h, then: evict runner}}
```

## Source
actions/actions-runner-controller (five failures without a window; spot evictions used them up over a weekend),
pytorch/pytorch (`--max-restarts` counts for each agent), Kubernetes documentation, Jobs: backoffLimit counts evictions
unless the pod failure policy ignores DisruptionTarget.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.base.units import SECOND
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Design, Limit
from coherence.language.expressions import names as names_of
from coherence.language.expressions.tree import Name
from coherence.language.schema_kinds import Quantity
from coherence.model.model import EVERYTHING
from coherence.verify.events.forestalling import never_fires
from coherence.verify.facts.design_facts import DesignFacts, known, scalers
from coherence.verify.facts.limits import cap
from coherence.verify.facts.members_that_stay import unmoved
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.timers.recurrences import (
    FIRINGS,
    Recurrence,
    counted_timer,
    counts_events,
    is_over,
)
from coherence.verify.timers.removals import Departure, departures

if TYPE_CHECKING:
    from coherence.verify.patterns.timers._failure_budget import FailureBudget

QUESTION = Question("COH241", "spent-budget", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per budget and cause, and per budget whose scope is another thing."""
    if not any(limit.counts is not None for limit in subject.design.limits.values()):
        return
    facts = known(subject)
    for budget in _budgets(facts):
        yield from _of_budget(subject, facts, budget)
    for limit in subject.design.limits.values() if subject.design.timers else ():
        yield from _computed(subject.design, limit)


def _computed(design: Design, limit: Limit) -> Iterator[Finding]:
    """Yields that no answer follows what is computed from firings (`2 * flush`): those of one timer are counted."""
    fired = [] if limit.counts is None else [path for path in names_of(limit.counts.tree) if path in design.timers]
    if limit.counts is not None and fired and not isinstance(limit.counts.tree, Name):
        needs = f"needs `counts: {fired[0]}` of {limit.name}: {limit.counts} is not followed"
        yield QUESTION.undecided(needs, (limit.counts.place.labelled("computed from firings"),), (limit.name, *fired))


def _of_budget(subject: Subject, facts: DesignFacts, budget: FailureBudget) -> Iterator[Finding]:
    from coherence.verify.patterns.timers._budget_causes import FiringRecurrence, causes_of, if_not_renewed
    from coherence.verify.patterns.timers._counted_firings import of_firings, unknown_pace
    from coherence.verify.patterns.timers._failure_budget import by_chance, scope, scoped

    causes = causes_of(facts, budget)
    for cause in causes:
        timer = facts.design.timers.get(cause.name)
        if isinstance(cause, FiringRecurrence):
            answer = of_firings(QUESTION, facts, budget, cause, lambda own, now: _answer(subject, own, now, [now]))
        else:
            answer = _answer(subject, budget, cause, causes)
        yield answer if timer is None else if_not_renewed(QUESTION, facts.design, timer, answer)
    yield from scope(QUESTION, subject, facts, budget) if not budget.fires else ()
    if budget.fires and not causes:
        yield from unknown_pace(QUESTION, facts, budget)
    chance = list(by_chance(QUESTION, facts, budget)) if not causes and scoped(facts, budget) is None else []
    yield from chance
    lost = budget.limit.when_full is not None
    if lost and not chance and not causes and budget.window is None and scoped(facts, budget) is None:
        needs = f"needs window of {budget.limit.name}: without one, rare {budget.what} add up"
        yield QUESTION.undecided(needs, (budget.place,), (budget.limit.name, budget.thing))


def _budgets(facts: DesignFacts) -> Iterator[FailureBudget]:
    for limit in facts.design.limits.values():
        tree = limit.counts.tree if limit.counts is not None else None
        fires = counted_timer(facts.design, limit) is not None
        loses = fires or limit.when_full is None or limit.when_full.text == "fail and lose"
        most = cap(facts, limit)
        allowed = facts.range(most) if most is not None else EVERYTHING
        if not loses or not isinstance(tree, Name) or allowed.high is None:
            continue
        thing, _, signal = tree.path.partition(".")
        if counts_events(facts.design, limit) and tree.path not in facts.values and tree.path not in facts.outputs:
            budget = _budget(facts, limit, (thing, signal or FIRINGS), math.floor(allowed.low or 0))
            yield replace(budget, most_lives=math.floor(allowed.high))


def _budget(facts: DesignFacts, limit: Limit, of: tuple[str, str], lives: int) -> FailureBudget:
    from coherence.verify.patterns.timers._failure_budget import FailureBudget, one_run

    thing, signal = of
    if isinstance(limit.window, Quantity):
        return FailureBudget(limit, thing, signal, lives, limit.window.high, shortest=limit.window.low)
    whole = one_run(facts.design.components.get(thing))
    if whole is not None:
        over = f"{thing} is over after what it takes, and is begun again at once when it was ended before"
        run = f"one run of {thing} ({render_seconds(whole)})"
        return FailureBudget(limit, thing, signal, lives, whole, run, (over,))
    return FailureBudget(limit, thing, signal, lives, None)


def _answer(subject: Subject, budget: FailureBudget, cause: Recurrence, causes: list[Recurrence]) -> Finding:
    budget = _of_one_run(subject.design, budget, cause)
    apart, window = cause.apart, budget.window
    assert apart.low is not None
    from coherence.verify.patterns.timers._counted_members import counted_members
    from coherence.verify.patterns.timers._failure_budget import fewest_in

    if window is None:
        return _spent(subject, budget, cause, certain=apart.high is not None and budget.always)
    if _begins_with(subject.design, budget, cause) and 0 < (run := _run(subject.design, budget)) < apart.low:
        return _never(budget, cause, run)
    most = budget.most_in(window, apart.low)
    if budget.lives >= most > 1 and budget.bounded and not budget.keeps:  # what was ended begins its run anew
        return _spent(subject, replace(budget, window=None, bounded="", assumed=()), cause, certain=False)
    if most <= budget.lives:
        return _bounded(known(subject), budget, [cause, *(other for other in causes if other != cause)], window)
    per, facts = budget.limit.per, known(subject)
    several = per is not None and per.text in facts.design.components
    counted = counted_members(facts, budget, cause.name)
    whole = not (several and counted.partly) and counted.fewest > 0 and not budget.bounded
    return _spent(
        subject, budget, cause, certain=whole and budget.always and fewest_in(budget, apart.high) > budget.most_lives
    )


def _begins_with(design: Design, budget: FailureBudget, cause: Recurrence) -> bool:
    """Decides whether a timer counts from the start of the thing, so that each run has its own."""
    start = design.timers[cause.name].start if cause.name in design.timers else None
    return start is not None and start.kind == "starts" and start.subject == budget.thing


def _run(design: Design, budget: FailureBudget) -> Fraction:
    """Returns the longest run of the thing of a budget; 0 where that is not known."""
    from coherence.verify.patterns.timers._failure_budget import one_run

    return one_run(design.components.get(budget.thing)) or Fraction(0)


def _never(budget: FailureBudget, cause: Recurrence, run: Fraction) -> Finding:
    """Answers that a run is over before the timer that counts from its start."""
    low = cause.apart.low or Fraction(0)
    times = f"{render_seconds(run)} at most, and it comes after {render_seconds(low)}"
    message = f"{cause.name} ends no run of {budget.thing}: {times}"
    numbers: Numbers = {"a run": (run, "s"), "it comes after": (low, "s")}
    evidence = arithmetic(numbers, certificate=Certificate(claim=f"(< {rational(run)} {rational(low)})").script())
    return QUESTION.proved(message, _places(budget, cause), _of(budget, cause), evidence, assumptions=budget.assumed)


def _of_one_run(design: Design, budget: FailureBudget, cause: Recurrence) -> FailureBudget:
    """Returns the budget with the time of a whole run for its window, where the thing goes on from its checkpoints."""
    from coherence.verify.patterns.calls._lives import most_lives
    from coherence.verify.patterns.calls.shutdown_vs_retry import LAST_CHECKPOINT

    timer, component = design.timers.get(cause.name), design.components.get(budget.thing)
    open_ = budget.window is None or bool(budget.bounded)
    if not open_ or timer is None or component is None or cause.apart.high is None:
        return budget
    lives = most_lives(timer, component) if is_over(component) else None
    if lives is None:
        return budget
    whole = (lives - 1) * cause.apart.high
    bounded = f"one run of {budget.thing} ({lives} lives at most)"
    return replace(budget, window=whole, bounded=bounded, keeps=True, assumed=(LAST_CHECKPOINT,))


def _places(budget: FailureBudget, cause: Recurrence) -> tuple[Place, ...]:
    window = budget.limit.window
    stated = window.place.labelled("within this time") if window is not None else None
    absent = budget.limit.place.labelled(f"{budget.limit.name} has no window") if window is None else None
    return (budget.place, cause.place, *(place for place in (stated or absent,) if place is not None))


def _numbers(budget: FailureBudget, cause: Recurrence) -> Numbers:
    found: dict[str, tuple[Fraction | float | int, str]] = {"lives": (budget.lives, "")}
    found |= {"apart at the least": (cause.apart.low or Fraction(0), "s")}
    found |= {"apart at the most": (cause.apart.high, "s")} if cause.apart.high is not None else {}
    return found | ({"window": (budget.window, "s")} if budget.window is not None else {})


def _bounded(facts: DesignFacts, budget: FailureBudget, causes: list[Recurrence], window: Fraction) -> Finding:
    """Answers for the first of some causes that none of them spends the budget, where all of them together do not.

    `most` events in a half-open window: n + 1 of them need n whole gaps, which are at least as long.  A timer runs for
    each member of the thing.
    """
    from coherence.verify.patterns.timers._counted_members import counted_members, spent_together

    cause, places, span = causes[0], _places(budget, causes[0]), budget.bounded or render_seconds(window)
    lows = [other.apart.low or Fraction(0) for other in causes]
    most = [budget.most_in(window, low) for low in lows]
    names = " and ".join(other.name for other in causes)
    message = f"{cause.name} comes at most {most[0]} times in {span}: {budget.limit.name} holds"
    each = [counted_members(facts, budget, other.name) for other in causes]
    if (crowd := next((own for own in each if own.most != 1), None)) is not None and (
        crowd.most is None or sum(n * (own.most or 0) for n, own in zip(most, each, strict=True)) > budget.lives
    ):
        if len(causes) == 1 and budget.fires and crowd.most is not None and not crowd.partly:
            of, figures = _of(budget, cause), _numbers(budget, cause)
            return spent_together(QUESTION, budget, cause, (crowd, most[0], window), (places, of, figures))
        needs = (
            f"needs `per: {crowd.thing}` of {budget.limit.name}, or room for all of {crowd.thing}: of each {message}"
        )
        where = (*places, crowd.place.labelled("so many members")) if crowd.place is not None else places
        return QUESTION.undecided(needs, where, (*_of(budget, cause), *(other.name for other in causes)))
    if sum(most) > budget.lives:
        needs = f"together {names} may come more than {budget.lives} times in {span}: alone {message}"
        return QUESTION.undecided(needs, places, (*_of(budget, cause), *(other.name for other in causes)))
    beside = _beside(facts, budget, causes)
    certain = next((departure for departure in beside if departure.certain), None)
    if certain is not None:
        needs = f"how often {certain.name} comes in {span} is not followed: alone {message}"
        return QUESTION.undecided(needs, (*places, certain.place.labelled("counts too")), _of(budget, cause))
    claim = _room(budget, window, most, lows, [own.most or 0 for own in each])
    evidence = arithmetic(_numbers(budget, cause), certificate=Certificate(claim=claim).script())
    others = (
        *(f"{departure.name} takes none of {budget.thing} meanwhile" for departure in beside),
        *_uncounted(facts, budget),
    )
    return QUESTION.proved(message, places, _of(budget, cause), evidence, assumptions=(*budget.assumed, *others))


def _room(budget: FailureBudget, window: Fraction, most: list[int], lows: list[Fraction], members: list[int]) -> str:
    """Returns the claim that the budget has room for the most events of each cause, of all members."""
    gaps = " ".join(f"(>= (* {n}.0 {rational(low)}) {rational(window)})" for n, low in zip(most, lows, strict=True))
    counts = " ".join(f"(* {n}.0 {own}.0)" for n, own in zip(most, members, strict=True))
    return f"(and (>= {budget.lives}.0 (+ 0.0 {counts})) {gaps})"


def _beside(facts: DesignFacts, budget: FailureBudget, causes: list[Recurrence]) -> list[Departure]:
    """Returns what else takes members of the thing away; a failure is no eviction."""
    if budget.thing not in facts.design.components:
        return []
    own = {cause.name for cause in causes} | ({f"{budget.thing}.mtbf"} if budget.signal.startswith("evict") else set())
    from coherence.verify.jobs.losses import lost_with_places

    by_places = lost_with_places(facts, budget.thing, 0)[0]
    every = [*departures(facts, budget.thing), *([by_places] if by_places is not None else [])]
    dead = {timer.name for timer in facts.design.timers.values() if never_fires(facts.design, timer)}
    return [departure for departure in every if departure.name not in own | dead]


def _uncounted(facts: DesignFacts, budget: FailureBudget) -> Iterator[str]:
    """Yields what is assumed of members that the design itself takes away for another reason than a failure."""
    if budget.thing not in facts.design.components:
        return
    yield from unmoved(facts.design, budget.thing)
    loops = " and ".join(scalers(facts, budget.thing))
    if loops:
        yield f"what {loops} takes away of {budget.thing} counts as none of its {budget.signal}"


def _of(budget: FailureBudget, cause: Recurrence) -> tuple[str, ...]:
    return (budget.limit.name, cause.name, budget.thing)


def _spent(subject: Subject, budget: FailureBudget, cause: Recurrence, *, certain: bool) -> Finding:
    apart, last = cause.apart, budget.lives + 1
    latest, earliest = apart.high, (apart.low or Fraction(0)) * last
    within = budget.bounded or (
        f"a window of {render_seconds(budget.window)}" if budget.window is not None else "no window"
    )
    when = (
        f"after {render_seconds(latest * last)} at the latest"
        if latest is not None
        else f"after {render_seconds(earliest)} or later"
    )
    if budget.window is not None:
        when = f"as early as after {render_seconds(earliest)}"
    message = f"{cause.name} uses {budget.limit.name} up ({budget.lives} {budget.signal}, {within}): spent {when}"
    each = apart.low if budget.window is not None or latest is None else latest
    steps = [
        Step((each or Fraction(0)) * k, f"{cause.name}: number {k} of {budget.lives}") for k in range(1, min(last, 8))
    ]
    steps.append(
        Step((each or Fraction(0)) * last, f"{cause.name} once more: {budget.limit.name} is spent, {budget.end}")
    )
    return QUESTION.conflict(
        message, _places(budget, cause), _of(budget, cause), arithmetic(_numbers(budget, cause), witness=steps),
        certain=certain, assumptions=_counted(subject.design, budget, cause), repairs=_repairs(subject, budget, cause),
    )  # fmt: skip


def _counted(design: Design, budget: FailureBudget, cause: Recurrence) -> tuple[str, ...]:
    """Returns what is assumed where evictions by the design itself spend a budget of failures, crashes or restarts."""
    timer = design.timers.get(cause.name)
    evicts = cause.name in design.loops or (timer is not None and timer.then is not None and "evict" in timer.then.text)
    if not evicts or budget.signal == FIRINGS or budget.signal.startswith("evict"):
        return ()
    return (f"an eviction by {cause.name} counts as one of the {budget.signal} of {budget.thing}",)


def _repairs(subject: Subject, budget: FailureBudget, cause: Recurrence) -> Iterator[Repair]:
    """Yields a window that holds fewer, or more lives."""
    low = cause.apart.low or Fraction(0)
    stated, window = budget.limit.at_most, budget.limit.window
    fits = repairs.downward_round(budget.lives * low)
    proposals: list[Repair | None] = []
    if fits > 0 and window is None and isinstance(stated, Quantity):
        text = repairs.duration_text(subject, fits)
        proposals.append(repairs.proposal(repairs.insert(subject, stated.place, "window", text)))
    elif fits > 0 and window is not None:
        proposals.append(repairs.proposal(repairs.rewrite(subject, window.place, fits, SECOND)))
    if budget.window is not None and isinstance(stated, Quantity) and low > 0:
        most = Fraction(budget.most_in(budget.window, low))
        proposals.append(repairs.proposal(repairs.change(subject, stated, most)))
    yield from (repair for repair in proposals if repair is not None)

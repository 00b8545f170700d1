"""The tries of a callee's own calls against everything that encloses them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from coherence import repairs
from coherence.finding import Finding, Repair, Step
from coherence.places import Place
from coherence.shape import Quantity
from coherence.subject import Question, Subject, arithmetic
from coherence.units import SECOND, seconds
from coherence.verify.attempts import ZERO, Span, completed, last_end, nice_above, nice_below, start, started, timeline
from coherence.verify.call_claims import work_fits
from coherence.verify.call_tree import IN_TURN, CallTree, Enclosure
from coherence.verify.plans import Cause, Plan, known_end, longest_end, retry_end


def inner_budget(question: Question, subject: Subject, tree: CallTree, around: Enclosure) -> Iterator[Finding]:
    """Do the retries that the callee configures end before its caller's limit does?"""
    inner = _inside(tree, around)
    retrying = [plan for plan in inner if plan.retries]
    if not retrying or around.limit.high is None:
        return
    late = [plan for plan in retrying if (end := retry_end(plan)) is None or end >= around.limit.low]
    unsure = [plan for plan in retrying if plan not in late and _may_be_late(plan, around.limit)]
    for plan in late:
        yield _late(question, subject, plan, around)
    for plan in unsure:
        cause = next(cause for cause in plan.causes if not cause.known)
        yield question.undecided(f"needs {cause.ask}", _places(plan, around), (around.name, plan.name))
    if not late and not unsure:
        yield from _together(question, subject, inner, tree, around)


def _inside(tree: CallTree, around: Enclosure) -> tuple[Plan, ...]:
    work = tree.work.get(around.inside)
    return work.calls if work else ()


def _may_be_late(plan: Plan, limit: Span) -> bool:
    """May failures of unknown time push the last try beyond the limit, where known ones do not?"""
    if all(cause.known for cause in plan.causes):
        return False
    end = longest_end(plan)
    alone = plan.limit.high if plan.limit else None
    return (end is None or end >= limit.low) and (alone is None or alone < limit.low)


def _places(plan: Plan, around: Enclosure) -> list[Place]:
    call = plan.call
    found = [quantity.place.labelled("tries in here") for quantity in call.tries[:1]]
    limit = call.per_try if isinstance(call.per_try, Quantity) else call.deadline
    if isinstance(limit, Quantity):
        found.append(limit.place.labelled("one of them may take this long"))
    return [*found, around.place.labelled("everything inside ends here")]


def _slowest(plan: Plan) -> Cause:
    known = plan.known()
    return max(known, key=lambda cause: last_end(plan.worst(cause)) or Fraction(10**18))


def _late(question: Question, subject: Subject, plan: Plan, around: Enclosure) -> Finding:
    cause, limit = _slowest(plan), around.limit
    course, end = plan.worst(cause), retry_end(plan)
    begun, done = started(course, limit.low), completed(course, limit.low, strict=True)
    count = "unlimited" if plan.tries is None else str(plan.tries)
    takes = f"may take {seconds(end)}" if end is not None else "have no bound"
    message = f"the {count} tries of {plan.name} {takes} on {cause.name}s, but {around.text}: {done if done is not None else 'not all'} of them end in time"
    numbers: dict[str, tuple[Fraction | int, str]] = {
        "limit around": (limit.low, "s"),
        "tries started": (begun or 0, ""),
        "tries completed": (done or 0, ""),
    }
    numbers |= {"time for all tries": (end, "s")} if end is not None else {}
    return question.conflict(
        message, _places(plan, around), (around.name, plan.name),
        arithmetic(numbers, witness=_witness(plan, cause, around)),
        certain=_always_late(plan, limit), assumptions=[f"{plan.caller} starts the call at once"], repairs=_repairs(subject, plan, cause, around, done),
    )  # fmt: skip


def _always_late(plan: Plan, limit: Span) -> bool:
    """Does every run in which all tries fail end too late?"""
    ends = [
        end if plan.deadline is None or end is None else min(end, plan.deadline.low)
        for end in (last_end(plan.best(c)) for c in plan.causes)
    ]
    return limit.high is not None and all(end is not None and end >= limit.high for end in ends)


def _witness(plan: Plan, cause: Cause, around: Enclosure) -> Iterator[Step]:
    course, limit = plan.worst(cause), around.limit.low
    for k, at, ends in timeline(course, limit):
        yield Step(
            at,
            f"{plan.name}: try {k} starts"
            + (f", fails by {cause.name} at {seconds(ends)}" if ends is not None and ends < limit else ""),
        )
    begun = started(course, limit)
    late = start(course, begun + 1) if begun is not None and (plan.tries is None or begun < plan.tries) else None
    yield Step(
        limit, around.text + (f"; try {(begun or 0) + 1} would start at {seconds(late)}" if late is not None else "")
    )


def _repairs(subject: Subject, plan: Plan, cause: Cause, around: Enclosure, done: int | None) -> list[Repair]:
    """A longer limit around, shorter tries inside, or fewer of them."""
    call, end, found = plan.call, retry_end(plan), list[Repair | None]()
    waits = start(plan.worst(Cause("", Span(ZERO, ZERO))), plan.tries) if plan.tries else None
    if (
        plan.tries
        and waits is not None
        and isinstance(call.per_try, Quantity)
        and (each := nice_below((around.limit.low - waits) / plan.tries))
    ):
        found.append(repairs.proposal(repairs.change(subject, call.per_try, each)))
    if end is not None:
        found.append(repairs.proposal(repairs.rewrite(subject, around.place, nice_above(end), SECOND)))
    if done and len(call.tries) == 1 and isinstance(call.tries[0], Quantity):
        found.append(repairs.proposal(repairs.change(subject, call.tries[0], Fraction(done))))
    if isinstance(call.deadline, Quantity) and cause.whole and (short := nice_below(around.limit.low)):
        found.append(repairs.proposal(repairs.change(subject, call.deadline, short)))
    return [repair for repair in found if repair is not None]


def _together(
    question: Question, subject: Subject, inner: Sequence[Plan], tree: CallTree, around: Enclosure
) -> Iterator[Finding]:
    """The calls one after another, with the thing's own time, where each alone would fit."""
    work, limit = tree.work[around.inside], around.limit.low
    names = (around.name, *(plan.name for plan in inner))
    assumptions = [IN_TURN.format(around.inside)] if len(inner) > 1 else []
    alone = all((end := known_end(plan)) is not None and end < limit for plan in inner)
    numbers = {"limit around": (limit, "s"), "worst known run inside": (work.known, "s")}
    if alone and work.known >= limit and len(inner) > 1:
        message = f"{around.inside} may spend {seconds(work.known)} on its calls one after another, but {around.text}"
        yield question.conflict(
            message, _all_places(inner, around), names, arithmetic(numbers, witness=_in_turn(inner, around)),
            certain=False, assumptions=assumptions, repairs=_longer(subject, around, work.known),
        )  # fmt: skip
    elif work.longest is not None and work.longest < limit:
        own = [] if work.serve else [f"the own time of {around.inside} is not stated and counts as 0 s"]
        message = (
            f"whatever {around.inside} spends on its calls ({seconds(work.longest)} at most) ends before {around.text}"
        )
        certificate = work_fits([(plan, longest_end(plan) or ZERO) for plan in inner], work.serve, limit)
        yield question.proved(
            message,
            _all_places(inner, around),
            names,
            arithmetic(numbers, certificate=certificate),
            assumptions=assumptions + own,
        )


def _all_places(inner: Sequence[Plan], around: Enclosure) -> list[Place]:
    places = [
        q.place.labelled(f"{plan.name} in here")
        for plan in inner
        for q in plan.call.tries[:1] or (plan.call.deadline, plan.call.per_try)
        if isinstance(q, Quantity)
    ]
    return [*places[:6], around.place.labelled("everything inside ends here")]


def _in_turn(inner: Sequence[Plan], around: Enclosure) -> Iterator[Step]:
    now = ZERO
    for plan in inner:
        if now >= around.limit.low:
            break
        yield Step(now, f"{plan.name} starts; its tries fail and the last one hangs")
        now += known_end(plan) or ZERO
    yield Step(around.limit.low, around.text)


def _longer(subject: Subject, around: Enclosure, need: Fraction) -> list[Repair]:
    made = repairs.proposal(repairs.rewrite(subject, around.place, nice_above(need), SECOND))
    return [made] if made else []


def cycles(question: Question, tree: CallTree) -> Iterator[Finding]:
    """Calls that lead back to their caller have no depth, so nothing is said about what contains what."""
    for cycle in tree.cycles:
        inside = [plan for plan in tree.plans if plan.caller in cycle and plan.callee in cycle]
        way = " -> ".join((*cycle, cycle[0]))
        needs = f"needs the depth of the calls {way}: they form a cycle (give the part that is called back a name of its own)"
        places = [end.place.labelled("part of the cycle") for plan in inside for end in (plan.call.callee,) if end]
        yield question.undecided(needs, places, [plan.name for plan in inside])

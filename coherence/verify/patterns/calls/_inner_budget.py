"""Checks the tries of a callee's own calls against all deadlines that enclose them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.answer_times import role_of
from coherence.verify.calls.attempts import (
    ZERO,
    DurationInterval,
    completed,
    last_end,
    least,
    nice_above,
    nice_below,
    start,
    started,
    timeline,
)
from coherence.verify.calls.call_graph import NO_WAIT, CallTree, Enclosure, Work, in_turn, of_one_gang, own_time
from coherence.verify.calls.claims import Numbers, term_fits
from coherence.verify.calls.repairs import ended, fewer_tries, longer, offered, shorter, shorter_try
from coherence.verify.calls.retry_policies import FailureCause, RetryPolicy, known_end, longest_end, retry_end
from coherence.verify.patterns.calls._own_budget import on_cause

_NEVER = Fraction(10**18)


def inner_budget(question: Question, subject: Subject, tree: CallTree, around: Enclosure) -> Iterator[Finding]:
    """Answers whether the retries and fallbacks that the callee configures end before its caller's limit does.

    Retries further down that outlast a nearer limit too are told of at that one alone.
    """
    work = tree.work.get(around.inside, Work())
    further = [
        plan
        for plan, limit in work.below
        if limit >= around.limit.low and plan not in (*work.calls, *work.retrying) and not _outlasts(plan, limit)
    ]
    retrying = [*work.retrying, *(plan for plan in further if plan.retries)]
    tried_else = any(plan.call.fallback_for is not None for plan in work.calls)
    if not (retrying or tried_else) or around.limit.high is None:
        return
    late = [plan for plan in retrying if _outlasts(plan, around.limit.low)]
    unsure = [plan for plan in retrying if plan not in late and _may_be_late(plan, around.limit)]
    for plan in late:
        yield _late(question, subject, plan, around)
    for plan in unsure:
        fact, of = plan.missing_facts()[0], (around.name, plan.name)
        yield question.undecided(f"needs {fact}", _places(plan, around), of, lacks_number=fact.is_number)
    if not late and not unsure:
        yield from _together(question, subject, tree, around)


def single_tries(question: Question, tree: CallTree, around: Enclosure) -> Iterator[Finding]:
    """Yields a proof for each call inside that makes one try, where the try ends before the limit around it does."""
    work = tree.work.get(around.inside, Work())
    limit = around.limit.low
    for plan in dict.fromkeys((*work.calls, *(plan for plan, _ in work.below))):
        end = longest_end(plan)
        if plan.tries == 1 and plan.call.fallback_for is None and end is not None and end < limit:
            message = f"{plan.name} makes one try, which ends after {render_seconds(end)}, before {around.text}"
            script = Certificate(claim=f"(< {rational(end)} {rational(limit)})").script()
            evidence = arithmetic({"limit around": (limit, "s"), "one try": (end, "s")}, certificate=script)
            assumed = [f"{plan.caller} starts the call at once"]
            places, of = _places(plan, around), (around.name, plan.name)
            yield question.absent(message, places, of, evidence, assumptions=assumed)


def outlived(question: Question, tree: CallTree, around: Enclosure) -> Iterator[Finding]:
    """Yields a note for each call of one try whose own limit comes, always, after its workload has given it up."""
    ends = around.limit.high
    if ends is None or around.name != around.inside:  # a timer may take work back that goes on
        return
    for plan in tree.of_caller.get(around.inside, ()):
        limits = (("per_try", plan.call.per_try), ("deadline", plan.call.deadline))
        stated = [(key, limit) for key, limit in limits if isinstance(limit, Quantity)]
        key, limit = min(stated, key=lambda own: own[1].low, default=("", None))
        if plan.tries == 1 and limit is not None and limit.low > ends and not limit.place.file.startswith("models/"):
            message = f"{key} {limit} of {plan.name} never takes effect: {around.text}"
            places = (limit.place.labelled("never reached"), around.place.labelled("this ends the try"))
            numbers: Numbers = {"limit around": (ends, "s"), key: (limit.low, "s")}
            yield question.note(message, places, (plan.name,), arithmetic(numbers))


def _outlasts(plan: RetryPolicy, limit: Fraction) -> bool:
    """Returns whether known failures alone push the last try to the limit or beyond it."""
    end = retry_end(plan)
    return bool(plan.at_least()) and (end is None or end >= limit)


def _may_be_late(plan: RetryPolicy, limit: DurationInterval) -> bool:
    """Returns whether only failures or pauses of unknown time may push the last try beyond the limit."""
    if not plan.missing_facts():
        return False
    end = longest_end(plan)
    alone = plan.whole_try.high if plan.whole_try else None
    return (end is None or end >= limit.low) and (alone is None or alone < limit.low)


def _places(plan: RetryPolicy, around: Enclosure) -> list[Place]:
    call = plan.call
    places = [quantity.place.labelled("tries in here") for quantity in call.tries[:1]]
    limit = call.per_try if isinstance(call.per_try, Quantity) else call.deadline
    if isinstance(limit, Quantity):
        places.append(limit.place.labelled("one of them may take this long"))
    return [*places, around.place.labelled("everything inside ends here")]


def _late(question: Question, subject: Subject, plan: RetryPolicy, around: Enclosure) -> Finding:
    cause = max(plan.at_least(), key=lambda cause: _end_by(cause, plan))
    course, end, limit = plan.worst(cause), retry_end(plan), around.limit.low
    begun, done = started(course, limit), completed(course, limit, strict=True)
    takes = f"may take {render_seconds(end)}" if end is not None else "have no bound"
    finished = "not all" if done is None else str(done)
    tries = f"the {plan.tries or 'unlimited'} tries of {plan.name}"
    message = f"{tries} {takes} {on_cause(cause)}, but {around.text}: {finished} of them end in time"
    numbers: Numbers = {
        "limit around": (limit, "s"),
        "tries started": (begun or 0, ""),
        "tries completed": (done or 0, ""),
    }
    numbers |= {"time for all tries": (end, "s")} if end is not None else {}
    return question.conflict(
        message, _places(plan, around), (around.name, plan.name),
        arithmetic(numbers, witness=_witness(plan, cause, around), replayed=True),
        certain=_always_late(plan, around.limit),
        assumptions=[f"{plan.caller} starts the call at once"], repairs=_repairs(subject, plan, cause, around, done),
    )  # fmt: skip


def _end_by(cause: FailureCause, plan: RetryPolicy) -> Fraction:
    """Returns when the last try ends, where all tries fail by a cause."""
    end = last_end(plan.worst(cause))
    return _NEVER if end is None else end


def _always_late(plan: RetryPolicy, limit: DurationInterval) -> bool:
    """Returns whether every run in which all tries fail ends too late."""
    own = plan.deadline.low if plan.deadline else None
    ends = [least(last_end(plan.best(cause)), own) for cause in plan.causes]
    return limit.high is not None and all(end is not None and end >= limit.high for end in ends)


def _witness(plan: RetryPolicy, cause: FailureCause, around: Enclosure) -> Iterator[Step]:
    course, limit = plan.worst(cause), around.limit.low
    for k, at, ends in timeline(course, limit):
        fails = f", fails by {cause.name} at {render_seconds(ends)}" if ends is not None and ends < limit else ""
        yield Step(at, f"{plan.name}: try {k} starts{fails}")
    begun = started(course, limit)
    late = start(course, begun + 1) if begun is not None and (plan.tries is None or begun < plan.tries) else None
    never = f"; try {(begun or 0) + 1} would start at {render_seconds(late)}" if late is not None else ""
    yield Step(limit, f"{around.text}{never}")


def _repairs(
    subject: Subject, plan: RetryPolicy, cause: FailureCause, around: Enclosure, done: int | None
) -> tuple[Repair, ...]:
    """Returns shorter tries inside, fewer tries, a shorter deadline inside, or a longer limit around.

    Of a call that nothing ends yet, as many tries and as much time as the limit around leaves, or as they take.
    """
    limit, deadline = around.limit.low, plan.call.deadline
    inside = shorter(subject, deadline.place, limit) if isinstance(deadline, Quantity) and cause.whole else None
    each = shorter_try(subject, plan, limit) if isinstance(plan.call.per_try, Quantity) else None
    fewer, end = fewer_tries(subject, plan, done), retry_end(plan)
    own = nice_above(end) if end is not None else None
    bounded = (
        ended(subject, plan, fewer, nice_below(limit)),
        ended(subject, plan, longer(subject, around.place, own), own),
    )
    return offered(each, fewer, inside, longer(subject, around.place, end), *bounded)


def _together(question: Question, subject: Subject, tree: CallTree, around: Enclosure) -> Iterator[Finding]:
    """Yields the calls together, with the thing's own time, where each alone would fit."""
    work, limit = tree.work[around.inside].within(around.activity), around.limit.low
    alone = all((end := known_end(plan)) is not None and end < limit for plan in work.calls)
    if alone and work.hanging.known >= limit and len(work.hanging.path) > 1:
        yield _too_many(question, subject, work, around)
    elif work.longest is not None and work.longest < limit:
        yield _contained(question, work, around, work.longest)
    elif alone and work.longest is not None and _fits_without_own(work, limit):
        yield _perhaps_longer(question, work, around, work.longest)
    elif work.longest is None and work.answer.open and not work.cyclic:
        needs = f"needs {work.answer.open[0]}, or a limit of the call: nothing bounds what {around.inside} spends on it"
        places, of = _all_places(work.calls, around), _names(work, around)
        yield question.undecided(f"{needs}, and {around.text}", places, of, lacks_number=True)


def _too_many(question: Question, subject: Subject, work: Work, around: Enclosure) -> Finding:
    spent, path = work.hanging.known, work.hanging.path
    message = f"{around.inside} may spend {render_seconds(spent)} on its calls one after another, but {around.text}"
    numbers: Numbers = {"limit around": (around.limit.low, "s"), "calls one after another": (spent, "s")}
    return question.conflict(
        message, _all_places(path, around), _names(work, around),
        arithmetic(numbers, witness=_in_turn(path, around)), certain=False,
        assumptions=in_turn(work, around.inside),
        repairs=offered(_all_shorter(subject, path, around.limit.low, spent), longer(subject, around.place, spent)),
    )  # fmt: skip


def _fits_without_own(work: Work, limit: Fraction) -> bool:
    """Decides whether the calls of a thing end in time, and may not with its own time, before or after them."""
    in_answer = work.answer.bound is not None and work.answer.bound > limit  # the role is asked for by the answer
    own = work.serve is not None or (work.perhaps and not in_answer)
    return bool(own) and (calls := work.hanging.most.bound) is not None and calls < limit


def _perhaps_longer(question: Question, work: Work, around: Enclosure, longest: Fraction) -> Finding:
    """Returns what to ask where calls end in time, and it is not known whether the thing works meanwhile."""
    needs = (
        f"needs more than {render_seconds(longest)} for all that {around.inside} may spend on its calls where its own "
        f"time ({work.serve}) does not go on meanwhile: {around.text}"
    )
    for activity, span in work.perhaps.items():
        needs = f"needs {role_of(around.inside, activity)} (it takes {span}, its calls besides, and {around.text})"
    return question.undecided(needs, _all_places(work.calls, around), _names(work, around))


def _all_shorter(subject: Subject, path: Sequence[RetryPolicy], limit: Fraction, spent: Fraction) -> Repair | None:
    """Returns the repair by which calls that try once take so much less each that together they end before a limit."""
    deadlines = [plan.call.deadline for plan in path if not plan.retries]
    if len(deadlines) < len(path):
        return None
    shares = [(q, nice_below(q.high * limit / spent)) for q in deadlines if isinstance(q, Quantity)]
    edits = [repairs.change(subject, q, share) for q, share in shares if share is not None]
    return repairs.proposal(*edits) if len(edits) == len(path) else None


def _contained(question: Question, work: Work, around: Enclosure, longest: Fraction) -> Finding:
    message = (
        f"whatever {around.inside} spends on its calls ({render_seconds(longest)} at most) ends before {around.text}"
    )
    numbers: Numbers = {"limit around": (around.limit.low, "s"), "calls at their longest": (longest, "s")}
    evidence = arithmetic(numbers, certificate=term_fits(work.spent(work.hanging), around.limit.low))
    assumed = in_turn(work, around.inside)
    assumed += [] if work.serve else own_time(work, around.inside)
    inside = dict.fromkeys((around.inside, *(plan.callee for plan in work.through)))
    assumed += [NO_WAIT.format(name) for name in inside]
    places = _all_places(work.calls, around)
    return question.proved(message, places, _names(work, around), evidence, assumptions=assumed)


def _names(work: Work, around: Enclosure) -> tuple[str, ...]:
    return (around.name, *(plan.name for plan in (*work.calls, *work.through)))


def _all_places(inner: Sequence[RetryPolicy], around: Enclosure) -> list[Place]:
    stated = ((plan, plan.call.tries[:1] or (plan.call.deadline, plan.call.per_try)) for plan in inner)
    found = [q.place.labelled(f"{plan.name} in here") for plan, qs in stated for q in qs if isinstance(q, Quantity)]
    return [*found[:6], around.place.labelled("everything inside ends here")]


def _in_turn(inner: Sequence[RetryPolicy], around: Enclosure) -> Iterator[Step]:
    now = ZERO
    for plan in inner:
        if now >= around.limit.low:
            break
        yield Step(now, f"{plan.name} starts; its tries fail and the last one hangs")
        now += known_end(plan) or ZERO
    yield Step(around.limit.low, around.text)


def cycles(question: Question, subject: Subject, tree: CallTree) -> Iterator[Finding]:
    """Calls that lead back to their caller have no depth, so nothing is said about what contains what."""
    for cycle in (own for own in tree.cycles if not of_one_gang(subject.design, own)):
        inside = [plan for plan in tree.plans if plan.caller in cycle and plan.callee in cycle]
        into = [plan for plan in tree.plans if plan.caller not in cycle and plan.callee in cycle]
        way = " -> ".join((*cycle, cycle[0]))
        hint = "give the part that is called back a name of its own"
        needs = f"needs the depth of the calls {way}: they form a cycle ({hint})"
        places = [end.place.labelled("part of the cycle") for plan in inside for end in (plan.call.callee,) if end]
        yield question.undecided(needs, places, [plan.name for plan in (*inside, *into)])

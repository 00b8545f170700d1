"""Makes the repairs that questions about calls have in common; each is proved again before it is shown."""

from __future__ import annotations

from fractions import Fraction

from coherence.base.places import Place
from coherence.base.units import SECOND
from coherence.findings import repairs
from coherence.findings.finding import Edit, Repair
from coherence.findings.question_input import Subject
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import ZERO, RetrySchedule, nice_above, nice_below, start
from coherence.verify.calls.retry_policies import RetryPolicy


def offered(*made: Repair | None) -> tuple[Repair, ...]:
    """Returns the repairs that are possible."""
    return tuple(repair for repair in made if repair is not None)


def waits(plan: RetryPolicy) -> Fraction | None:
    """Returns the seconds of all pauses of the call at their longest; None where tries or pauses are unbounded."""
    return start(RetrySchedule(plan.most, ZERO, plan.backoff), plan.tries) if plan.tries else None


def shorter_try(subject: Subject, plan: RetryPolicy, room: Fraction) -> Repair | None:
    """Returns a `per_try` with which all tries and their pauses end before `room`; inserted where there is none."""
    call, pausing = plan.call, waits(plan)
    each = nice_below((room - pausing) / plan.tries) if plan.tries and pausing is not None else None
    if each is None:
        return None
    if isinstance(call.per_try, Quantity):
        return repairs.proposal(repairs.change(subject, call.per_try, each))
    return repairs.proposal(with_limit(subject, plan, each))


def with_limit(subject: Subject, plan: RetryPolicy, each: Fraction) -> Edit | None:
    """Returns the edit to a `per_try`, where the call has none: beside the deadline, or the number of tries."""
    call = plan.call
    if call.per_try is not None or not isinstance(call.deadline, Quantity):
        return None
    imported = subject.design.imported and len(call.tries) == 1
    beside = call.tries[0].place if imported else call.deadline.place
    return repairs.insert(subject, beside, "per_try", repairs.duration_text(subject, each))


def ended(subject: Subject, plan: RetryPolicy, other: Repair | None, end: Fraction | None) -> Repair | None:
    """Returns a repair with a `deadline` beside it, where nothing ends the call yet; None where one is not possible."""
    call = plan.call
    if other is None or end is None or call.deadline is not None or call.per_try is not None or not call.tries:
        return None
    deadline = repairs.insert(subject, call.tries[0].place, "deadline", repairs.duration_text(subject, end))
    return repairs.proposal(*other.edits, deadline)


def deadline_of_each(subject: Subject, plan: RetryPolicy) -> Repair | None:
    """Returns the repair by which the deadline of all tries becomes that of each, and all have time for it."""
    deadline, pausing = plan.call.deadline, waits(plan)
    if not isinstance(deadline, Quantity) or not deadline.exact or not plan.tries or pausing is None:
        return None
    whole = nice_above(plan.tries * deadline.high + pausing)
    return repairs.proposal(
        repairs.rewrite(subject, deadline.place, whole, SECOND), with_limit(subject, plan, deadline.high)
    )


def fewer_tries(subject: Subject, plan: RetryPolicy, count: int | None) -> Repair | None:
    """Returns the repair to `count` tries, where the call says its tries in one number, or has no limit of them."""
    tries = plan.call.tries[0] if len(plan.call.tries) == 1 else None
    if not count or tries is None:
        return None
    if isinstance(tries, Quantity):
        return repairs.proposal(repairs.change(subject, tries, Fraction(count)))
    own = repairs.text_at(subject.sources, tries.place)
    return repairs.proposal(Edit(tries.place, tries.text, str(count))) if own == tries.text else None


def longer(subject: Subject, place: Place, need: Fraction | None) -> Repair | None:
    """Returns the repair to a duration above `need` where another stands."""
    return None if need is None else repairs.proposal(repairs.rewrite(subject, place, nice_above(need), SECOND))


def shorter(subject: Subject, place: Place, limit: Fraction) -> Repair | None:
    """Returns the repair to a duration below `limit` where another stands."""
    below = nice_below(limit)
    return None if below is None else repairs.proposal(repairs.rewrite(subject, place, below, SECOND))

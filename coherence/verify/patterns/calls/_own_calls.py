"""Checks the calls that a thing makes while it drains against the end of its drain, where nobody calls it.

Where somebody does, what it calls lies in the call to it, which is held against the drain.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.answer_times import AnswerTime, through
from coherence.verify.calls.attempts import ZERO
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.calls.claims import call_ends
from coherence.verify.calls.repairs import longer, offered
from coherence.verify.calls.retry_policies import RetryPolicy, longest_end
from coherence.verify.events.drains import NO_NEW_WORK, Drain
from coherence.verify.patterns.calls._own_budget import LONGEST_PAUSES


def own_calls(question: Question, subject: Subject, drain: Drain) -> Iterator[Finding]:
    """Yields each call of what drains; a drain that waits for its calls ends none of them."""
    tree = call_tree(subject.design)
    if drain.waits or tree.callers.get(drain.thing) or drain.thing in subject.design.workload:
        return
    for plan in tree.of_caller.get(drain.thing, ()):
        time = through(plan, tree.work[plan.callee].answer)
        if time.stated and time.most >= drain.lasts.low:
            yield _cut(question, subject, plan, drain, time)
        else:
            yield _tries(question, plan, drain)


def _cut(question: Question, subject: Subject, plan: RetryPolicy, drain: Drain, time: AnswerTime) -> Finding:
    """Returns the conflict of an answer that comes when nobody waits for it any more."""
    gone = drain.lasts.low
    witness = (
        Step(ZERO, f"the drain of {drain.thing} begins; a call {plan.name} is under way"),
        Step(gone, f"{drain.thing} is gone"),
        Step(time.most, "the answer would be ready"),
    )
    stated = [q.place.labelled("time to answer") for q in time.stated]
    return question.conflict(
        f"{plan.name} may wait {render_seconds(time.most)} for an answer, but {_gone(drain)}",
        [drain.place.labelled(f"{drain.thing} is gone after this"), *stated], _of(plan, drain),
        arithmetic({"drain": (gone, "s"), "an answer": (time.most, "s")}, witness=witness, replayed=True),
        certain=False, assumptions=_assumptions(plan, drain),
        repairs=offered(longer(subject, drain.place, time.most)),
    )  # fmt: skip


def _tries(question: Question, plan: RetryPolicy, drain: Drain) -> Finding:
    """Returns the proof that all tries end in time, or a note: that they fail while it drains is another fault."""
    end, gone, places = longest_end(plan), drain.lasts.low, _places(plan, drain)
    if end is None and plan.limit is None:
        needs = f"needs per_try or deadline of {plan.name}: a try has no end"
        return question.undecided(needs, places, _of(plan, drain), lacks_number=True)
    numbers = {"drain": (gone, "s"), **({"tries go on for": (end, "s")} if end is not None else {})}
    if end is not None and end < gone:
        message = f"the tries of {plan.name} end after {render_seconds(end)}, {drain.thing} is gone after {drain.text}"
        evidence = arithmetic(numbers, certificate=call_ends(plan, end, gone))
        assumed = [*_assumptions(plan, drain), *drain.assumed]
        return question.proved(message, places, _of(plan, drain), evidence, assumptions=assumed)
    message = f"tries of {plan.name} that fail go on {_until(end)}, but {_gone(drain)}: what they carry is lost then"
    return question.note(message, places, _of(plan, drain), arithmetic(numbers))


def _until(end: Fraction | None) -> str:
    return f"for up to {render_seconds(end)}" if end is not None else "without an end that is known"


def _gone(drain: Drain) -> str:
    return f"{drain.thing} is gone {drain.text} after its drain began"


def _of(plan: RetryPolicy, drain: Drain) -> tuple[str, ...]:
    return (plan.name, drain.name, drain.thing)


def _assumptions(plan: RetryPolicy, drain: Drain) -> list[str]:
    return [NO_NEW_WORK.format(drain.thing), *([LONGEST_PAUSES] if plan.backoff.varies else [])]


def _places(plan: RetryPolicy, drain: Drain) -> list[Place]:
    limit = next((q for q in (plan.call.per_try, plan.call.deadline) if isinstance(q, Quantity)), None)
    callee = plan.call.callee
    stated = limit.place.labelled("one try may take this long") if limit is not None else callee and callee.place
    return [*([stated] if stated else []), drain.place.labelled(f"{drain.thing} is gone after this")]

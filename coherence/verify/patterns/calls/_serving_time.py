"""The time that a callee needs to answer, against one try of its caller."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import ZERO, DurationInterval, nice_above
from coherence.verify.calls.claims import Numbers, at_most
from coherence.verify.calls.repairs import longer, offered, waits, with_limit
from coherence.verify.calls.retry_policies import RetryPolicy, serve_time
from coherence.verify.patterns.calls._cold_start import STARTING


def serving_time(question: Question, subject: Subject, plan: RetryPolicy) -> Iterator[Finding]:
    """Answers whether one try leaves the callee the time that it says it needs."""
    serve = serve_time(subject.design, plan.callee)
    if serve is None or plan.limit is None or plan.limit.high is None:
        return
    places, of = [serve.place.labelled("time to answer"), *_limit_place(plan)], (plan.name, plan.callee)
    ahead = _ahead(subject, plan.callee, serve)
    if serve.high <= plan.limit.low < serve.high + sum((span.high for _, span in ahead), ZERO):
        activity, span = ahead[0]
        late = f"{span} and {serve} in a try of {render_seconds(plan.limit.low)}"
        needs = f"needs whether {activity} of {plan.callee} comes before each answer (then as part of it): {late}"
        yield question.undecided(needs, [*places, span.place.labelled(f"{activity} takes this")], of)
    elif serve.high <= plan.limit.low:
        yield _enough(question, plan, serve, plan.limit, places)
    elif plan.streams:
        ask = f"needs timeout_kind: total of {plan.name}, or the time to the first byte of {plan.callee}"
        yield question.undecided(ask, places, of)
    else:
        yield _too_short(question, subject, plan, serve, places)


def _ahead(subject: Subject, callee: str, serve: Quantity) -> list[tuple[str, Quantity]]:
    """Activities of the callee listed before its answer, other than its start: a batch that is collected, a lock."""
    takes = subject.design.components[callee].takes or {}
    before = itertools.takewhile(lambda item: item[1] is not serve, takes.items())
    return [(name, span) for name, span in before if name not in STARTING]


def _numbers(serve: Quantity, limit: DurationInterval) -> Numbers:
    least, most = {"time to answer, least": (serve.low, "s")}, {"time to answer, most": (serve.high, "s")}
    return {**least, **most, "a try": (limit.low, "s")}


def _enough(
    question: Question, plan: RetryPolicy, serve: Quantity, limit: DurationInterval, places: list[Place]
) -> Finding:
    message = f"a try of {plan.name} leaves {plan.callee} the {render_seconds(serve.high)} that it may need"
    evidence = arithmetic(_numbers(serve, limit), certificate=at_most(serve.high, limit.low))
    return question.proved(message, places, (plan.name, plan.callee), evidence, margin=serve.high < limit.low)


def _too_short(
    question: Question, subject: Subject, plan: RetryPolicy, serve: Quantity, places: list[Place]
) -> Finding:
    limit = plan.limit or DurationInterval(ZERO, ZERO)
    certain = limit.high is not None and serve.low > limit.high
    need = f"needs {render_seconds(serve.low)}" if certain else f"may need {render_seconds(serve.high)}"
    lost = "that answer is lost and asked for again" if plan.retries else "that answer is lost"
    end = "no try can succeed" if certain else lost
    message = f"{plan.callee} {need} to answer, but a try of {plan.name} ends after {render_seconds(limit.low)}: {end}"
    witness = (
        Step(ZERO, f"{plan.name}: try 1 starts"),
        Step(limit.low, "the try ends without an answer"),
        Step(serve.high, "the answer would be ready"),
    )
    evidence = arithmetic(_numbers(serve, limit), witness=witness)
    of, longer = (plan.name, plan.callee), _repairs(subject, plan, serve.high)
    return question.conflict(message, places, of, evidence, certain=certain, repairs=longer)


def _limit_place(plan: RetryPolicy) -> Iterator[Place]:
    for quantity in (plan.call.per_try, plan.call.deadline):
        if isinstance(quantity, Quantity) and plan.limit is not None and quantity.low == plan.limit.low:
            yield quantity.place.labelled("a try ends here")
            return


def _repairs(subject: Subject, plan: RetryPolicy, need: Fraction) -> tuple[Repair, ...]:
    short = (q for q in (plan.call.per_try, plan.call.deadline) if isinstance(q, Quantity) and q.low <= need)
    return offered(*(longer(subject, q.place, need) for q in short), _both_longer(subject, plan, need))


def _both_longer(subject: Subject, plan: RetryPolicy, need: Fraction) -> Repair | None:
    """Longer tries and a deadline for all of them, where neither alone is enough."""
    per_try, whole = plan.call.per_try, plan.call.deadline
    if not isinstance(whole, Quantity) or plan.tries is None:
        return None
    each = nice_above(need)
    edits = [repairs.change(subject, whole, nice_above(plan.tries * each + (waits(plan) or ZERO)))]
    if isinstance(per_try, Quantity):
        edits.append(repairs.change(subject, per_try, each))
    elif plan.tries > 1:
        edits.append(with_limit(subject, plan, each))
    return repairs.proposal(*edits)

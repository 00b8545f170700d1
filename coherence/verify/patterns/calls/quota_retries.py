"""quota against retries: refused requests are sent again, and the repetitions count against the quota too.

## What
A limit in a window (`counts: attempts(api), at_most: q, window: W, when_full: reject`; `api.requests` and the
`attempts` of the one workload that calls it are the same count; of `api.tokens` each send counts the tokens of its
request, its mean where mean rates are compared) against lambda, the first tries
of all workloads, and A, the sends that each becomes while every one is refused.  A cause of `retry_when` other than
`timeout` is a refusal.

- lambda W > q: more than the quota without any retry, in every run.  Where nobody tries again that is what the limit
  is for, and only said; where refused requests come back it is a conflict.
- lambda W <= q < lambda A W: once a burst has filled the quota, the refused come back and keep it full.  A stated burst
  that fills it is shown; without one it is asked for.
  Where the limit says `refused: do not count`, it empties again, and nothing is claimed; where it says nothing, the
  conflict assumes `count` (a run does not count what is refused).
- `when_full: fail and lose`: what comes in the busiest window, of stated bursts too, is lost beyond q, whoever tries
  again; by rates below q chance may lose some, and `arrivals: regular` is asked for.
- lambda A W <= q: no retries can fill it (with the stated burst as well, where there is one); asked where somebody else
  sends there, of whom no workload says how often, and where answers may come after the time limit of a try and what
  is asked for again could fill it.  A proof assumes that tries of which nothing is said are answered in time, and
  compares mean rates: arrivals by chance may fill a quota for a while.

Where so many cannot come in any window while none is refused, the quota is never full, whatever the retries: k slots
(`counts: workers.requests in flight, at_most: k`) whose tries take s send k (W / s + 1), regular arrivals lambda W + 1.
A deadline, a second copy, a breaker or another limit at the callee leaves the answer to the comparisons above.  How
many of those that wait as long as the answer says (`pause: from answer`) come back at once is not stated.

Of a quota for each of several (`per: tenant`, `per: replica`) the sends of all must fit into one, or those of so many
together be too few (`copies` of the thing that is named, a caller or the callee); between the two it is asked how the
sends are shared.  `per: caller` is one for each who calls.

Tokens (`prompt` and `answer` of a workload, or `tokens`) count when a request is sent.  Where a provider counts the
requested maximum of an answer instead (`max_tokens`), that is the `answer` to state; for what comes in any window the
largest counts (`max`).

## Why it hurts
A minute of high load becomes an hour of refusals: the provider counts what it refuses, and the clients send three
times as much as they need.

## Example
```yaml
coherence: 1
workload: {jobs: {rate: 30 req/s, burst: {rate: 300 req/s, lasts: 10 s}}}
limits: {quota: {counts: attempts(api), at_most: 3600, window: 1 min, when_full: reject}}
calls:
  - {from: jobs, to: api, tries: 4, pause: 100 ms, retry_when: [rate_limited], fails: {rate_limited: 10 ms}}
```

## Instead
```yaml
coherence: 1
workload: {jobs: {rate: 30 req/s, burst: {rate: 300 req/s, lasts: 10 s}}}
limits: {quota: {counts: attempts(api), at_most: 3600, window: 1 min, when_full: reject}}
calls:
  - {from: jobs, to: api, tries: 1}
```

## Source
Azure OpenAI, Manage quota: tokens per minute are estimated as a request is received, from its prompt and `max_tokens`.
BerriAI/litellm#7669, #3646.  OpenAI documentation, Rate limits: unsuccessful requests count against the limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.base.number_text import render_quantity, render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Severity, Step, Verdict
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Limit
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.call_graph import CANCELS, call_tree
from coherence.verify.calls.retry_policies import RetryPolicy
from coherence.verify.facts.design_facts import known
from coherence.verify.facts.limits import always_holds
from coherence.verify.patterns.calls._nested_retries import layer_places
from coherence.verify.patterns.calls._quota_sends import (
    Quota,
    cancels,
    filled_after,
    of_each_part,
    quota_of,
    sends_each_second,
)
from coherence.verify.patterns.writers._pair import Numbers

QUESTION = Question("COH247", "quota-retries", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


IN_TIME = "no try of {} runs into its time limit"
FIRST_TRIES = "asks for more than the quota by its first tries alone"
BY_MEANS = "by mean rates: chance and phases may fill {} for a while, and it empties again"
COUNTS_IN = "what {} keeps back counts in {} too"
REFUSED_COUNTS = "what is refused counts against the quota as well"


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per quota on the sends to a callee whose callers have a stated rate."""
    design = subject.design
    if not design.calls or not design.limits:
        return
    tree = call_tree(design)
    for limit in design.limits.values():
        quota = quota_of(subject, tree, limit)
        if quota is not None and limit.per is None:
            yield from _answer(subject, quota)
        elif quota is not None:
            yield from of_each_part(QUESTION, subject, quota, _answer)


def _answer(subject: Subject, quota: Quota) -> Iterator[Finding]:
    """Answers on all that may come; what is too much then is a question where some requests do without a call."""
    if quota.lacking:
        yield QUESTION.undecided(f"needs {quota.lacking}", _places(quota), quota.of)
        return
    never = _never_full(subject, quota)
    if never is not None:
        yield never
        return
    judge = _lost if quota.limit.loses else _judged if quota.limit.when_full is not None else _unsaid
    for finding in judge(subject, quota):
        if quota.share and finding.verdict is not Verdict.PROVED:
            yield QUESTION.undecided(f"needs {quota.share}", _places(quota), quota.of)
        else:
            yield finding


def _judged(subject: Subject, quota: Quota) -> Iterator[Finding]:
    first, again = sends_each_second(quota) or Fraction(0), sends_each_second(quota, again=True)
    peak = sends_each_second(quota, peak=True, again=True)
    if first > quota.rate and again == first:
        message = f"{quota.limit.name} refuses {_per(quota, first - quota.rate)} of {_per(quota, first)}, for good"
        yield QUESTION.note(message, _places(quota), quota.of, arithmetic(_numbers(quota)))
    elif first > quota.rate:
        window = quota.limit.window
        assert isinstance(window, Quantity)
        least, everywhere = sends_each_second(quota, least=True) or Fraction(0), always_holds(quota.limit)
        certain = everywhere and not quota.limit.actions and least > quota.stated.high / window.low
        yield _first_tries(_conflict(subject, quota, FIRST_TRIES, certain=certain), subject, quota)
    elif any(plan.backoff.answered and plan.retries for plan in quota.plans):
        return
    elif again is not None and again <= quota.rate and quota.unstated:
        yield _rates_needed(quota)
    elif again is not None and again <= quota.rate and (needs := _too_late(quota)):
        yield QUESTION.undecided(needs, _places(quota), quota.of)
    elif again is not None and again <= quota.rate:
        held = peak is not None and peak <= quota.rate
        yield _proved(quota, peak, "") if held and peak is not None else _proved(quota, again, "once a burst is over, ")
    elif not _refused_counts(quota.limit):
        needs = (
            f"needs what {quota.callee} serves: what {quota.limit.name} refuses does not count, and it empties again"
        )
        yield QUESTION.undecided(needs, _places(quota), quota.of)
    elif (filled := filled_after(quota)) is not None:
        course = f"a burst fills it after {render_seconds(filled)}, and what is refused comes back and keeps it full"
        yield _conflict(subject, quota, course, certain=False)
    else:
        bursts = [w.name for w, _ in quota.flows]
        needs = f"needs a burst of {bursts[0]} that fills {quota.limit.name}: its retries would then keep it full"
        yield QUESTION.undecided(needs, _places(quota), quota.of)


def _never_full(subject: Subject, quota: Quota) -> Finding | None:
    """Returns the proof that so many never come while nothing is refused; None where they may."""
    if quota.unstated or quota.share:
        return None
    from coherence.verify.patterns.calls._quota_arrivals import never_full

    return never_full(QUESTION, known(subject), quota, _places(quota), _numbers(quota))


def _lost(subject: Subject, quota: Quota) -> Iterator[Finding]:
    """Yields the answer about a quota beyond which requests are lost, whoever tries again."""
    from coherence.verify.patterns.calls._quota_arrivals import lost

    finding = lost(QUESTION, subject, quota, _places(quota), _held(subject, quota))
    yield _rates_needed(quota) if finding.verdict is Verdict.UNDECIDED and quota.unstated else finding


def _rates_needed(quota: Quota) -> Finding:
    needs = f"needs the rate of {' and '.join(quota.unstated)} (`workload:`), who also sends to {quota.callee}"
    return QUESTION.undecided(needs, _places(quota), quota.of)


def _held(subject: Subject, quota: Quota) -> tuple[str, ...]:
    """Returns what lets fewer requests through than the quota allows: above the callee, or another quota of it."""
    from coherence.verify.queues.let_through import admitted, held_above

    least = min((worth.low for w, _ in quota.flows if (worth := quota.count.worth(w)) is not None), default=Fraction(0))
    other = admitted(known(subject), quota.callee)
    beside = other is not None and other[0] is not quota.limit and other[1] * least <= quota.rate
    also = [COUNTS_IN.format(other[0].name, quota.limit.name)] if other is not None and beside else []
    return (*also, *held_above(known(subject), quota.callee, lambda passed: passed * least > quota.rate))


def _first_tries(conflict: Finding, subject: Subject, quota: Quota) -> Finding:
    """Returns a conflict of first tries; possible where something above the callee may pass on fewer of them."""
    held = _held(subject, quota)
    if not held:
        return conflict
    stated = dict.fromkeys((*conflict.assumptions, *held))
    return replace(conflict, certainty="possible", severity=Severity.WARNING, assumptions=tuple(stated))


def _repeated(quota: Quota) -> tuple[RetryPolicy, ...]:
    """Returns the calls whose tries would fill a quota if they ran into their time limits."""
    most = sends_each_second(quota, again=True, late=quota.timed)
    return () if most is not None and most <= quota.rate else quota.timed


def _too_late(quota: Quota) -> str:
    """Returns what is needed where answers that come too late could fill a quota; empty where they could not."""
    late = sends_each_second(quota, again=True, late=quota.late)
    if late is not None and late <= quota.rate:
        return ""
    come = f"{_per(quota, late)} come" if late is not None else "nothing bounds what comes"
    tries = " and ".join(plan.name for plan in quota.late)
    allowed = render_quantity(quota.rate)
    return (
        f"needs that tries of {tries} are answered in time: {come} where none is, {quota.limit.name} allows {allowed}"
    )


def _unsaid(subject: Subject, quota: Quota) -> Iterator[Finding]:
    """Asks what a full limit does, where it is full for certain; what never fills it is proved without."""
    first, allowed = sends_each_second(quota) or Fraction(0), _per(quota, quota.rate)
    if first > quota.rate:
        needs = f"needs when_full of {quota.limit.name}: {_per(quota, first)} come, it allows {allowed}"
        yield QUESTION.undecided(needs, _places(quota), quota.of)
    else:
        yield from (finding for finding in _judged(subject, quota) if finding.verdict is Verdict.PROVED)


def _refused_counts(limit: Limit) -> bool:
    return limit.refused is None or limit.refused.text == "count"


def _places(quota: Quota) -> tuple[Place, ...]:
    rates = [w.rate.place.labelled("first tries come at this rate") for w, _ in quota.flows if w.rate is not None]
    worths = dict.fromkeys(place for w, _ in quota.flows for place in quota.count.places(w))
    retrying = [plan for plan in quota.plans if plan.retries]
    return (
        quota.stated.place.labelled(f"so many in {render_seconds(quota.window)}"),
        *layer_places(retrying),
        *rates,
        *worths,
    )


def _numbers(quota: Quota) -> Numbers:
    unit, again = f"{quota.count.unit}/s", sends_each_second(quota, again=True)
    first: Numbers = {"quota": (quota.rate, unit), "first tries": (sends_each_second(quota) or Fraction(0), unit)}
    return {**first, **({"when all are refused": (again, unit)} if again is not None else {})}


def _proved(quota: Quota, most: Fraction, when: str) -> Finding:
    script = Certificate(claim=f"(<= (* {rational(most)} {rational(quota.window)}) {rational(quota.most)})").script()
    message = f"{when}{quota.limit.name} holds with every try refused: {_per(quota, most)} of {_per(quota, quota.rate)}"
    cancelling = dict.fromkeys(plan.callee for _, way in quota.flows for plan in way[:-1] if cancels(plan))
    return QUESTION.proved(
        message, _places(quota), quota.of, arithmetic(_numbers(quota), certificate=script),
        assumptions=[
            BY_MEANS.format(quota.limit.name), *map(CANCELS.format, cancelling),
            *(IN_TIME.format(plan.name) for plan in _repeated(quota)), *quota.count.assumed(quota.limit),
        ],
    )  # fmt: skip


def _conflict(subject: Subject, quota: Quota, course: str, *, certain: bool) -> Finding:
    first, again = sends_each_second(quota) or Fraction(0), sends_each_second(quota, again=True)
    after = _per(quota, again) if again is not None else "no bound"
    message = (
        f"{quota.limit.name} allows {_per(quota, quota.rate)} to {quota.callee}, first tries are "
        f"{_per(quota, first)}, "
        f"and {after} while they are refused: {course}"
    )
    assumed = (REFUSED_COUNTS,) if quota.limit.refused is None and first <= quota.rate else ()
    witness = (
        Step(Fraction(0), f"{quota.limit.name} is full: {quota.callee} refuses"),
        Step(None, f"each refused request is sent again: {after} arrive, {_per(quota, quota.rate)} are allowed"),
        Step(quota.window, "the next window is full again"),
    )
    return QUESTION.conflict(
        message, _places(quota), quota.of, arithmetic(_numbers(quota), witness=witness), certain=certain,
        assumptions=(*assumed, *quota.count.assumed(quota.limit)),
        repairs=_repairs(subject, quota),
    )  # fmt: skip


def _per(quota: Quota, rate: Fraction) -> str:
    return f"{render_quantity(rate)} {quota.count.unit}/s"


def _repairs(subject: Subject, quota: Quota) -> Iterator[Repair]:
    """Yields fewer tries, or a quota for all that come again, which is often not for the callers to raise."""
    for plan in quota.plans:
        tries = [t for t in plan.call.tries if isinstance(t, Quantity) and t.high > 1]
        if len(tries) == 1:
            repair = repairs.proposal(repairs.change(subject, tries[0], Fraction(1)))
            yield from [repair] if repair is not None else []
    again = sends_each_second(quota, peak=True, again=True)
    if again is not None:
        repair = repairs.proposal(
            repairs.change(subject, quota.stated, repairs.upward_round(again * quota.window / quota.parts))
        )
        yield from [repair] if repair is not None else []

"""Bounds how many first tries come in any window of a quota while nothing is refused.

Where that is within the quota, nothing is ever refused, so that nothing comes back: the first refusal would need as
many sends before it.  A slot that a request holds sends again no sooner than its try is over; regular arrivals that go
straight to the callee come as far apart as their rate says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.number_text import render_quantity, render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Limit
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.roles import send_count
from coherence.language.schema_kinds import Quantity
from coherence.language.words import STATES, TIME_IN_QUEUE
from coherence.language.workloads import Randomness, Workload
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.calls.paths import Way
from coherence.verify.calls.retry_policies import RetryPolicy, copies_of_try
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.limits import always_holds, counted_in_flight, in_flight_limits
from coherence.verify.patterns.calls._quota_sends import Quota
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.queues.offered_load import peak_rate

REFUSES = "a try of {} fails by {} alone"
TURNS_AWAY = ("wait", "reject")


@dataclass(frozen=True)
class WindowBound:
    """At most `most` sends in any window of a quota while none is refused, and why."""

    most: Fraction
    message: str
    places: tuple[Place, ...] = ()
    of: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


def never_full(
    question: Question, facts: DesignFacts, quota: Quota, places: tuple[Place, ...], numbers: Numbers
) -> Finding | None:  # fmt: skip
    """Returns the proof that a quota is never full, whatever becomes of what is refused; None where it may be."""
    never = _window_bound(facts, quota)
    if never is None:
        return None
    assert quota.limit.refused is None or quota.limit.refused.text  # read: either answers the same
    claim = Certificate(claim=f"(<= {rational(never.most)} {rational(quota.most)})").script()
    message = f"{quota.limit.name} is never full: {never.message}, {_text(quota, quota.most)} are allowed"
    evidence = arithmetic({**numbers, "in a window": (never.most, quota.count.unit)}, certificate=claim)
    of, places = (*quota.of, *never.of), (*places, *never.places)
    assumed = (*never.assumptions, *quota.count.assumed(quota.limit))
    return question.proved(message, places, of, evidence, assumptions=assumed)


def _window_bound(facts: DesignFacts, quota: Quota) -> WindowBound | None:
    """Returns the bound by which a quota is never full; None where none is known, or it is more than the quota."""
    held = _by_limiters(facts, quota)
    if held is not None and held.most <= quota.most:
        return held
    if _refused_by_others(facts, quota):
        return None
    bounds = [_bound(facts, quota, workload, way) for workload, way in quota.flows]
    every = [bound for bound in bounds if bound is not None]
    most = sum((bound.most for bound in every), Fraction(0))
    if len(every) < len(bounds) or most > quota.most:
        return None
    span = f"at most {_text(quota, most)} in {render_seconds(quota.window)}"
    return WindowBound(
        most,
        f"{span} ({'; '.join(bound.message for bound in every)})",
        tuple(place for bound in every for place in bound.places),
        tuple(name for bound in every for name in bound.of),
        tuple(dict.fromkeys(words for bound in every for words in bound.assumptions)),
    )


def _by_limiters(facts: DesignFacts, quota: Quota) -> WindowBound | None:
    """Returns what limits let through that make those beyond them wait: one on all sends, or one on those of each.

    What waits there is sent later, whatever it is a retry or a second copy of.
    """
    pairs = ((limit, send_count(facts.design, limit)) for limit in facts.design.limits.values() if limit.waits)
    waiting = [
        (count.caller, _through(facts, limit, quota.window), limit)
        for limit, count in pairs
        if count is not None and (count.callee, count.part) == (quota.callee, quota.count.part)
    ]
    bounds = [(caller, most, limit) for caller, most, limit in waiting if most is not None]
    tightest = {caller: (most, limit) for caller, most, limit in sorted(bounds, key=lambda own: -own[1])}
    senders = dict.fromkeys(workload.name if len(way) == 1 else "" for workload, way in quota.flows)
    each = [tightest.get(name) for name in ([None] if None in tightest else senders)]
    known = [pair for pair in each if pair is not None]
    if not known or len(known) < len(each):
        return None
    most = sum((through for through, _ in known), Fraction(0))
    names = " and ".join(limit.name for _, limit in known)
    message = f"{names} lets {_text(quota, most)} through in {render_seconds(quota.window)}"
    places = tuple(limit.place.labelled("makes those beyond it wait") for _, limit in known)
    return WindowBound(most, message, places, tuple(limit.name for _, limit in known))


def _through(facts: DesignFacts, limit: Limit, span: Fraction) -> Fraction | None:
    """Returns the most that a limit in a window lets through in any time so long; None where it does not always."""
    most, window = most_allowed(facts.design, limit), limit.window
    if most is None or not isinstance(window, Quantity) or window.low <= 0:
        return None
    return math.ceil(span / window.low) * most.high if always_holds(limit) and not limit.actions else None


def _text(quota: Quota, most: Fraction) -> str:
    return render_quantity(most) + " token" * bool(quota.count.part)


def _refused_by_others(facts: DesignFacts, quota: Quota) -> bool:
    """Decides whether another limit may refuse tries at the callee: they would end before they are answered."""
    words = {f"{quota.callee}.{word}" for own in (*STATES.values(), (TIME_IN_QUEUE,)) for word in own}
    words |= {quota.callee}
    for limit in facts.design.limits.values():
        if limit is quota.limit or limit.counts is None:
            continue
        sent = send_count(facts.design, limit)
        counted = counted_in_flight(limit) in words or any(limit in facts.counted.get(path, ()) for path in words)
        if (sent is not None and sent.callee == quota.callee) or counted:
            return True
    return False


def _bound(facts: DesignFacts, quota: Quota, workload: Workload, way: Way) -> WindowBound | None:
    if not way:
        return None  # it comes without a call
    plan, worth = way[-1], quota.count.worth(workload)
    sooner, refusals = _ends_sooner(facts, way), _refusals(plan)
    if not _one_send_of_each(plan) or (sooner and refusals) or worth is None or worth.most is None:
        return None
    bounds = [None if sooner else _by_slots(facts, quota, workload, way), _by_arrivals(facts, quota, workload, way)]
    best = min((bound for bound in bounds if bound is not None), key=lambda bound: bound.most, default=None)
    if best is None:
        return None
    assumed = (*best.assumptions, *([REFUSES.format(plan.name, quota.limit.name)] if refusals else []))
    each = f", {render_quantity(worth.most)} token each at most" if quota.count.part else ""
    return replace(best, most=best.most * worth.most, message=f"{best.message}{each}", assumptions=assumed)


def _refusals(plan: RetryPolicy) -> set[str]:
    return {*(cause.name for cause in plan.causes), *(plan.call.fails or {})} - {"timeout"}


def _one_send_of_each(plan: RetryPolicy) -> bool:
    """Decides whether a request sends once where nothing is refused, or again only after a try ran into its limit."""
    return copies_of_try(plan.call) == 1 and len(_refusals(plan)) <= 1 and plan.call.breaker is None


def _times_out(plan: RetryPolicy) -> bool:
    return any(cause.name == "timeout" for cause in plan.causes) and plan.tries != 1


def _by_slots(facts: DesignFacts, quota: Quota, workload: Workload, way: Way) -> WindowBound | None:
    """Returns k times what one of k slots may send in the window; nothing further out may end what holds a slot."""
    plan, holder = way[-1], way[-2].callee if len(way) > 1 else workload.name
    limited = any(outer.limit is not None or outer.deadline is not None for outer in way[:-1])
    counted = {holder, f"{holder}.requests", *(f"{holder}.{word}" for word in STATES["in work"])}
    slots = [pair for pair in in_flight_limits(facts.design, counted) if _turns_away(pair[0])]
    answer = call_tree(facts.design).work[plan.callee].answer.least
    if limited or workload.deadline is not None or not slots:
        return None
    if plan.call.deadline is not None and _times_out(plan):
        return None  # the last try may be cut as soon as it has begun
    apart = answer if plan.limit is None else min(answer, plan.limit.low)
    service = workload.service  # what its requests take wherever they are served
    apart = min(apart, service.low) if isinstance(service, Quantity) else apart if service is None else Fraction(0)
    if apart <= 0:
        return None
    limit, allowed = min(slots, key=lambda pair: pair[1].high)
    most = math.floor(allowed.high) * (math.floor(quota.window / apart) + 1)
    message = f"{limit.name} lets {render_quantity(allowed.high)} in, each for {render_seconds(apart)} at least"
    places = (allowed.place.labelled("so many at once"),)
    below = {*call_tree(facts.design).below(plan.callee)} - {plan.callee}
    return WindowBound(Fraction(most), message, places, (limit.name, *sorted(below)))


def _ends_sooner(facts: DesignFacts, way: Way) -> bool:
    """Decides whether something may fail what a callee answers before its time, or end it or who waits for it."""
    from coherence.findings.influences import stopped
    from coherence.verify.queues.let_through import fails_behind

    callee = way[-1].callee
    ended = {stopped(facts.design, name) for name in facts.design.timers}
    ended |= {loop.evicted for loop in facts.design.loops.values()}
    passed = {plan.callee for plan in way}.union(call_tree(facts.design).below(callee))
    return not ended.isdisjoint(passed) or any(fails_behind(facts, callee))


def _turns_away(limit: Limit) -> bool:
    return limit.when_full is None or limit.when_full.text in TURNS_AWAY


def _by_arrivals(facts: DesignFacts, quota: Quota, workload: Workload, way: Way) -> WindowBound | None:
    """Returns what regular arrivals send straight to the callee: nothing delays one of them more than another."""
    plan = way[-1]
    calls = [call for call in facts.design.calls if call.caller is not None and call.caller.text == workload.name]
    delayed = _times_out(plan) or in_flight_limits(facts.design, {workload.name, f"{workload.name}.requests"})
    if not _is_regular(workload) or len(way) > 1 or len(calls) > 1 or delayed:
        return None
    if not isinstance(workload.rate, Quantity) or quota.limit.waits:
        return None
    most, burst = math.floor(quota.window * workload.rate.high) + 1, workload.burst
    if burst is None or burst.rate is None:
        return WindowBound(Fraction(most), f"{workload.name} come regularly, {workload.rate}")
    some, lasts = _bursts(workload, quota.window)
    most += some * (math.floor(burst.rate.high * lasts) + 1)
    message = f"{workload.name} come regularly, {workload.rate}, in bursts {burst.rate}"
    return WindowBound(Fraction(most), message)


def _is_regular(workload: Workload) -> bool:
    arrivals = workload.arrivals
    return arrivals is not None and not isinstance(arrivals, Randomness) and arrivals.text == "regular"


def _bursts(workload: Workload, window: Fraction) -> tuple[int, Fraction]:
    """Returns how many bursts of a workload a window may touch, and how long it has of each at most."""
    burst = workload.burst
    lasts = burst.lasts.high if burst is not None and burst.lasts is not None else Fraction(0)
    every = burst.every.low if burst is not None and burst.every is not None else Fraction(0)
    return math.floor((window + lasts) / every) + 1 if every > 0 else 1, min(window, lasts)


def lost(
    question: Question, subject: Subject, quota: Quota, places: tuple[Place, ...], held: tuple[str, ...]
) -> Finding:
    """Answers about a quota whose requests are lost where it is full: more come in a window, or it is not known.

    `held`: what may let fewer of them through before they get there.
    """
    design, workloads = subject.design, [workload for workload, _ in quota.flows]
    worths = {w.name: worth.high for w in workloads if (worth := quota.count.worth(w)) is not None}
    most = sum((_come(w, quota.window) * worths.get(w.name, 1) for w in workloads), Fraction(0))
    span, allowed = render_seconds(quota.window), _text(quota, quota.most)
    names = " and ".join(dict.fromkeys(workload.name for workload in workloads))
    if most <= quota.most:
        even = all(_is_regular(workload) for workload in workloads)
        lacking = "how many are sent twice or held back" if even else f"how even {names} come (`arrivals: regular`)"
        needs = f"needs {lacking}: {_text(quota, most)} in {span} by their rates, {allowed} are allowed, more are lost"
        return question.undecided(needs, places, quota.of)
    excess = _text(quota, most - quota.most)
    message = f"{_text(quota, most)} of {names} come in {span}, {quota.limit.name} allows {allowed}: {excess} are lost"
    witness = (
        Step(Fraction(0), f"the busiest {span} of {names} begin"),
        Step(quota.window, f"{_text(quota, most)} have come, {allowed} have been answered, {excess} failed"),
    )
    stated = most_allowed(design, quota.limit)
    repair = (
        repairs.proposal(repairs.change(subject, stated, Fraction(math.ceil(most)))) if stated is not None else None
    )
    return question.conflict(
        message, places, quota.of, arithmetic({"come": (most, ""), "quota": (quota.most, "")}, witness=witness),
        certain=False, assumptions=(*held, *quota.count.assumed(quota.limit)),
        repairs=[repair] if repair is not None else [],
    )  # fmt: skip


def _come(workload: Workload, window: Fraction) -> Fraction:
    """Returns how many come by their rate in the busiest window."""
    rate, burst = workload.rate, workload.burst
    usual = rate.high if rate is not None else Fraction(0)
    if burst is None or burst.rate is None or burst.lasts is None or burst.rate.high <= usual:
        return max(usual, peak_rate(workload)) * window
    lasts, every = burst.lasts.high, burst.every.low if burst.every is not None else None
    whole = math.floor(window / every) if every else 0
    in_bursts = whole * lasts + min(lasts, window - whole * every if every else window)
    return usual * window + (burst.rate.high - usual) * min(in_bursts, window)

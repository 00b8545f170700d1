"""Quotas on sends to a callee, and how many each becomes while refused requests are sent again.

Of one for each member, caller or tenant (`per`): however sends are shared, no part gets more than all of them, and of
so many parts one gets its share or more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Question, Subject
from coherence.language.design import Limit
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.roles import SendCount, own_workload, send_count
from coherence.language.schema_kinds import Quantity
from coherence.language.words import MEMBER
from coherence.language.workloads import Workload
from coherence.verify.calls.attempts import least, started
from coherence.verify.calls.call_graph import CallTree
from coherence.verify.calls.paths import Way, heaviest, open_share, ways
from coherence.verify.calls.retry_policies import RetryPolicy, copies_of_try, tries_again
from coherence.verify.facts.design_facts import copies, known
from coherence.verify.queues.offered_load import least_rate, long_run_rate, peak_rate, unstated_sources

CALLER = "caller"  # `per` of a quota that each who calls the thing has for itself
TOGETHER = "all members of {} count in one {}"
Answers = Callable[[Subject, "Quota"], Iterator[Finding]]


@dataclass(frozen=True)
class Quota:
    """At most `most` sends to a callee, or their tokens, in `window` seconds, and the workloads that send there."""

    limit: Limit
    stated: Quantity
    count: SendCount
    most: Fraction
    window: Fraction
    flows: tuple[tuple[Workload, Way], ...]
    share: str = ""
    unstated: tuple[str, ...] = ()  # who else sends there, of whom nothing says how often
    timed: tuple[RetryPolicy, ...] = ()  # calls whose tries come again where they run into their time limit
    late: tuple[RetryPolicy, ...] = ()  # those of which stated times are longer than it
    parts: int = 1  # how many such quotas `most` is the sum of

    @property
    def callee(self) -> str:
        return self.count.callee

    @property
    def lacking(self) -> str:
        """Returns what to ask for before sends can be counted; nothing where all of it is stated."""
        return self.count.lacking(workload for workload, _ in self.flows)

    @property
    def rate(self) -> Fraction:
        return self.most / self.window

    @property
    def plans(self) -> tuple[RetryPolicy, ...]:
        return tuple(dict.fromkeys(plan for _, way in self.flows for plan in way))

    @property
    def of(self) -> tuple[str, ...]:
        return (self.limit.name, *(plan.name for plan in self.plans), *(w.name for w, _ in self.flows), self.callee)


def quota_of(subject: Subject, tree: CallTree, limit: Limit) -> Quota | None:
    """Returns the quota that a limit is; None where it refuses nothing, or counts something else than sends."""
    most, window = most_allowed(subject.design, limit), limit.window
    refuses = limit.when_full is None or limit.rejects or limit.loses
    if not refuses or most is None or not isinstance(window, Quantity):
        return None
    if window.low <= 0:
        return None
    count = send_count(subject.design, limit)
    if count is None:
        return None
    callee, caller = count.callee, count.caller
    coming = _flows(subject, tree, callee, caller)
    flows = tuple((workload, way) for workload, sizes in coming for way in heaviest(tree, sizes))
    share = next((share for _, sizes in coming if (share := open_share(tree, sizes))), "")
    unstated = tuple(name for name in unstated_sources(subject.design, callee) if caller is None or name == caller)
    timed = tuple(dict.fromkeys(plan for _, way in flows for plan in _timed(way)))
    late = tuple(p for p in timed if p.limit is not None and tree.work[p.callee].answer.most > p.limit.low)
    if not (flows or (limit.loses and unstated)):
        return None
    return Quota(limit, most, count, most.low, window.high, flows, share, unstated, timed, late)


def _timed(way: Way) -> Iterator[RetryPolicy]:
    """Yields the calls of a way whose tries come again where they run into their time limit: their own, or above."""
    for number, plan in enumerate(way):
        own = plan.retries and any(cause.name == "timeout" for cause in plan.causes)
        if plan.limit is not None and (own or any(_answered_late(outer) for outer in way[:number])):
            yield plan


def _answered_late(plan: RetryPolicy) -> bool:
    """Decides whether a call is tried again where what it calls says that it has waited too long."""
    return plan.tries != 1 and tries_again(plan.call, "timeout")


def _flows(
    subject: Subject, tree: CallTree, callee: str, only: str | None
) -> tuple[tuple[Workload, dict[Way, Fraction | None]], ...]:
    """Returns the workloads of stated rates that reach the callee, with their ways and the sends of each."""
    flows: list[tuple[Workload, dict[Way, Fraction | None]]] = []
    for workload in subject.design.workload.values():
        if only is not None and workload.name != only:
            continue
        routes = ways(tree, workload.name, callee)
        if routes.cyclic or routes.cut or workload.rate is None:
            continue  # named among the unstated sources
        every = (*((),) * (own_workload(subject.design, callee) is workload), *routes.ways)
        flows += [(workload, {way: _sends(way) for way in every})] if every else []
    return tuple(flows)


def _sends(way: Way, late: Sequence[RetryPolicy] = ()) -> Fraction | None:
    """Returns the most sends of one first try while all are refused, within the limits that end tries; None: no bound.

    Tries of the calls that are `late` may also run into their time limits, and are answered so to those above.

    Of each try two copies, where they may be sent.  A try that its caller cancels ends what it has begun.  A refusal
    comes at once, but a try that begins retries itself may last until its limit.
    """
    total, limit = Fraction(1), None
    for number, plan in enumerate(way, start=1):
        end = least(limit, plan.deadline.high if plan.deadline is not None else None)
        lasts = any(inner.tries != 1 for inner in way[number:])
        refused = [cause for cause in plan.causes if lasts or plan in late or cause.name != "timeout"]
        counts = [plan.tries if end is None else started(plan.best(cause), end) for cause in refused]
        if _answered_late(plan) and any(inner in late for inner in way[number:]):
            counts.append(plan.tries)
        if None in counts:
            return None
        total *= copies_of_try(plan.call) * max((count for count in counts if count is not None), default=1)
        limit = least(limit, plan.limit.high if cancels(plan) and plan.limit else None)
    return total


def cancels(plan: RetryPolicy) -> bool:
    """Decides whether a call ends what its tries have begun when it waits no longer."""
    return plan.limit is not None and plan.call.cancels


def sends_each_second(
    quota: Quota, *, peak: bool = False, again: bool = False, least: bool = False, late: Sequence[RetryPolicy] = ()
) -> Fraction | None:
    """Returns what counts per second, sends or in the mean their tokens: over a long time or at the peak of bursts, of
    first tries or with all that come again.

    `late`: calls whose tries may run into their time limits as well.
    """
    total = Fraction(0)
    for workload, way in quota.flows:
        assert workload.rate is not None
        rate = least_rate(workload) if least else peak_rate(workload) if peak else long_run_rate(workload)
        times, worth = _sends(way, late) if again else Fraction(1), quota.count.worth(workload)
        if times is None or worth is None:
            return None
        total += rate * times * (worth.low if least else worth.high)
    return total


def filled_after(quota: Quota) -> Fraction | None:
    """Returns seconds after which a stated burst has filled the window; None where none does."""
    bursts = [w.burst for w, _ in quota.flows if w.burst is not None]
    peak = sends_each_second(quota, peak=True) or Fraction(0)
    lasts = [b.lasts.high for b in bursts if b.lasts is not None]
    if not lasts or peak <= quota.rate:
        return None
    usual = sends_each_second(quota) or Fraction(0)
    spare = quota.most - usual * quota.window  # beside a window of the usual rate
    needed = max(Fraction(0), spare) / (peak - usual)
    return needed if needed < max(lasts) else None


def of_each_part(question: Question, subject: Subject, quota: Quota, answers: Answers) -> Iterator[Finding]:
    """Yields what holds however the sends are shared among the parts, or asks how they are."""
    assert quota.limit.per is not None
    each = quota.limit.per.text
    if each == CALLER:
        yield from _of_callers(subject, quota, answers)
        return
    whole = [finding for finding in answers(subject, quota) if finding.verdict is Verdict.PROVED]
    if whole:
        yield from (replace(f, message=f"{f.message}, also where one {each} sends all of it") for f in whole)
        return
    if quota.lacking:
        yield from answers(subject, quota)
        return
    number = _parts(subject, quota, each)
    together = replace(quota, most=number * quota.most, parts=number) if number else None
    sure = [f for f in answers(subject, together) if f.verdict is not Verdict.PROVED] if together is not None else []
    sure = [finding for finding in sure if finding.verdict is not Verdict.UNDECIDED]
    if sure:
        many = f"{quota.limit.name} of {number} {each} together" if number != 1 else quota.limit.name
        yield from (replace(f, message=f.message.replace(quota.limit.name, many, 1)) for f in sure)
        return
    again = sends_each_second(quota, again=True)
    come = f"{render_quantity(again)} {quota.count.unit}/s come" if again is not None else "nothing bounds what comes"
    needs = f"needs how evenly {number} {each} share" if number else f"needs how many {each} there are and share"
    allowed = f"{quota.limit.name} allows each {render_quantity(quota.rate)}"
    text = f"{needs} what is sent to {quota.callee}: {come} while all is refused, {allowed}"
    places = (quota.stated.place.labelled(f"so many for each {each}"),)
    yield question.undecided(text, places, quota.of)


def _of_callers(subject: Subject, quota: Quota, answers: Answers) -> Iterator[Finding]:
    """Yields the answers about each who calls, by the sends of its own; members of one count together."""
    callers = [way[-1].caller if way else workload.name for workload, way in quota.flows]
    for name in dict.fromkeys(callers):
        flows = tuple(flow for flow, caller in zip(quota.flows, callers, strict=True) if caller == name)
        passed = {plan for _, way in flows for plan in way}
        timed, late = (tuple(p for p in plans if p in passed) for plans in (quota.timed, quota.late))
        together = (TOGETHER.format(name, quota.limit.name),) if name in subject.design.components else ()
        for finding in answers(subject, replace(quota, flows=flows, timed=timed, late=late)):
            message = finding.message.replace(quota.limit.name, f"{quota.limit.name} of {name}", 1)
            yield replace(finding, message=message, assumptions=(*finding.assumptions, *together))


def _parts(subject: Subject, quota: Quota, each: str) -> int:
    """Returns the most parts that there are of a quota; 0 where the design does not say, or some send beside them."""
    components = subject.design.components
    thing = each if each in components else quota.callee if each in MEMBER else ""
    passed = (any(plan.caller == thing for plan in way) for _, way in quota.flows)
    if not thing or not (thing == quota.callee or all(passed)):
        return 0
    members = copies(known(subject), thing)
    return math.floor(members.high) if members is not None and members.high is not None else 0

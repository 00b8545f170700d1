"""Quotas on sends to a callee, and how many each becomes while refused requests are sent again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.findings.question_input import Subject
from coherence.language.design import Limit
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.roles import SendCount, own_workload, send_count
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Workload
from coherence.verify.calls.attempts import least, started
from coherence.verify.calls.call_graph import CallTree
from coherence.verify.calls.paths import Way, heaviest, open_share, ways
from coherence.verify.calls.retry_policies import RetryPolicy, copies_of_try, tries_again
from coherence.verify.queues.offered_load import least_rate, long_run_rate, peak_rate, unstated_sources


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
    if not refuses or most is None or not isinstance(window, Quantity) or limit.per is not None:
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

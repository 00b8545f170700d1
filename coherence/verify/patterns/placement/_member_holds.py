"""Bounds how long a task holds a member of a thing: for its own work, and for the calls that the member waits for.

Where a rate says what a member serves, nothing says how long one task holds it; a call without a limit waits for as
long as its callee lets it wait.  A try that is cancelled frees its member.  Of a law without a longest time some tasks
take the mean or longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.language.calls import Call
from coherence.language.implied import EACH
from coherence.language.roles import time_of
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Workload
from coherence.verify.calls.call_graph import CANCELS, call_tree
from coherence.verify.calls.retry_policies import longest_end, retry_policy_of
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.queues.service_means import longest_time, mean_service
from coherence.verify.queues.stated_capacities import WHOLE

ZERO = Fraction(0)


@dataclass(frozen=True)
class MemberHold:
    """How long a task holds a member: `known` in a run that can happen, never above `most` (None: without a bound).

    `open`: what would bound it, where the design says how long the task works.  `places`: where its times stand.
    """

    known: Fraction = ZERO
    most: Fraction | None = None
    open: str = ""
    places: tuple[Place, ...] = ()
    assumed: tuple[str, ...] = ()


def member_hold(facts: DesignFacts, workload: Workload, call: Call) -> MemberHold:
    """Returns how long a task of a workload holds a member of what it calls: until it is done, or is cancelled."""
    thing, tree = str(call.callee), call_tree(facts.design)
    stated = _stated(facts, workload, thing)
    own, inside = _own(facts, workload, thing, stated), _calls(facts, thing)
    most = None if own.most is None or inside.most is None else own.most + inside.most
    known, places = max(own.known, inside.known), tuple(quantity.place for quantity in stated)
    end = min(_ends(workload, call), default=None) if call.cancels else None
    if end is None or (most is not None and most <= end):
        return MemberHold(known, most, (own.open or inside.open) if stated and most is None else "", places)
    assumed = (CANCELS.format(call.name),) if tree.of_caller.get(thing) else ()
    return MemberHold(min(known, end), end, "", places, assumed)


def _ends(workload: Workload, call: Call) -> Iterator[Fraction]:
    """Yields the seconds after which a try of a call is given up."""
    plan = retry_policy_of(call)
    limit = plan.deadline if plan.streams else plan.limit
    yield from [limit.high] if limit is not None and limit.high is not None else []
    yield from [workload.deadline.high] if workload.deadline is not None else []


def _stated(facts: DesignFacts, workload: Workload, thing: str) -> list[Quantity]:
    """Returns the times that are stated for a task: the longest of the workload, or the mean of one without, and that
    of the thing.
    """
    serve = time_of(facts.design.components.get(thing), "answer")
    return [own for own in (longest_time(workload) or mean_service(workload), serve) if own is not None]


def _own(facts: DesignFacts, workload: Workload, thing: str, stated: Sequence[Quantity]) -> MemberHold:
    """Returns how long a member works on a task itself: the longest time stated, where no rate says what it serves."""
    constants = facts.design.components[thing].constants
    rate = next((key for key in constants if key.startswith(EACH) or key in WHOLE), "")
    if rate:
        needs = f"how long a task of {workload.name} holds a member of {thing}: `{rate}` says how many it serves"
        return MemberHold(open=needs)
    endless = workload.service is not None and longest_time(workload) is None
    most = max((own.high for own in stated), default=None)
    return MemberHold(most or ZERO, None if endless else most)


def _calls(facts: DesignFacts, thing: str) -> MemberHold:
    """Returns how long a member waits for the calls that it makes: for ever where one has no limit."""
    tree = call_tree(facts.design)
    plans = tree.of_caller.get(thing, ())
    if not plans:
        return MemberHold(ZERO, ZERO)
    work = tree.work[thing]
    unbounded = next((plan for plan in plans if plan.limit is None or longest_end(plan) is None), None)
    if unbounded is None:
        return MemberHold(work.answer.most, None if work.cyclic else work.hanging.most.bound)
    needs = f"a bound on {unbounded.name} (a deadline): a member of {thing} is held while it waits for the answer"
    return MemberHold(work.answer.most, None, needs)

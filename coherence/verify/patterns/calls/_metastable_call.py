"""One retrying call of a design in the numbers of the load map: every range at its worse end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.units import SECOND
from coherence.findings.question_input import Subject
from coherence.language.design import Design, Limit
from coherence.language.entries.limit_numbers import least_allowed, most_allowed
from coherence.language.entries.member_slots import ALONE, member_slots
from coherence.language.expressions.tree import Name
from coherence.language.roles import time_of
from coherence.language.schema_kinds import Quantity
from coherence.language.words import STATES, TIME_IN_QUEUE
from coherence.language.workloads import Spread2, Workload
from coherence.simulate.metastability.load_map import Retrying
from coherence.simulate.metastability.waits import Server
from coherence.verify.calls.attempts import ZERO, pauses
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.calls.retry_policies import RetryPolicy
from coherence.verify.facts.design_facts import copies, known
from coherence.verify.facts.limits import caps_at_all_times, in_flight_limits
from coherence.verify.patterns.calls._load_amplification import (
    AmplifiedLoad,
    in_flight_limit,
    paced_sends,
    retry_limits,
    share_of,
)
from coherence.verify.queues.offered_load import unstated_sources
from coherence.verify.queues.service_means import longest_time

WAITING = (*STATES["waiting"], TIME_IN_QUEUE)
MOST_PAUSES = 16  # of more tries the first pauses stand for all
MOST_SERVERS = 1_000_000  # beyond, the closed forms of waiting take too long
LONGEST_PAUSE = 20  # limits of a try: a longer pause leaves the tries of one request far apart


@dataclass(frozen=True)
class CallFacts:
    """A call and what the design leaves out: `missing` names the keys that the closed forms of waiting need."""

    call: Retrying
    missing: tuple[str, ...] = ()

    @property
    def memoryless(self) -> bool:
        """Returns whether servers and exponential service times are stated."""
        return not self.missing and self.call.server.cv == 1

    @property
    def capped(self) -> bool:
        """Returns whether anything but the number of tries bounds the load."""
        call = self.call
        return not all(math.isinf(cap) for cap in (call.share, call.most_retries, call.breaker))


def facts(subject: Subject, load: AmplifiedLoad) -> CallFacts | None:
    """Returns the call, where the workload itself makes one retrying call to the callee; else None."""
    plan = load.ways[0][0]
    if len(load.ways) > 1 or len(load.ways[0]) > 1 or plan.limit is None or plan.call.on_timeout is None:
        return None
    if load.hedged:  # waiting with second copies has no closed form here
        return None
    number = copies(known(subject), load.callee)
    servers = int(number.low) if number is not None and number.low is not None and number.low >= 1 else 0
    servers *= int((member_slots(subject.design, load.callee) or ALONE).low)
    cv = load.workload.service.cv if isinstance(load.workload.service, Spread2) else None
    absent = [] if servers else [f"copies of {load.callee}"]
    absent += [f"fewer copies of {load.callee}"] if servers > MOST_SERVERS else []
    absent += [] if cv is not None else [f"cv of the service of {load.workload.name} (1: exponential)"]
    server = Server(
        max(1, servers), float(max(1, servers) / load.capacity.low), float(plan.limit.low),
        float(cv.high) if cv is not None else 1.0, cancel=plan.call.cancels,
    )  # fmt: skip
    return CallFacts(_retrying(subject.design, load, plan, server), tuple(absent))


def _retrying(design: Design, load: AmplifiedLoad, plan: RetryPolicy, server: Server) -> Retrying:
    """Returns the call with its caps; the largest share and the smallest counts bind."""
    limits = list(retry_limits(design, plan))
    shares = [(found, limit) for limit in limits if (found := share_of(limit)) is not None]
    (share, of_first), limit = max(shares, key=lambda share: share[0][0]) if shares else ((math.inf, False), None)
    floor = least_allowed(design, limit) if limit is not None else ZERO
    paced = paced_sends(design, plan, load.rate.high, 1)
    if paced is not None and limit is None:  # so many a second are a share of the first tries, as these stand
        share, of_first = paced - 1, True
    breaker = in_flight_limit(design, load)
    return Retrying(
        float(load.rate.high),
        math.inf if plan.tries is None else plan.tries,
        server,
        share=float(share),
        of_first=of_first,
        floor=math.inf if floor is None else float(floor),
        most_retries=min((_count(design, limit) for limit in limits), default=math.inf),
        breaker=_count(design, breaker) if breaker is not None else math.inf,
        pause=float(pause_of(plan) or 0),
    )


def _count(design: Design, limit: Limit) -> float:
    most = most_allowed(design, limit)
    return float(most.high) if most is not None else math.inf


def room(design: Design, callee: str) -> Limit | None:
    """Returns a limit that rejects what waits at the callee."""
    for limit in design.limits.values():
        counted = limit.counts.tree.path if limit.counts is not None and isinstance(limit.counts.tree, Name) else ""
        waits = counted in {f"{callee}.{word}" for word in WAITING}
        if waits and limit.rejects and isinstance(limit.at_most, Quantity):
            return limit
    return None


def places_held(design: Design, limit: Limit | None, rate: Fraction) -> tuple[Fraction, Fraction] | None:
    """Returns how many may wait, at least and at most, under a limit on their number or time, `rate` (1/s) served."""
    most = most_allowed(design, limit) if limit is not None else None
    if limit is None or most is None:
        return None
    from coherence.verify.queues.let_through import places_in_queue

    return places_in_queue(limit, most.low, rate), places_in_queue(limit, most.high, rate)


def longest_sojourn(design: Design, load: AmplifiedLoad, full: Limit, servers: int) -> tuple[Fraction, Quantity] | None:
    """Returns what an accepted request takes at most (s), with the longest service; None where nothing bounds it.

    Of m places before c servers, each of which is free again within the longest service: of m that begin first, c end
    in each such time, and then it is served itself.
    """
    component, names = design.components.get(load.callee), {load.workload.name, *(name for name, _ in load.beside)}
    fifo = component is None or component.discipline is None or component.discipline.text == "fifo"
    most = most_allowed(design, full)
    direct = not load.hedged and all(len(way) == 1 for way in load.ways)
    longest = [longest_time(design.workload[name]) if name in design.workload else None for name in names]
    known_ends = [quantity for quantity in longest if quantity is not None]
    counts = full.counts is not None and isinstance(full.counts.tree, Name) and not _is_time(full)
    own = time_of(component, "answer")
    if not (fifo and direct and counts and caps_at_all_times(full)) or most is None or servers < 1 or own is not None:
        return None
    if len(known_ends) < len(longest) or call_tree(design).of_caller.get(load.callee, ()):
        return None
    in_work = (load.callee, f"{load.callee}.requests", *(f"{load.callee}.{word}" for word in STATES["in work"]))
    fewer = in_flight_limits(design, in_work) or unstated_sources(design, load.callee)
    if fewer:
        return None
    end = max(known_ends, key=lambda quantity: quantity.high)
    return (math.ceil(Fraction(math.floor(most.high), servers)) + 1) * end.high, end


def _is_time(limit: Limit) -> bool:
    return isinstance(limit.at_most, Quantity) and limit.at_most.dimension == SECOND


def pause_of(plan: RetryPolicy) -> Fraction | None:
    """Returns mean seconds between two tries, every pause at its longest; None where it is not known or has no
    bound."""
    count = min(plan.tries or MOST_PAUSES, MOST_PAUSES) - 1
    if plan.backoff.answered or count < 1:
        return None if plan.backoff.answered else Fraction(0)
    whole = pauses(plan.backoff, count, longest=True)
    return None if whole is None else whole / count


def far_apart(plan: RetryPolicy) -> bool:
    """Returns whether the tries of one request are too far apart, or unknown, for retries to keep an overload up."""
    pause = pause_of(plan)
    return pause is None or (plan.limit is not None and pause > LONGEST_PAUSE * plan.limit.low)


def burst_delay(workload: Workload, capacity: Fraction) -> Fraction | None:
    """Returns seconds that first tries alone delay the queue at the end of the stated burst; None without one."""
    burst = workload.burst
    if burst is None or burst.rate is None or burst.lasts is None or capacity <= 0:
        return None
    return max(Fraction(0), (burst.rate.high - capacity) * burst.lasts.high / capacity)

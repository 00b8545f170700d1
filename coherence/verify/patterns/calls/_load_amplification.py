"""Compares the load that retries make while every try times out with the capacity of the last callee.

In an overload each first try becomes A sends: the product of the layers' tries, each within its deadline and
within the limits of its retries (SOURCE: N. Bronson et al., HotOS 2021; Envoy's retry budgets and breakers).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.places import Place
from coherence.findings.question_input import Subject
from coherence.language.design import Design, Limit
from coherence.language.entries.limit_numbers import ends_retries, least_allowed, most_allowed, share_in_window
from coherence.language.entries.member_slots import ALONE, MemberSlots, member_slots
from coherence.language.expressions.tree import Arithmetic, Name, Number
from coherence.language.expressions.tree import Call as Function
from coherence.language.roles import own_workload
from coherence.language.schema_kinds import Formula, Quantity
from coherence.language.workloads import Spread2, Workload
from coherence.verify.calls.attempts import ZERO, budget_factor
from coherence.verify.calls.call_graph import CallTree
from coherence.verify.calls.claims import Numbers
from coherence.verify.calls.paths import ANY, QUICK, Way, amplification, heaviest, open_share, ways, work_beside
from coherence.verify.calls.retry_policies import RetryPolicy, copies_of_try, tries_again
from coherence.verify.facts.design_facts import DesignFacts, copies, known
from coherence.verify.facts.limits import always_holds, caps_at_all_times, counted_in_flight, in_flight_limits
from coherence.verify.patterns.calls._nested_retries import layer_places
from coherence.verify.queues.member_rates import slots_places
from coherence.verify.queues.offered_load import contested, long_run_rate, own_time, unstated_sources

_RATES = ("capacity", "throughput")
_RATES_EACH = ("rate_per_replica", "rate_per_copy")


@dataclass(frozen=True)
class ServingCapacity:
    """Requests per second that a thing can serve."""

    low: Fraction
    high: Fraction
    place: Place
    slots: MemberSlots = ALONE


@dataclass(frozen=True)
class AmplifiedLoad:
    """First tries of a workload, all ways that they go to one callee, and the sends that each becomes at worst.

    `beside`: the other workloads that go there, each with its own worst load (None: not known), in tries of the mean
    service of this one.  `often`: most first tries per second over a long time, repeated bursts and switches included.
    `share`: what would say how many requests come there, where some do without.
    `hedged`: calls that may send a second copy of each try, counted in `sends`; `one_copy`: the sends without them;
    `surely`: no more than the sends of an overload.
    """

    workload: Workload
    rate: Quantity
    callee: str
    capacity: ServingCapacity
    ways: tuple[Way, ...]
    retrying: tuple[RetryPolicy, ...]
    sends: Fraction | None
    budgets: tuple[str, ...]
    beside: tuple[tuple[str, Fraction | None], ...] = ()
    often: Fraction = ZERO
    share: str = ""
    hedged: tuple[RetryPolicy, ...] = ()
    one_copy: Fraction | None = None
    surely: Fraction | None = None

    @property
    def lasting(self) -> Fraction | None:
        """Returns tries per second over a long time while all time out, whatever bursts come again; None: nothing
        bounds it.
        """
        return None if self.sends is None else self.sends * max(self.rate.high, self.often)

    @property
    def worst(self) -> Fraction | None:
        """Returns tries per second while all time out; None where nothing bounds them."""
        return None if self.sends is None else self.sends * self.rate.high

    @property
    def crowd(self) -> Fraction | None:
        """`lasting` together with the other workloads."""
        parts = [self.lasting, *(most for _, most in self.beside)]
        return None if None in parts else sum((part for part in parts if part is not None), ZERO)

    @property
    def by_fewest(self) -> AmplifiedLoad | None:
        """Returns the load of tries of one copy, or that of as many copies as are sent, where it is too much; else
        None.
        """
        enough = self.capacity.high / self.rate.high
        if self.one_copy is None or self.one_copy >= enough:
            return replace(self, sends=self.one_copy, hedged=())
        few = self.budgets or (self.surely is not None and self.surely < enough)
        return None if few else replace(self, sends=self.surely)

    @property
    def of(self) -> tuple[str, ...]:
        calls = dict.fromkeys(plan.name for way in self.ways for plan in way)
        slots = (limit.name for limit in self.capacity.slots.limits)
        return (self.workload.name, self.callee, *calls, *self.budgets, *slots)

    @property
    def places(self) -> list[Place]:
        rate = self.rate.place.labelled("first tries arrive at this rate")
        capacity = self.capacity.place.labelled("this is what can be served")
        return [*layer_places(list(self.retrying)), rate, capacity, *slots_places(self.capacity.slots)]

    @property
    def numbers(self) -> Numbers:
        numbers: Numbers = {"first tries": (self.rate.high, "req/s"), "capacity": (self.capacity.low, "req/s")}
        if self.sends is not None and self.worst is not None:
            numbers |= {"sends per first try": (self.sends, ""), "load when all time out": (self.worst, "req/s")}
        if self.beside and self.crowd is not None:
            numbers |= {"with the other workloads": (self.crowd, "req/s")}
        return numbers


def loads(subject: Subject, tree: CallTree) -> tuple[AmplifiedLoad, ...]:
    """Returns every workload with a rate against every callee with a capacity; found once for each design."""
    return subject.queries.get(loads, lambda: tuple(_loads(subject, tree)))


def _loads(subject: Subject, tree: CallTree) -> Iterator[AmplifiedLoad]:
    for workload in subject.design.workload.values():
        if workload.rate is not None and workload.name in tree.of_caller:
            for callee in tree.work:
                load = _load(subject, tree, workload, callee)
                if load is not None:
                    yield load


def _load(subject: Subject, tree: CallTree, workload: Workload, callee: str) -> AmplifiedLoad | None:
    """None where no timeouts are tried again, or the first tries alone are too many: another question's matter."""
    design, rate, routes = subject.design, workload.rate, ways(tree, workload.name, callee)
    if not routes.ways:
        return None
    capacity = capacity_of(subject, callee, workload, leaf=callee not in tree.of_caller)
    if capacity is None or rate is None or rate.low >= capacity.high:
        return None
    calls = list(dict.fromkeys(plan for way in routes.ways for plan in way))
    hedged = tuple(plan for plan in calls if copies_of_try(plan.call) > 1)
    again = (plan for plan in calls if plan in hedged or (plan.retries and tries_again(plan.call, "timeout")))
    retrying = tuple(again)
    if routes.cyclic or routes.cut or not retrying:
        return None
    budgets = tuple(dict.fromkeys(limit.name for plan in calls for limit in _budgets(design, plan)))
    total = _total(design, tree, workload, callee)
    alone = _total(design, tree, workload, callee, pace="") if hedged else total
    surely = _total(design, tree, workload, callee, pace=QUICK) if hedged else total
    beside = tuple(
        (other.name, _beside(subject, tree, other, callee, capacity))
        for other in _others(design, tree, workload, callee)
    )
    beside += tuple((name, None) for name in unstated_sources(design, callee) if name not in design.workload)
    often = long_run_rate(workload)
    share = open_share(tree, dict.fromkeys(routes.ways, 1))
    return AmplifiedLoad(
        workload, rate, callee, capacity, routes.ways, retrying, total, budgets, beside, often, share, hedged, alone,
        surely,
    )  # fmt: skip


def _total(design: Design, tree: CallTree, workload: Workload, callee: str, *, pace: str = ANY) -> Fraction | None:
    """Returns sends per first try over all ways that it takes together, counted once for all who stand beside it.

    `pace`: second copies as a bound (ANY), no more than are sent (QUICK), or none.
    """

    def counted() -> Fraction | None:
        assert workload.rate is not None
        rate = workload.rate.low
        sends = {way: _sends(design, tree, way, rate, pace=pace) for way in ways(tree, workload.name, callee).ways}
        taken = [sends[way] for way in heaviest(tree, sends)]
        return None if None in taken else sum((s for s in taken if s is not None), ZERO)

    return design.queries.get((_total, workload.name, callee, pace), counted)


def _others(design: Design, tree: CallTree, workload: Workload, callee: str) -> Iterator[Workload]:
    for other in design.workload.values():
        calls = other.name in tree.of_caller and bool(ways(tree, other.name, callee).ways)
        if other is not workload and (calls or own_workload(design, callee) is other):
            yield other


def _beside(
    subject: Subject, tree: CallTree, other: Workload, callee: str, capacity: ServingCapacity
) -> Fraction | None:
    """Returns the other workload's worst load over a long time, as so many tries of those that `capacity` counts."""
    routes = ways(tree, other.name, callee)
    own = capacity_of(subject, callee, other, leaf=callee not in tree.of_caller)
    if other.rate is None or own is None or not own.low or routes.cyclic or routes.cut:
        return None
    sends = _total(subject.design, tree, other, callee)
    once = 1 if own_workload(subject.design, callee) is other else 0
    return None if sends is None else (sends + once) * long_run_rate(other) * capacity.low / own.low


def capacity_of(subject: Subject, name: str, workload: Workload, *, leaf: bool) -> ServingCapacity | None:
    """Returns a stated rate, a rate per copy, or copies over the mean service time of the workload, else over the time
    of the thing where limits say how many requests a member works on at once.
    """
    component = subject.design.components.get(name)
    if component is None:
        return None
    members = copies(known(subject), name)
    few, many = (members.low, members.high) if members else (None, None)
    for key in (*_RATES, *_RATES_EACH):
        rate = component.constants.get(key)
        if isinstance(rate, Formula):
            return _computed(known(subject), name, key, rate)
        if isinstance(rate, Quantity) and rate.dimension.physical.powers == (("s", -1),):
            if key in _RATES:
                return ServingCapacity(rate.low, rate.high, rate.place)
            if few is None or not many:
                return None
            few, many, slots = _let_in(subject.design, name, few, many, ALONE)
            return ServingCapacity(rate.low * few, rate.high * many, rate.place, slots)
    if contested(known(subject), name) is not None:
        return None
    mean = workload.service.mean if isinstance(workload.service, Spread2) else workload.service
    mean = own_time(known(subject), name) if workload.service is None else mean
    slots = member_slots(subject.design, name) or ALONE
    if leaf and few is not None and many is not None and isinstance(mean, Quantity) and mean.low > 0:
        few, many, slots = _let_in(subject.design, name, few * slots.low, many * slots.high, slots)
        return ServingCapacity(few / mean.high, many / mean.low, mean.place, slots)
    return None


def _let_in(
    design: Design, name: str, few: Fraction, many: Fraction, slots: MemberSlots
) -> tuple[Fraction, Fraction, MemberSlots]:
    """Returns how many requests a thing works on at once, where a limit on all of them makes the others wait."""
    limits = [pair for pair in in_flight_limits(design, (name, f"{name}.requests")) if not pair[0].rejects]
    for limit, most in limits:
        if most.low < few or most.high < many:
            few, many, slots = min(few, most.low), min(many, most.high), replace(slots, limits=(*slots.limits, limit))
    return few, many, slots


def _computed(facts: DesignFacts, name: str, key: str, stated: Formula) -> ServingCapacity | None:
    """Returns a capacity that is an expression of known numbers; None of any other, and of a rate of each member."""
    span = facts.range(Name(f"{name}.{key}"))
    if key not in _RATES or span.low is None or span.high is None or span.low <= 0:
        return None
    return ServingCapacity(span.low, span.high, stated.place)


def _sends(design: Design, tree: CallTree, way: Way, rate: Fraction, *, pace: str) -> Fraction | None:
    """Returns sends per first try when every try times out: the product of the layers, each within its retry budget."""
    hedged = bool(pace) and any(copies_of_try(plan.call) > 1 for plan in way)
    if not any(any(_budgets(design, plan)) for plan in way):
        pace = pace if hedged else QUICK
        beside = work_beside(tree, way, pace=pace, waits=True)
        sends = amplification(way, "timeout", abandons=True, pace=pace, copies=hedged, beside=beside).sends
        return None if sends is None else Fraction(sends)
    total: Fraction | None = Fraction(1)
    for plan in way:
        again, times = plan.tries if tries_again(plan.call, "timeout") else 1, copies_of_try(plan.call) if hedged else 1
        budgets = (_budget(design, plan, rate, times), paced_sends(design, plan, rate, times))
        bounds = [b for b in (None if again is None else Fraction(again), *budgets) if b is not None]
        total = None if total is None or not bounds else total * times * min(bounds)
    return total


def _budget(design: Design, plan: RetryPolicy, rate: Fraction, copies: int) -> Fraction | None:
    """Returns most sends per first try that the limits of retries let through at this rate; None: no bound.

    A count, and the floor of a share, are retries in flight, each of them `per_try` long while all time out: at a
    small load they admit more than the share does.
    """
    if plan.limit is None:
        return None
    in_flight = rate * plan.limit.low
    alone = _only_call(design, plan)
    return min(
        (
            b
            for limit in retry_limits(design, plan)
            if (b := _within(design, limit, in_flight, alone=alone, copies=copies))
        ),
        default=None,
    )


def _only_call(design: Design, plan: RetryPolicy) -> bool:
    """Decides whether a call is the only one of its caller."""
    return sum(call.caller is not None and call.caller.text == plan.caller for call in design.calls) == 1


def paced_sends(design: Design, plan: RetryPolicy, rate: Fraction, copies: int) -> Fraction | None:
    """Returns most sends per first try, over a long time, that the limits of retries in a window let through."""
    each = (_in_window(design, plan, limit, rate, copies) for limit in retry_windows(design, plan))
    return min((sends for sends in each if sends is not None), default=None)


def _in_window(design: Design, plan: RetryPolicy, limit: Limit, rate: Fraction, copies: int) -> Fraction | None:
    """Returns sends per first try within one limit in a window, a number or a share of what its caller sends; None:
    no bound.
    """
    window = limit.window
    if rate <= 0 or not isinstance(window, Quantity) or window.low <= 0:
        return None
    most = most_allowed(design, limit)
    if most is not None:
        return 1 + most.high / window.low / rate
    share, floor = share_in_window(limit) if _only_call(design, plan) else None, least_allowed(design, limit)
    factor = budget_factor(share[0] * copies, of_first=share[1]) if share is not None else None
    return None if factor is None or floor is None else max(factor, 1 + floor / window.low / rate)


def _within(design: Design, limit: Limit, in_flight: Fraction, *, alone: bool, copies: int) -> Fraction | None:
    """Returns tries per first try within one limit, with so many first tries in flight.

    `alone`: the call is its caller's only one; else a share counts other calls as well, which may be many.  `copies` of
    each try are in flight, of which a share of all in flight is one.
    """
    most = most_allowed(design, limit)
    if most is not None:
        return 1 + most.high / in_flight if in_flight else None
    share = share_of(limit) if alone else None
    factor = budget_factor(share[0] * copies, of_first=share[1]) if share is not None else None
    floor = least_allowed(design, limit)
    if factor is None or floor is None or (floor and not in_flight):
        return None
    return max(factor, 1 + floor / in_flight) if floor else factor


def retry_limits(design: Design, plan: RetryPolicy) -> Iterator[Limit]:
    """Yields limits that end retries of a call when they are full: its budget, and those that count its caller's
    retries.

    They count retries in flight, of all callers together: of a limit `per` something there may be many.
    """
    for limit in design.limits.values():
        ends = limit.when_full is not None and limit.when_full.text != "wait" and caps_at_all_times(limit)
        named = plan.call.budget is not None and plan.call.budget.text == limit.name
        counted = counted_in_flight(limit)
        if ends and counted.endswith(".retries") and (named or counted == f"{plan.caller}.retries"):
            yield limit


def retry_windows(design: Design, plan: RetryPolicy) -> Iterator[Limit]:
    """Yields limits that end retries of a call when so many have come within a window."""
    for limit in design.limits.values():
        if ends_retries(limit, plan.call) and always_holds(limit):
            yield limit


def unread_window(design: Design, load: AmplifiedLoad) -> str:
    """Returns the name of a limit of retries in a window that bounds nothing known; nothing where there is none."""
    limits = ((plan, limit) for way in load.ways for plan in way for limit in retry_windows(design, plan))
    rate = load.rate.high
    return next((limit.name for plan, limit in limits if _in_window(design, plan, limit, rate, 1) is None), "")


def _budgets(design: Design, plan: RetryPolicy) -> Iterator[Limit]:
    yield from retry_limits(design, plan)
    yield from retry_windows(design, plan)


def in_flight_limit(design: Design, load: AmplifiedLoad) -> Limit | None:
    """Returns the smallest breaker: a limit that rejects, of all tries in flight from the workload or to the callee."""
    counted = (load.workload.name, load.callee, f"{load.workload.name}.requests", f"{load.callee}.requests")
    limits = [(most.high, limit.name) for limit, most in in_flight_limits(design, counted) if limit.rejects]
    return design.limits[min(limits)[1]] if limits else None


def share_of(limit: Limit) -> tuple[Fraction, bool] | None:
    """(share, of first tries?) of `20 % of x in flight`: of x itself all tries count, of `x.first` the first ones.

    None also where x is another thing than the one whose retries are counted: its number is not known.
    """
    match limit.at_most:
        case Formula(
            tree=Arithmetic(op="*", left=Number(value=share), right=Function("in flight", (Name(path=path),)))
        ):
            same = path.partition(".")[0] == counted_in_flight(limit).partition(".")[0]
            return (share, path.partition(".")[2].startswith(("first", "accepted"))) if same else None
    return None

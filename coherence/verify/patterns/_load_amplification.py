"""The load that retries make, against the capacity of the last callee: can an overload keep itself up?

All tries time out in an overload, so each first request becomes A sends.  Below the capacity even then,
no overload lasts.  At or above it, and with abandoned work still served, a disturbance that makes the
tries slower than their limit is never left again (SOURCE: the fixed point load * A >= capacity, A from
the retries that time out; a retry budget bounds A).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.design import Design, Limit, Spread2, Workload
from coherence.expressions.tree import Arithmetic, Name, Number
from coherence.expressions.tree import Call as Function
from coherence.finding import Finding, Step
from coherence.places import Place
from coherence.shape import Formula, Quantity
from coherence.subject import Question, Subject, arithmetic
from coherence.units import decimal, seconds
from coherence.values import value
from coherence.verify.attempts import ZERO, budget_factor
from coherence.verify.call_claims import Numbers, bounded_sum
from coherence.verify.call_tree import CallTree
from coherence.verify.known import copies, known
from coherence.verify.paths import Way, amplification, ways
from coherence.verify.patterns._nested_retries import layer_places
from coherence.verify.plans import Plan, tries_again

_RATES = ("capacity", "throughput")
_RATES_EACH = ("rate_per_replica", "rate_per_copy")
_FLUID = "by the fluid reading: mean rates, every try of an overload times out"


@value
class Capacity:
    """Requests per second that a thing can serve."""

    low: Fraction
    high: Fraction
    place: Place


@value
class Load:
    """First tries of a workload, all ways that they go to one callee, and the sends that each becomes at worst."""

    workload: Workload
    rate: Quantity
    callee: str
    capacity: Capacity
    ways: tuple[Way, ...]
    retrying: tuple[Plan, ...]
    sends: Fraction | None
    budgets: tuple[str, ...]

    @property
    def of(self) -> tuple[str, ...]:
        calls = dict.fromkeys(plan.name for way in self.ways for plan in way)
        return (self.workload.name, self.callee, *calls, *self.budgets)

    @property
    def places(self) -> list[Place]:
        rate = self.rate.place.labelled("first tries arrive at this rate")
        capacity = self.capacity.place.labelled("this is what can be served")
        return [*layer_places(list(self.retrying)), rate, capacity]

    @property
    def numbers(self) -> Numbers:
        numbers: Numbers = {"first tries": (self.rate.high, "req/s"), "capacity": (self.capacity.low, "req/s")}
        if self.sends is not None:
            overload = (self.sends * self.rate.high, "req/s")
            numbers |= {"sends per first try": (self.sends, ""), "load when all time out": overload}
        return numbers


def under_load(question: Question, subject: Subject, tree: CallTree) -> Iterator[Finding]:
    """Every workload with a rate against every callee with a capacity."""
    for workload in subject.design.workload.values():
        if workload.rate is not None and workload.name in tree.of_caller:
            for callee in tree.work:
                load = _load(subject, tree, workload, callee)
                if load is not None:
                    yield _answer(question, load)


def _load(subject: Subject, tree: CallTree, workload: Workload, callee: str) -> Load | None:
    """None where no timeouts are tried again, or the first tries alone are too many: another question's matter."""
    design, rate = subject.design, workload.rate
    capacity = capacity_of(subject, callee, workload, leaf=callee not in tree.of_caller)
    if capacity is None or rate is None or rate.low >= capacity.high:
        return None
    found = ways(tree, workload.name, callee)
    calls = list(dict.fromkeys(plan for way in found.ways for plan in way))
    retrying = tuple(plan for plan in calls if plan.retries and tries_again(plan.call, "timeout"))
    if found.cyclic or found.cut or not retrying:
        return None
    sends = [_sends(design, way, rate.low) for way in found.ways]
    total = None if None in sends else sum((s for s in sends if s is not None), ZERO)
    budgets = tuple(p.call.budget.text for p in calls if p.call.budget and p.call.budget.text in design.limits)
    return Load(workload, rate, callee, capacity, found.ways, retrying, total, budgets)


def capacity_of(subject: Subject, name: str, workload: Workload, *, leaf: bool) -> Capacity | None:
    """A stated rate, a rate per copy, or copies over the mean service time of the workload."""
    component = subject.design.components.get(name)
    if component is None:
        return None
    members = copies(known(subject), name)
    few, many = (members.low, members.high) if members else (None, None)
    for key in (*_RATES, *_RATES_EACH):
        rate = component.constants.get(key)
        if isinstance(rate, Quantity) and rate.dimension.physical.powers == (("s", -1),):
            if key in _RATES:
                return Capacity(rate.low, rate.high, rate.place)
            return Capacity(rate.low * few, rate.high * many, rate.place) if few is not None and many else None
    mean = workload.service.mean if isinstance(workload.service, Spread2) else workload.service
    if leaf and few is not None and many is not None and isinstance(mean, Quantity) and mean.low > 0:
        return Capacity(few / mean.high, many / mean.low, mean.place)
    return None


def _answer(question: Question, load: Load) -> Finding:
    overload = None if load.sends is None else load.sends * load.rate.high
    if overload is None or overload >= load.capacity.low:
        return _overload(question, load)
    served = f"{load.callee}, which can serve {decimal(load.capacity.low)}"
    message = f"even when every try times out, {load.workload.name} sends {decimal(overload)} req/s to {served}"
    evidence = arithmetic(load.numbers, certificate=bounded_sum({"load": overload}, load.capacity.low))
    return question.proved(message, load.places, load.of, evidence, assumptions=[_FLUID])


def _overload(question: Question, load: Load) -> Finding:
    """The load of an overload reaches the capacity: does it stay, and does a stated disturbance lead there?"""
    said = [(plan, plan.call.on_timeout.text if plan.call.on_timeout else "") for plan in load.retrying]
    unsaid = next((plan.name for plan, word in said if not word), None)
    slow = min((plan.limit.low for plan in load.retrying if plan.limit is not None), default=ZERO)
    wait = _delay(load)
    if unsaid is not None:
        needs = f"needs on_timeout of {unsaid}: with abandon an overload of {load.callee} may keep itself up"
    elif all(word == "cancel" for _, word in said):
        needs = f"needs a simulation: cancelled tries free {load.callee}, which this arithmetic does not count"
    elif wait is None or wait < slow:
        burst = f"a disturbance (burst of {load.workload.name}) that delays {load.callee} by {seconds(slow)}"
        needs = f"needs {burst}: {_keeps(load)}"
    else:
        return _stays(question, load, wait, slow)
    return question.undecided(needs, load.places, load.of)


def _keeps(load: Load) -> str:
    times = "any number of" if load.sends is None else decimal(load.sends)
    overload = f"an overload of {load.callee} ({decimal(load.capacity.high)} req/s) keeps itself up"
    return f"each first try becomes {times} sends, so {overload}"


def _stays(question: Question, load: Load, wait: Fraction, slow: Fraction) -> Finding:
    burst, full = load.workload.burst, decimal(load.capacity.high)
    rate = burst.rate if burst else None
    begins, over = (rate.text, burst.lasts.high) if burst and burst.lasts and rate else ("", ZERO)
    witness = (
        Step(ZERO, f"a burst of {begins} begins"),
        Step(over, f"it ends; the queue of {load.callee} delays by {seconds(wait)}, tries end after {seconds(slow)}"),
        Step(None, f"every try times out and is sent again: the load stays at or above {full} req/s"),
    )
    places = [*load.places, *([rate.place.labelled("this disturbance reaches it")] if rate else [])]
    evidence = arithmetic({**load.numbers, "delay after the burst": (wait, "s")}, witness=witness)
    message = f"after the burst {_keeps(load)}"
    return question.conflict(message, places, load.of, evidence, certain=False, assumptions=[_FLUID])


def _delay(load: Load) -> Fraction | None:
    """Seconds that the queue delays at the end of the burst; None without one."""
    burst, served = load.workload.burst, load.capacity.low
    if burst is None or burst.rate is None or burst.lasts is None or served <= 0:
        return None
    return max(ZERO, (burst.rate.high - served) * burst.lasts.high / served)


def _sends(design: Design, way: Way, rate: Fraction) -> Fraction | None:
    """Sends per first try when every try times out: the product of the layers, each within its retry budget."""
    if not any(plan.call.budget for plan in way):
        sends = amplification(way, "timeout", abandons=True).sends
        return None if sends is None else Fraction(sends)
    total: Fraction | None = Fraction(1)
    for plan in way:
        again = plan.tries if tries_again(plan.call, "timeout") else 1
        bounds = [b for b in (None if again is None else Fraction(again), _budget(design, plan, rate)) if b is not None]
        total = None if total is None or not bounds else total * min(bounds)
    return total


def _budget(design: Design, plan: Plan, rate: Fraction) -> Fraction | None:
    """Most sends per first try that the call's retry budget lets through at this rate; None: no bound.

    The floor of the budget counts retries in flight: at a small load it admits more than the share does.
    """
    limit = design.limits.get(plan.call.budget.text) if plan.call.budget else None
    share = share_of(limit) if limit is not None and limit.when_full is not None else None
    if limit is None or share is None or plan.limit is None:
        return None
    factor = budget_factor(share[0], of_first=share[1])
    floor = limit.but_at_least.high if isinstance(limit.but_at_least, Quantity) else ZERO
    in_flight = rate * plan.limit.low
    if factor is None or (floor and not in_flight):
        return None
    return max(factor, 1 + floor / in_flight) if floor else factor


def share_of(limit: Limit) -> tuple[Fraction, bool] | None:
    """(share, of first tries?) of `20 % of x in flight`: of x itself all tries count, of `x.first` the first ones."""
    match limit.at_most:
        case Formula(
            tree=Arithmetic(op="*", left=Number(value=share), right=Function("in flight", (Name(path=path),)))
        ):
            return share, path.partition(".")[2].startswith(("first", "accepted"))
    return None

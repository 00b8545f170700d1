"""The load that retries make, against the capacity of the last callee: can an overload keep itself up?

All tries time out in an overload, so each first request becomes A sends.  Below the capacity even then,
no overload lasts.  At or above it, and with abandoned work still served, a disturbance that makes the
tries slower than their limit is never left again (SOURCE: the fixed point load * A >= capacity, A from
the retries that time out; a retry budget bounds A).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.design import Design, Limit, Spread2, Workload
from coherence.expressions.tree import Arithmetic, Name, Number
from coherence.expressions.tree import Call as Function
from coherence.finding import Finding, Step
from coherence.places import Place
from coherence.shape import Formula, Quantity
from coherence.subject import Question, Subject, arithmetic
from coherence.units import decimal, seconds
from coherence.verify.attempts import ZERO, budget_factor
from coherence.verify.call_claims import bounded_sum
from coherence.verify.call_tree import CallTree
from coherence.verify.paths import amplification, ways
from coherence.verify.patterns._nested_retries import layer_places
from coherence.verify.plans import Plan, tries_again

_RATES = ("capacity", "throughput")
_RATES_EACH = ("rate_per_replica", "rate_per_copy")
_MODELS = "by the fluid reading: mean rates, every try of an overload times out"


@dataclass(frozen=True, slots=True)
class Capacity:
    """Requests per second that a thing can serve."""

    low: Fraction
    high: Fraction
    place: Place


def under_load(question: Question, subject: Subject, tree: CallTree) -> Iterator[Finding]:
    """Every workload with a rate against every last callee with a capacity."""
    design = subject.design
    for name, workload in design.workload.items():
        if workload.rate is None or name not in tree.of_caller:
            continue
        for callee in tree.work:
            capacity = capacity_of(design, callee, workload, leaf=callee not in tree.of_caller)
            if capacity is not None:
                yield from _answer(question, design, tree, workload, callee, capacity)


def capacity_of(design: Design, name: str, workload: Workload, *, leaf: bool) -> Capacity | None:
    """A stated rate, a rate per copy, or copies over the mean service time of the workload."""
    component = design.components.get(name)
    if component is None:
        return None
    copies = component.copies if isinstance(component.copies, Quantity) else None
    for key, each in (*((k, False) for k in _RATES), *((k, True) for k in _RATES_EACH)):
        rate = component.constants.get(key)
        if isinstance(rate, Quantity) and rate.dimension.physical.powers == (("s", -1),) and (copies or not each):
            low, high = (copies.low, copies.high) if each and copies else (Fraction(1), Fraction(1))
            return Capacity(rate.low * low, rate.high * high, rate.place)
    mean = workload.service.mean if isinstance(workload.service, Spread2) else workload.service
    if leaf and copies and isinstance(mean, Quantity) and mean.low > 0:
        return Capacity(copies.low / mean.high, copies.high / mean.low, copies.place)
    return None


def _answer(
    question: Question, design: Design, tree: CallTree, workload: Workload, callee: str, capacity: Capacity
) -> Iterator[Finding]:
    found = ways(tree, workload.name, callee)
    rate = workload.rate
    retrying = [plan for way in found.ways for plan in way if plan.retries and tries_again(plan.call, "timeout")]
    if found.cyclic or found.cut or not retrying or rate is None or rate.low >= capacity.high:
        return  # no retries of timeouts, or the demand alone is too much: another question's matter
    sends = [_sends(design, way, rate.low) for way in found.ways]
    total = None if None in sends else sum((s for s in sends if s is not None), ZERO)
    of = (
        workload.name,
        callee,
        *dict.fromkeys(plan.name for way in found.ways for plan in way),
        *_budgets(design, found.ways),
    )
    places = [
        *layer_places(retrying),
        rate.place.labelled("first tries arrive at this rate"),
        capacity.place.labelled("and can be served at this one"),
    ]
    numbers: dict[str, tuple[Fraction, str]] = {
        "first tries": (rate.high, "req/s"),
        "capacity": (capacity.low, "req/s"),
    }
    if total is not None:
        numbers |= {"sends per first try": (total, ""), "load when all time out": (total * rate.high, "req/s")}
    if total is not None and total * rate.high < capacity.low:
        message = f"even when every try times out, {workload.name} sends {decimal(total * rate.high)} req/s to {callee}, which can serve {decimal(capacity.low)}"
        certificate = bounded_sum({"load": total * rate.high}, capacity.low)
        yield question.proved(message, places, of, arithmetic(numbers, certificate=certificate), assumptions=[_MODELS])
        return
    yield _overload(question, workload, callee, capacity, retrying, (places, of, numbers, total))


def _overload(
    question: Question, workload: Workload, callee: str, capacity: Capacity, retrying: list[Plan],
    said: tuple[list[Place], tuple[str, ...], dict[str, tuple[Fraction, str]], Fraction | None],
) -> Finding:  # fmt: skip
    places, of, numbers, total = said
    unknown = next((plan for plan in retrying if plan.call.on_timeout is None), None)
    if unknown is not None:
        return question.undecided(
            f"needs on_timeout of {unknown.name}: with abandon an overload of {callee} may keep itself up", places, of
        )
    if all(plan.call.on_timeout is not None and plan.call.on_timeout.text == "cancel" for plan in retrying):
        return question.undecided(
            f"needs a simulation: cancelled tries free {callee}, which this arithmetic does not count", places, of
        )
    slow = min(plan.limit.low for plan in retrying if plan.limit is not None)
    times = "any number of" if total is None else decimal(total)
    keeps = f"each first try becomes {times} sends, so an overload of {callee} ({decimal(capacity.high)} req/s) keeps itself up"
    wait = _disturbed(workload, capacity)
    if wait is None or wait < slow:
        return question.undecided(
            f"needs a disturbance (burst of {workload.name}) that delays {callee} by {seconds(slow)}: {keeps}",
            places,
            of,
        )
    burst = workload.burst
    assert burst is not None and burst.rate is not None and burst.lasts is not None
    witness = (
        Step(ZERO, f"a burst of {burst.rate} begins"),
        Step(
            burst.lasts.high,
            f"it ends; the queue of {callee} delays by {seconds(wait)}, tries end after {seconds(slow)}",
        ),
        Step(None, f"every try times out and is sent again: the load stays at or above {decimal(capacity.high)} req/s"),
    )
    places = [*places, burst.rate.place.labelled("this disturbance reaches it")]
    evidence = arithmetic({**numbers, "delay after the burst": (wait, "s")}, witness=witness)
    return question.conflict(f"after the burst {keeps}", places, of, evidence, certain=False, assumptions=[_MODELS])


def _disturbed(workload: Workload, capacity: Capacity) -> Fraction | None:
    """Seconds that the queue delays at the end of the burst; None without one."""
    burst = workload.burst
    if burst is None or burst.rate is None or burst.lasts is None:
        return None
    return max(ZERO, (burst.rate.high - capacity.low) * burst.lasts.high / capacity.low)


def _sends(design: Design, way: tuple[Plan, ...], rate: Fraction) -> Fraction | None:
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
    if share is None or plan.limit is None:
        return None
    factor = budget_factor(share[0], of_first=share[1])
    floor = limit.but_at_least.high if limit and isinstance(limit.but_at_least, Quantity) else ZERO
    in_flight = rate * plan.limit.low
    if factor is None or (floor and not in_flight):
        return None
    return max(factor, 1 + floor / in_flight) if floor else factor


def share_of(limit: Limit) -> tuple[Fraction, bool] | None:
    """(share, of first tries?) of `20 % of x in flight`: of x itself all tries count, of `x.first` the first ones."""
    match limit.at_most:
        case Formula(
            tree=Arithmetic(
                op="*", left=Number(value=share), right=Function(function="in flight", arguments=(Name(path=path),))
            )
        ):
            return share, path.partition(".")[2].startswith(("first", "accepted"))
    return None


def _budgets(design: Design, found: tuple[tuple[Plan, ...], ...]) -> Iterator[str]:
    yield from (
        plan.call.budget.text
        for way in found
        for plan in way
        if plan.call.budget and plan.call.budget.text in design.limits
    )

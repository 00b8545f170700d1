"""Finds the load offered to a thing and the service rate of one member, in requests per second.

Only what the design states: calls of workloads, `arrivals` or `load` of a component (also of the queue that it
serves), a rate per member, or a mean service time.  First tries only, with the second copies that may be sent of them:
what retries add is another question's matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.language.call_cases import moved_by, weights
from coherence.language.design import Call, Component, Design
from coherence.language.entries.member_slots import member_slots
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Name, Tree
from coherence.language.implied import EACH
from coherence.language.roles import SendCount, SendWorth, others_of_an_answer, own_workload, time_of
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.language.words import STATES
from coherence.language.workloads import Burst, Randomness, Workload
from coherence.model.model import Interval, interval
from coherence.verify.calls.call_graph import CallTree, call_tree
from coherence.verify.calls.paths import Way, heaviest, lightest, mean_count, open_share, ways
from coherence.verify.calls.retry_policies import always_twice, copies_of_try
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.ranges import encloses, enclosure, is_sum_of

ARRIVING = ("arrivals", "load")
PLAIN = ("replica_pool", "retrying_clients")  # parts whose members serve one request at a time


@dataclass(frozen=True)
class OfferedRate:
    """Requests per second: `low` .. `high` over a long time, and `peak` while a stated burst lasts.

    `uneven`: bursts that come again, or rates that switch, ask for more on average than the rate that is stated.
    `open`: what would say how much of it comes at all; the high ends are as if all of it did, the low ends hold.
    `unstated`: who else sends there, of whom nothing says how often; all numbers are without them.
    """

    low: Fraction
    high: Fraction
    peak: Fraction
    places: tuple[Place, ...]
    names: tuple[str, ...] = ()
    uneven: bool = False
    open: str = ""
    unstated: tuple[str, ...] = ()

    @property
    def lacking(self) -> str:
        """Returns what to ask for before anything is proved of the load; nothing where all of it is stated."""
        return f"the rate of {' and '.join(self.unstated)} (`workload:`), not counted here" if self.unstated else ""


def offered(facts: DesignFacts, thing: str) -> OfferedRate | None:
    """Returns the first tries that reach a thing; None where the design does not say."""
    return facts.queries.get((offered, thing), lambda: _offered(facts, thing))


def _offered(facts: DesignFacts, thing: str) -> OfferedRate | None:
    reaching = [*called(facts.design, thing)]
    counted = {name for rate in reaching for name in rate.names}
    rates = [*reaching, *_arriving(facts, thing, beside=counted)]
    return _together(rates, unstated_sources(facts.design, thing) if reaching else ()) if rates else None


def sent(design: Design, count: SendCount) -> OfferedRate | None:
    """Returns the first tries that calls bring to a callee, of all workloads or of one; None where none is stated.

    Where their tokens are counted, so many tokens per second, in the mean; without those that state none.
    """
    callee, only = count.callee, count.caller
    rates = [_counted(design, count, rate) for rate in called(design, callee) if only is None or only in rate.names]
    unstated = tuple(name for name in unstated_sources(design, callee) if only is None or name == only)
    return _together(rates, unstated) if rates else None


def _counted(design: Design, count: SendCount, rate: OfferedRate) -> OfferedRate:
    """Returns the rate of one workload in what a limit counts of its sends."""
    worth = count.worth(design.workload[rate.names[0]]) or SendWorth()
    return replace(rate, low=rate.low * worth.low, high=rate.high * worth.high, peak=rate.peak * worth.high)


def sent_by(design: Design, call: Call) -> OfferedRate | None:
    """Returns the first tries of one call, of all workloads; None where the design does not say how often they come."""
    tree, rates = call_tree(design), list[OfferedRate]()
    if call.caller is None or call.callee is None:
        return None
    for workload in (w for w in design.workload.values() if w.name in tree.of_caller):
        paths = ways(tree, workload.name, call.callee.text)
        own = tuple(way for way in paths.ways if way[-1].call is call)
        rate = None if paths.cyclic or paths.cut or not own else _along(tree, workload, own, design)
        rates += [rate] if rate is not None else []
    return _together(rates, unstated_sources(design, call.caller.text)) if rates else None


def unstated_sources(design: Design, thing: str) -> tuple[str, ...]:
    """Returns who sends to a thing, through others or not, while the design does not say how often."""
    tree, own = call_tree(design), own_workload(design, thing)
    own_name = (thing,) if own is not None and stated_rate(own) is None else ()
    senders = (name for name in tree.of_caller if name != thing or (name in design.workload and not own_name))
    return (*own_name, *(name for name in senders if _is_unstated(design, tree, name, thing)))


def _is_unstated(design: Design, tree: CallTree, name: str, thing: str) -> bool:
    workload = design.workload.get(name)
    if workload is None and tree.callers.get(name):
        return False  # it sends as often as it is called
    routes = ways(tree, name, thing)
    stated = workload is not None and stated_rate(workload) is not None
    return routes.cyclic or routes.cut or (bool(routes.ways) and not stated)


def _together(rates: list[OfferedRate], unstated: tuple[str, ...]) -> OfferedRate:
    return OfferedRate(
        sum((r.low for r in rates), Fraction(0)),
        sum((r.high for r in rates), Fraction(0)),
        sum((r.peak for r in rates), Fraction(0)),
        tuple(place for rate in rates for place in rate.places),
        tuple(dict.fromkeys(name for rate in rates for name in rate.names)),
        uneven=any(rate.uneven for rate in rates),
        open=next((rate.open for rate in rates if rate.open), ""),
        unstated=unstated,
    )


def stated_rate(workload: Workload) -> OfferedRate | None:
    """Returns how many requests a workload brings; None where it does not say."""
    rate = workload.rate
    if rate is None or not _per_second(rate):
        return None
    place, high = rate.place.labelled("so many requests come"), long_run_rate(workload)
    low, peak = least_rate(workload), peak_rate(workload)
    return OfferedRate(low, high, peak, (place,), (workload.name,), uneven=high > rate.high)


def long_run_rate(workload: Workload) -> Fraction:
    """Returns the most first tries per second over a long time: worse ends of ranges, recurring bursts included."""
    rate, stated, burst = workload.rate, workload.arrivals, workload.burst
    least = rate.high if rate is not None else Fraction(0)
    if isinstance(stated, Randomness) and stated.switches:
        parts = [(s.rate.high, s.lasts) for s in stated.switches if s.rate is not None and s.lasts is not None]
        stays = sum((lasts.low for _, lasts in parts), Fraction(0))
        if stays and all(lasts.exact for _, lasts in parts):
            return sum((high * lasts.low for high, lasts in parts), Fraction(0)) / stays
        return max((high for high, _ in parts), default=least)
    if burst is None or burst.rate is None:
        return least
    return least + (burst.rate.high - least) * _share(burst, longest=burst.rate.high > least)


def _share(burst: Burst, *, longest: bool) -> Fraction:
    """Returns the share of the time that a burst that comes again lasts, at most or at least; 0 of any other."""
    if burst.lasts is None or burst.every is None:
        return Fraction(0)
    lasts, every = (burst.lasts.high, burst.every.low) if longest else (burst.lasts.low, burst.every.high)
    return min(Fraction(1), lasts / every) if every else Fraction(1)


def peak_rate(workload: Workload) -> Fraction:
    """Returns the most first tries per second at any time, bursts and switches included."""
    rates = [workload.rate, workload.burst.rate if workload.burst is not None else None, *_switched(workload)]
    return max((rate.high for rate in rates if rate is not None), default=Fraction(0))


def least_rate(workload: Workload) -> Fraction:
    """Returns the fewest first tries per second over a long time: what a burst adds is not counted, a lull is."""
    least = min((rate.low for rate in (*_switched(workload), workload.rate) if rate is not None), default=Fraction(0))
    burst = workload.burst
    if burst is None or burst.rate is None or burst.rate.low >= least:
        return least
    return least + (burst.rate.low - least) * _share(burst, longest=True)


def _switched(workload: Workload) -> tuple[Quantity, ...]:
    stated = workload.arrivals
    switches = stated.switches if isinstance(stated, Randomness) else ()
    return tuple(switch.rate for switch in switches if switch.rate is not None)


def _per_second(quantity: Quantity) -> bool:
    return quantity.dimension.physical.powers == (("s", -1),)


def called(design: Design, thing: str) -> Iterator[OfferedRate]:
    """Yields each workload once for every way by calls to the thing, and those of the name of it or of its queues."""
    queues = (component.name for component in design.components.values() if _serves(component, thing))
    own = (own_workload(design, name) for name in (thing, *queues))
    yield from (rate for each in own if each is not None and (rate := stated_rate(each)) is not None)
    if not design.calls:
        return
    tree = call_tree(design)
    for workload in design.workload.values():
        if workload.name in tree.of_caller and thing in tree.work:
            paths = ways(tree, workload.name, thing)
            rate = None if paths.cyclic or paths.cut else _along(tree, workload, paths.ways, design)
            yield from [rate] if rate is not None else []


def _along(tree: CallTree, workload: Workload, routes: tuple[Way, ...], design: Design) -> OfferedRate | None:
    """Returns the rate of a workload times the ways that one request takes; some requests may take fewer.

    Where the callers state how many of their requests are of each case, it is the mean of all requests.
    """
    each: dict[Way, Fraction | int | None] = dict.fromkeys(routes, 1)
    least, most = len(lightest(tree, each)), len(heaviest(tree, each))
    rate = stated_rate(workload) if most else None
    if rate is None:
        return None
    mean = mean_count(routes, weights(design))
    low, high, share = Fraction(least), Fraction(most), open_share(tree, each)
    if mean is not None and mean.low is not None and mean.high is not None:
        low, high, share = max(mean.low, low), min(mean.high, high), ""
    if mean is not None and low < high:
        share = next(
            (moved_by(design, plan.caller) for way in routes for plan in way if moved_by(design, plan.caller)), ""
        )
    first = replace(rate, low=low * rate.low, high=high * rate.high, peak=high * rate.peak, open=share)
    return _with_copies(first, design, tree, routes)


def _with_copies(rate: OfferedRate, design: Design, tree: CallTree, routes: tuple[Way, ...]) -> OfferedRate:
    """Returns a rate with the second copies of first tries: at least those that are sent for certain, at most all."""
    times = max(prod(copies_of_try(plan.call) for plan in way) for way in routes)
    hedged = next((plan.name for way in routes for plan in way if copies_of_try(plan.call) > 1), "")
    limited = any(word in str(limit.counts) for limit in design.limits.values() for word in STATES["sent again"])
    soonest = {plan: tree.work[plan.callee].answer.least for way in routes for plan in way if not limited}
    sure = min(prod(2 for plan in way if plan in soonest and always_twice(plan.call, soonest[plan])) for way in routes)
    share = rate.open or ("" if sure == times else f"how many tries of {hedged} outlast its `hedge_after`")
    return replace(rate, low=sure * rate.low, high=times * rate.high, peak=times * rate.peak, open=share)


def _arriving(facts: DesignFacts, thing: str, *, beside: set[str]) -> Iterator[OfferedRate]:
    """Yields what arrives at the thing, or at the queues that it serves; beside workloads that are counted already, of
    others alone.
    """
    for component in facts.design.components.values():
        if component.name == thing or _serves(component, thing):
            stated = next((component.constants[key] for key in ARRIVING if key in component.constants), None)
            rate = _stated(facts, stated)
            paths = used(facts.tree(stated.tree)) if beside and isinstance(stated, Formula) else ()
            names = {path.partition(".")[0] for path in paths} & facts.design.workload.keys()
            yield from [rate] if rate is not None and (not beside or (names and beside.isdisjoint(names))) else []


def _serves(component: Component, thing: str) -> bool:
    served = component.constants.get("served_by")
    if isinstance(served, Formula):
        return isinstance(served.tree, Name) and served.tree.path == thing
    return served is not None and str(served) == thing


def _stated(facts: DesignFacts, stated: object) -> OfferedRate | None:
    if isinstance(stated, Quantity):
        place = stated.place.labelled("so many requests come")
        return OfferedRate(stated.low, stated.high, stated.high, (place,)) if _per_second(stated) else None
    if not isinstance(stated, Formula):
        return None
    if isinstance(stated.tree, Name):
        name, _, signal = stated.tree.path.partition(".")
        if name in facts.design.workload and signal in ("rate", "attempts", "arrivals"):
            return stated_rate(facts.design.workload[name])
    tree = facts.tree(stated.tree)
    if any(path not in facts.quantities or path in facts.written for path in used(tree)):
        return None  # a range of what changes is not attained
    return _computed(facts, tree, stated.place.labelled("so many requests come"))


def _computed(facts: DesignFacts, tree: Tree, place: Place) -> OfferedRate | None:
    """Returns the rate that a formula of constants makes, bursts of its workloads included.

    The mean of a formula is the formula of means only where it is a sum of them; of any other one nothing is known.
    """
    stated = {path: facts.values[path] for path in used(tree)}
    workloads = {f"{w.name}.rate": w for w in facts.design.workload.values() if f"{w.name}.rate" in stated}
    uneven = {path: w for path, w in workloads.items() if w.rate is not None and peak_rate(w) > w.rate.high}
    if uneven and not is_sum_of(tree, frozenset(uneven)):
        return None
    least = {path: Interval(least_rate(w), least_rate(w)) for path, w in uneven.items()}
    often = {path: Interval(least_rate(w), long_run_rate(w)) for path, w in uneven.items()}
    peak = {path: Interval(least_rate(w), peak_rate(w)) for path, w in uneven.items()}
    low = enclosure(tree, {**stated, **least}).low
    high, most = enclosure(tree, {**stated, **often}).high, enclosure(tree, {**stated, **peak}).high
    if low is None or high is None or most is None:
        return None
    more = any(w.rate is not None and long_run_rate(w) > w.rate.high for w in uneven.values())
    return OfferedRate(low, high, most, (place,), uneven=more)


def each_serves(facts: DesignFacts, thing: str) -> tuple[Quantity, bool] | None:
    """Returns what one member serves: a rate (True), or the mean time of a request (False); None where not said.

    The time is that of the workload; where limits say how many requests a member works on at once, its own too.
    """
    rate = next((given for _, given in _stated_rates(facts, thing) if _is_served(given)), None)
    if isinstance(rate, Quantity):
        return rate, True
    load = offered(facts, thing)
    if load is None:
        return None
    from coherence.verify.queues.service_means import mean_service

    reaching = [facts.design.workload[name] for name in load.names]
    means = [mean for workload in reaching if (mean := mean_service(workload)) is not None and mean.low > 0]
    alone = len(means) == len(reaching) == 1 and alone_at(facts, reaching[0], thing)
    own = own_time(facts, thing) if not alone and not any(w.service is not None for w in reaching) else None
    return (means[0], False) if alone else (own, False) if own is not None else None


def own_time(facts: DesignFacts, thing: str) -> Quantity | None:
    """Returns a thing's own time of a request where limits say how many of them a member works on at once."""
    slots, time = member_slots(facts.design, thing), time_of(facts.design.components.get(thing), "answer")
    whole = slots is not None and slots.limits and time and time.low > 0 and _alone(facts, thing)
    return time if whole and not others_of_an_answer(facts.design, thing) else None


def _stated_rates(facts: DesignFacts, thing: str) -> Iterator[tuple[str, Quantity | Formula | Word]]:
    component = facts.design.components.get(thing)
    stated = component.constants.items() if component is not None else ()
    yield from ((key, given) for key, given in stated if key.startswith(EACH))


def _is_served(given: object) -> bool:
    """Decides whether a value is requests per second above 0."""
    return isinstance(given, Quantity) and _per_second(given) and given.low > 0


@cached
def contested(facts: DesignFacts, thing: str) -> tuple[str, Place] | None:
    """Returns what is to be asked before a service of workloads is that of a member, as it states something else."""
    rates = [*_stated_rates(facts, thing)]
    if rates and not any(_is_served(given) for _, given in rates):
        key, value = rates[0]
        return f"{thing}.{key} as requests per second above 0, not `{value}`", value.place
    time, load = time_of(facts.design.components.get(thing), "answer"), offered(facts, thing)
    if time is None or rates or load is None:
        return None
    served = [facts.design.workload[name] for name in load.names if name in facts.design.workload]
    if not all(_serves_all(facts, workload, thing) for workload in served):
        return None  # its time is its own part of a way that ends elsewhere
    from coherence.verify.queues.service_means import mean_service

    means, span = [mean_service(workload) for workload in served], Interval(time.low, time.high)
    other = next((mean for mean in means if mean is not None and not encloses(span, interval(mean))), None)
    if other is None:
        return None
    return f"one time of a request at {thing}: its own is {time}, that of its workload {other}", time.place


def alone_at(facts: DesignFacts, workload: Workload, thing: str) -> bool:
    """Decides whether members of a thing serve all of a workload, so many at a time each as is said, and nobody else
    does.
    """
    return _serves_all(facts, workload, thing) and contested(facts, thing) is None


def _serves_all(facts: DesignFacts, workload: Workload, thing: str) -> bool:
    return _alone(facts, thing) and _only_server(facts, workload, thing)


def _only_server(facts: DesignFacts, workload: Workload, thing: str) -> bool:
    """Decides whether the thing is the one place where the service of the workload can be done.

    Where its calls end at several things, or something on the way has a rate of its own, the design does not say
    whose time the service is.
    """
    if not facts.design.calls:
        return True
    tree = call_tree(facts.design)
    if workload.name not in tree.of_caller or thing not in tree.work:
        return True
    work, below = [workload.name], set[str]()
    while work:
        for plan in tree.of_caller.get(work.pop(), ()):
            if plan.callee not in below:
                below.add(plan.callee)
                work.append(plan.callee)
    return not any(other != thing and (not tree.of_caller.get(other) or _own_rate(facts, other)) for other in below)


def _own_rate(facts: DesignFacts, thing: str) -> bool:
    components = facts.design.components
    served = [thing, *(other for other in components if thing in components and _serves(components[thing], other))]
    return any(key.startswith(EACH) for name in served if name in components for key in components[name].constants)


def _alone(facts: DesignFacts, thing: str) -> bool:
    """Decides whether each member serves a known number of requests at a time, and all of each itself."""
    component = facts.design.components.get(thing)
    batches = component is not None and component.part is not None and component.part.text not in PLAIN
    calls_on = any(call.caller is not None and call.caller.text == thing for call in facts.design.calls)
    return not batches and not calls_on and member_slots(facts.design, thing) is not None

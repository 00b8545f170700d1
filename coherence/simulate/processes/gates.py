"""Converts limits in windows and buckets of tokens into gates of routes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.base.graphs import reached
from coherence.language.design import Component, Design, Limit
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.roles import SendCount, send_count
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Workload
from coherence.simulate.processes.flow import RequestFlow
from coherence.simulate.processes.numbers import lower
from coherence.simulate.requests.events_checks import MOST_PLACES
from coherence.simulate.requests.program import Gate

NOT_ALIKE = "its sends do not all count equally many tokens, or those are not stated"


def gates_of(design: Design, flow: RequestFlow, notes: list[str]) -> tuple[Gate, ...]:
    """Returns a gate for each limit on sends in a window, and for each bucket of tokens that requests pass."""
    limits = (gate for limit in design.limits.values() for gate in _of_limit(design, flow, limit, notes))
    return (*limits, *_buckets(design, flow, notes))


def _of_limit(design: Design, flow: RequestFlow, limit: Limit, notes: list[str]) -> Iterator[Gate]:
    count = send_count(design, limit)
    if count is None or limit.window is None:
        return
    callee, caller = count.callee, count.caller
    routes = tuple(route for route, (by, to) in flow.ends.items() if to == callee and (caller is None or by == caller))
    allowed, each = most_allowed(design, limit), _each_counts(design, flow, count) if routes else Fraction(1)
    allowed = _in_sends(allowed, each) if allowed is not None and each else allowed
    why = _not_run(limit, allowed, routes) if each else NOT_ALIKE
    if why:
        notes.append(f"{limit.name} is not run: {why}")
        return
    if count.part:
        notes.append(f"{limit.name} is kept as if each send counted {each}: a run draws no tokens of requests")
    assert allowed is not None
    assert isinstance(limit.window, Quantity)
    most, window = (lower(value, f"{key} of {limit.name}", notes) for key, value in
                    (("at_most", allowed), ("window", limit.window)))  # fmt: skip
    waits = limit.when_full is None or limit.when_full.text == "wait"
    if limit.refused is None and not waits:
        notes.append(f"what {limit.name} refuses does not count (`refused: count` where it does)")
    counts = limit.refused is not None and limit.refused.text == "count"
    yield Gate(limit.name, routes, most, window=window, waits=waits, counts_refused=counts)


def _each_counts(design: Design, flow: RequestFlow, count: SendCount) -> Fraction | None:
    """Returns what each send counts in the mean, the same for all that send there; None where they differ."""
    senders = [w for w in design.workload.values() if count.caller in (None, w.name) and _reaches(flow, w, count)]
    means = {worth.high if (worth := count.worth(w)) is not None else None for w in senders}
    return means.pop() if len(means) == 1 else None


def _reaches(flow: RequestFlow, workload: Workload, count: SendCount) -> bool:
    """Decides whether requests of a workload come to what is counted."""
    ends = tuple(flow.ends.values())
    return count.callee in reached([workload.name], lambda name: (to for by, to in ends if by == name))


def _in_sends(allowed: Quantity, each: Fraction) -> Quantity:
    return replace(allowed, low=allowed.low / each, high=allowed.high / each, text=f"{allowed} / {each}")


def _not_run(limit: Limit, allowed: Quantity | None, routes: tuple[str, ...]) -> str:
    """Returns why a limit in a window cannot be kept; nothing where it can."""
    if not routes:
        return "no request that is run sends there"
    if allowed is None or not isinstance(limit.window, Quantity) or limit.window.low <= 0:
        return "it needs `at_most` as a number and `window` as a time above 0 s"
    if allowed.low > MOST_PLACES:
        return f"more than {MOST_PLACES:,} in a window are not remembered"
    if limit.per is not None or limit.during is not None:
        return f"there is one of it per {limit.per.text}" if limit.per is not None else "it does not hold at all times"
    if limit.when_full is not None and limit.when_full.text not in ("wait", "reject"):
        return f"what it does when full ({limit.when_full.text}) is neither waiting nor rejecting"
    if allowed.low < 1 and (limit.when_full is None or limit.when_full.text == "wait"):
        return "nothing would ever be sent"
    return ""


def is_bucket(component: Component) -> bool:
    """Decides whether a component uses the part `token_bucket`."""
    return component.part is not None and component.part.text == "token_bucket"


def _buckets(design: Design, flow: RequestFlow, notes: list[str]) -> Iterator[Gate]:
    """Yields a gate on the routes to each bucket of tokens."""
    for component in design.components.values():
        routes = tuple(route for route, (_, to) in flow.ends.items() if to == component.name)
        if not is_bucket(component) or not routes:
            continue
        rate, burst = (component.constants.get(key) for key in ("rate", "burst"))
        if isinstance(rate, Quantity) and isinstance(burst, Quantity):
            most, each = (
                lower(burst, f"burst of {component.name}", notes),
                lower(rate, f"rate of {component.name}", notes),
            )
            yield Gate(component.name, routes, most, rate=each)

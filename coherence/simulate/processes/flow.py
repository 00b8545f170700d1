"""Finds who calls whom: the plan of every workload and of every component that calls on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from coherence.language.call_cases import weights
from coherence.language.design import Call, Component, Design
from coherence.language.expressions import names
from coherence.language.schema_kinds import Formula, Quantity
from coherence.simulate.requests.program import Plan, PlanShare


@dataclass(frozen=True)
class RequestFlow:
    """`plans`: workload -> routes in order; `calls`: route -> its call (None: no call says how);

    `onward`: component -> the routes that it uses itself; `stations`: what is reached, in order; `cases`: the callers
    that say how many of their requests are of each case, with the routes of each.
    """

    plans: Mapping[str, Plan]
    onward: Mapping[str, Plan]
    calls: Mapping[str, Call | None]
    ends: Mapping[str, tuple[str, str]]  # route -> (caller, callee)
    stations: tuple[str, ...]
    cases: Mapping[str, tuple[PlanShare, ...]] = field(default_factory=dict)


def flow_of(design: Design) -> RequestFlow:
    """Returns the routes that requests take through the design."""
    calls, ends = _named(design)
    for workload in design.workload:
        for queue in _fed_by(design, workload):
            if not any(pair == (workload, queue) for pair in ends.values()):
                ends[f"{workload} -> {queue}"], calls[f"{workload} -> {queue}"] = (workload, queue), None
    _tandem(design, calls, ends)
    reached = _reached(design, ends)
    used = {route: pair for route, pair in ends.items() if pair[0] in reached or pair[0] in design.workload}
    plans = {caller: _plan(used, calls, caller) for caller in reached}
    return RequestFlow(
        {name: plan for name, plan in plans.items() if name in design.workload and plan},
        {name: plan for name, plan in plans.items() if name not in design.workload and plan},
        {route: calls[route] for route in used},
        used,
        tuple(name for name in reached if name not in design.workload),
        {caller: _shares(used, calls, caller, own) for caller, own in weights(design).items() if plans.get(caller)},
    )


def _shares(
    ends: Mapping[str, tuple[str, str]], calls: Mapping[str, Call | None], caller: str, own: Mapping[str, Quantity]
) -> tuple[PlanShare, ...]:
    """Returns the plan of each case of a caller, with its weight."""

    def is_made(route: str, case: str) -> bool:
        call = calls[route]
        return call is None or not call.cases or case in {word.text for word in call.cases}

    return tuple(
        PlanShare(
            case, float(weight.low), _plan({r: pair for r, pair in ends.items() if is_made(r, case)}, calls, caller)
        )
        for case, weight in own.items()
    )


def without(flow: RequestFlow, stations: Collection[str]) -> RequestFlow:
    """Returns the flow of the workloads that reach none of the stations: something else runs the others."""
    away = {flow.ends[r][0] for r in flow.ends if flow.ends[r][1] in stations}
    ends = {route: pair for route, pair in flow.ends.items() if pair[0] not in away and pair[1] not in stations}
    return RequestFlow(
        {name: plan for name, plan in flow.plans.items() if name not in away},
        {name: plan for name, plan in flow.onward.items() if name not in away},
        {route: flow.calls[route] for route in ends},
        ends,
        tuple(name for name in flow.stations if any(name == callee for _, callee in ends.values())),
        {name: cases for name, cases in flow.cases.items() if name not in away},
    )


def _named(design: Design) -> tuple[dict[str, Call | None], dict[str, tuple[str, str]]]:
    calls: dict[str, Call | None] = {}
    ends: dict[str, tuple[str, str]] = {}
    for call in design.calls:
        if call.caller is None or call.callee is None:
            continue
        name, count = call.name, 2
        while name in calls:
            name, count = f"{call.name} ({count})", count + 1
        calls[name], ends[name] = call, (call.caller.text, call.callee.text)
    return calls, ends


def arrivals_of(component: Component) -> tuple[str, ...]:
    """Returns the signals that a component's `arrivals` name."""
    stated = component.constants.get("arrivals")
    return names(stated.tree) if isinstance(stated, Formula) else ()


def _fed_by(design: Design, workload: str) -> Iterator[str]:
    fed = {workload, f"{workload}.attempts", f"{workload}.rate"}
    return (c.name for c in design.components.values() if fed & set(arrivals_of(c)))


def _tandem(design: Design, calls: dict[str, Call | None], ends: dict[str, tuple[str, str]]) -> None:
    """A queue whose arrivals are what another one served comes after it, in the plan of who came there."""
    behind = {c.name: [p[: -len(".served")] for p in arrivals_of(c) if p.endswith(".served")]
              for c in design.components.values()}  # fmt: skip
    for _ in behind:  # at most so many queues in a row
        for name, befores in behind.items():
            for caller in [c for c, callee in list(ends.values()) if callee in befores and c in design.workload]:
                route = f"{caller} -> {name}"
                if route not in calls:
                    calls[route], ends[route] = None, (caller, name)


def _reached(design: Design, ends: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
    """Returns the workloads with a rate, and everything that they reach."""
    names = dict.fromkeys(w.name for w in design.workload.values() if w.rate is not None)
    frontier = list(names)
    while frontier:
        here = frontier.pop(0)
        for caller, callee in ends.values():
            if caller == here and callee not in names:
                names[callee] = None
                frontier.append(callee)
    return tuple(names)


def _plan(ends: Mapping[str, tuple[str, str]], calls: Mapping[str, Call | None], caller: str) -> Plan:
    """Returns the routes of a caller: those of one stage at once, the others one after another.

    A fallback is in no stage: the route that it stands for leads to it.
    """
    stages: dict[tuple[str, str], list[str]] = {}
    for route, (who, _) in ends.items():
        call = calls[route]
        if who == caller and (call is None or call.fallback_for is None):
            key = ("stage", call.stage.text) if call is not None and call.stage is not None else ("route", route)
            stages.setdefault(key, []).append(route)
    return tuple(tuple(stage) for stage in stages.values())

"""Converts calls into routes: tries, time-outs, pauses, budgets and breakers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from coherence.base.errors import Problem
from coherence.language.call_cases import render_order
from coherence.language.design import Call, Design, Limit, Pause
from coherence.language.entries.jitter import is_decorrelated, spread_of
from coherence.language.entries.limit_numbers import ends_retries, most_allowed
from coherence.language.expressions.tree import Arithmetic, Name, Number, Tree, walk
from coherence.language.expressions.tree import Call as Function
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.language.words import CAUSES, plain_word
from coherence.simulate.processes.breakers import opening_of
from coherence.simulate.processes.flow import RequestFlow
from coherence.simulate.processes.numbers import lower
from coherence.simulate.processes.window_budgets import window_budget
from coherence.simulate.requests.program import RetryBudget, RetryPause, Route

TIMEOUTS = frozenset(CAUSES["timeout"])
UNTIL_IT_WORKS = 1_000_000_000  # `tries: unlimited`


def routes_of(design: Design, flow: RequestFlow, notes: list[str], problems: list[Problem]) -> tuple[Route, ...]:
    """One route for each call that requests reach, and a plain one where no call says how."""
    stated = [call for call in flow.calls.values() if call is not None]
    for limit in design.limits.values():
        of = [call for call in stated if ends_retries(limit, call) or limit in list(_limits(design, call, []))]
        if len(of) > 1:
            notes.append(f"{limit.name} is kept by each of {', '.join(call.name for call in of)} for itself")
    notes += _in_turn(flow)
    return tuple(
        Route(name, flow.ends[name][1])
        if call is None
        else replace(_route(design, flow, name, call, notes, problems), fallback=_fallback(flow, call))
        for name, call in flow.calls.items()
    )


def _fallback(flow: RequestFlow, call: Call) -> str:
    """Returns the route that stands in for a call that has failed; nothing where the design has none."""
    ends = (call.caller.text, call.callee.text) if call.caller and call.callee else ("", "")
    replaced = (
        (name, other.fallback_for.text)
        for name, other in flow.calls.items()
        if other is not None and other.fallback_for is not None
    )
    return next((name for name, callee in replaced if (flow.ends[name][0], callee) == ends), "")


def _in_turn(flow: RequestFlow) -> Iterator[str]:
    """Yields the callers of several that say no order, whose calls a run makes one after another."""
    for caller, plan in (*flow.plans.items(), *flow.onward.items()):
        calls = [flow.calls[route] for stage in plan for route in stage]
        if len(plan) > 1 and not any(call is not None and call.stage is not None for call in calls):
            callees = (flow.ends[route][1] for stage in plan for route in stage)
            yield f"{caller} calls {', '.join(callees)} one after another"


def _of_unknown_share(name: str, call: Call, flow: RequestFlow) -> Iterator[Problem]:
    """Yields the refusal of a call of some cases: how many requests are of a case is not said."""
    if call.cases and call.place is not None and flow.ends[name][0] not in flow.cases:
        message = f"{name} ({render_order(call)}) is not run: how many requests make it is not said"
        caller = flow.ends[name][0]
        remedy = f"say how many requests of {caller} are of each: `cases: {{{call.cases[0]}: 20 %, ...}}`"
        yield Problem(call.place, message, remedy)


def _route(
    design: Design, flow: RequestFlow, name: str, call: Call, notes: list[str], problems: list[Problem]
) -> Route:
    deadline = _duration(call.deadline, f"deadline of {name}", notes)
    per_try = _duration(call.per_try, f"per_try of {name}", notes) if call.per_try is not None else deadline
    if call.timeout_kind is not None and per_try < math.inf:
        notes += _of_part(name, call.timeout_kind.text)
        per_try = math.inf if call.timeout_kind.text == "connect" else per_try
    given_up = min(per_try, deadline) < math.inf or flow.ends[name][0] in _patient(design)
    if given_up and call.on_timeout is None and call.place is not None:
        remedy = "add `on_timeout: abandon` (the work is done all the same) or `on_timeout: cancel`"
        problems.append(
            Problem(call.place, f"{name} needs on_timeout: what becomes of a try that was given up", remedy)
        )
    problems += _of_unknown_share(name, call, flow)
    limits = list(_limits(design, call, notes))
    return Route(
        name,
        call.callee.text if call.callee else "",
        tries=_tries(call),
        per_try=per_try,
        deadline=deadline,
        pause=_pause(call, name, notes),
        retry_on=_causes(call, name, notes),
        cancel=call.cancels,
        budget=_budget(limits),
        paced=window_budget(design, call, notes),
        breaker=_cap(design, limits, retries=False),
        most_retries=_cap(design, limits, retries=True),
        opening=opening_of(call, name, notes, problems),
        hedge_after=_duration(call.hedge_after, f"hedge_after of {name}", notes),
    )


def _of_part(name: str, kind: str) -> Iterator[str]:
    """Yields what a run takes for granted of a time-out that waits for one part of an answer."""
    if kind == "connect":
        yield f"{name}: a time-out on connecting never fires here (connecting takes no time)"
    elif kind != "total":
        yield f"{name}: an answer comes in one piece here, so that its time-out on the {kind} waits for all of it"


def _patient(design: Design) -> frozenset[str]:
    """Returns the workloads that give up what has not ended by their deadline."""
    return frozenset(workload.name for workload in design.workload.values() if workload.deadline is not None)


def _duration(value: Quantity | Word | None, what: str, notes: list[str]) -> float:
    return lower(value, what, notes) if isinstance(value, Quantity) else math.inf


def _tries(call: Call) -> int:
    product = 1
    for layer in call.tries:
        product *= max(1, int(layer.low)) if isinstance(layer, Quantity) else UNTIL_IT_WORKS
    return min(product, UNTIL_IT_WORKS)


def _pause(call: Call, name: str, notes: list[str]) -> RetryPause:
    match call.pause:
        case Pause(base=base, cap=cap, factor=factor, jitter=jitter) if base is not None:
            return RetryPause(
                lower(base, f"pause of {name}", notes),
                lower(factor, f"factor of {name}", notes) if factor else 2.0,
                lower(cap, f"cap of {name}", notes) if cap else math.inf,
                (float(spread_of(jitter)[0]), float(spread_of(jitter)[1])),
                is_decorrelated(jitter),
            )
        case Quantity() as constant:
            return RetryPause(lower(constant, f"pause of {name}", notes), 1.0)
        case Word():
            notes.append(f"{name}: the pause that an answer names is taken as nothing")
    return RetryPause()


def _causes(call: Call, name: str, notes: list[str]) -> tuple[str, ...]:
    if call.retry_when is None:
        return ("timeout", "rejected", "failed", "refused")
    words = {plain_word(word.text) for word in call.retry_when}
    others = words - TIMEOUTS
    if others:
        notes.append(f"{name}: {', '.join(sorted(others))} stands for every refusal and failure of the callee")
    return (*(("timeout",) if words & TIMEOUTS else ()), *(("rejected", "failed", "refused") if others else ()))


def _limits(design: Design, call: Call, notes: list[str]) -> Iterator[Limit]:
    """The limits that count this call's sends: its budget, and those in flight from its caller or to its callee."""
    ends = {end.text for end in (call.caller, call.callee) if end is not None}
    for limit in design.limits.values():
        named = call.budget is not None and call.budget.text == limit.name and not ends_retries(limit, call)
        if named or (limit.counts is not None and _in_flight(limit.counts.tree, ends)):
            why = _not_run(design, limit, ends)
            if why:
                notes.append(f"{limit.name} is not run: {why}")
            else:
                if not named and _of_retries(limit):
                    notes.append(
                        f"{call.name} keeps {limit.name}, which counts its retries and is not named as its budget"
                    )
                yield limit


def _not_run(design: Design, limit: Limit, ends: set[str]) -> str:
    """Why a route cannot keep a limit; nothing, where it can."""
    tree = limit.counts.tree if limit.counts is not None else None
    if not (isinstance(tree, Function) and tree.function == "in flight") or limit.window is not None:
        return "it counts something else than what is in flight"
    if limit.when_full is not None and limit.when_full.text != "reject":
        return f"what it does when full ({limit.when_full.text}) is not rejecting"
    if limit.per is not None or limit.during is not None:
        return f"there is one of it per {limit.per.text}" if limit.per is not None else "it does not hold at all times"
    share = _share(limit.at_most.tree) if isinstance(limit.at_most, Formula) else None
    number = most_allowed(design, limit) is not None
    if isinstance(limit.at_most, Formula) and not number and (share is None or share[1].partition(".")[0] not in ends):
        return "it is not a share of what its call has in flight"
    return ""


def _in_flight(tree: Tree, ends: set[str]) -> bool:
    if not isinstance(tree, Function) or tree.function != "in flight":
        return False
    return any(node.path.partition(".")[0] in ends for node in walk(tree) if isinstance(node, Name))


def _of_retries(limit: Limit) -> bool:
    tree = limit.counts.tree if limit.counts is not None else None
    return tree is not None and any(isinstance(n, Name) and n.path.endswith("retries") for n in walk(tree))


def _budget(limits: list[Limit]) -> RetryBudget | None:
    for limit in limits:
        share = _share(limit.at_most.tree) if isinstance(limit.at_most, Formula) else None
        if share is not None and _of_retries(limit):
            floor = limit.but_at_least.low if isinstance(limit.but_at_least, Quantity) else 0
            return RetryBudget(
                share[0], float(floor), "first" if "first" in share[1].rpartition(".")[2] else "requests"
            )
    return None


def _share(tree: Tree) -> tuple[float, str] | None:
    """Returns (0.2, what) of `20 % of what in flight`."""
    match tree:
        case Arithmetic(
            op="*", left=Number(value=share), right=Function(function="in flight", arguments=(Name(path=path),))
        ):
            return float(share), path
    return None


def _cap(design: Design, limits: list[Limit], *, retries: bool) -> float:
    caps = [
        float(most.low)
        for limit in limits
        if (most := most_allowed(design, limit)) is not None and _of_retries(limit) is retries
        and (limit.when_full is None or limit.rejects)
    ]  # fmt: skip
    return min(caps, default=math.inf)

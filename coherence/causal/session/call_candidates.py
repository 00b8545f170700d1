"""Derives the influences that a call declares: load makes tries, tries a queue, a queue time-outs, these tries again.

The signals are those that `coherence simulate --telemetry` writes (counters are read as rates): of the caller, of the
call (`caller -> callee.tries`, ...) and of the callee.  A pause between tries is a delay of the retries.
SOURCE: model.md rule 9; language.md, calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from coherence.base.graphs import reached
from coherence.causal.fitting.graph import Influence
from coherence.language.design import Call, Design, Pause
from coherence.language.expressions import names as tree_names
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.routes import transfers

FAILURES = ("timeouts", "refused", "rejected", "failed")


ACCOUNTS = (
    "arrivals", "attempts", "offered", "calls", "tries", "retries", "hedges", *FAILURES, "denied", "broken",
    "dropped", "deadlines", "utilization", "queue", "busy", "present", "served", "succeeded", "wasted", "completed",
    "cancelled", "abandoned", "gave_up", "preempted", "backlog", "at_station", "in_flight",
    "first_in_flight", "retries_in_flight",
)  # fmt: skip
SHARED = frozenset({
    "utilization", "queue", "busy", "present", "served", "succeeded", "wasted", "completed", "abandoned", "backlog",
    "at_station", "in_flight", "first_in_flight",
})  # counts of what servers do or hold  # fmt: skip


def accounts(design: Design, names: Iterable[str]) -> dict[str, frozenset[str]]:
    """Returns where each signal that counts requests counts them: two signals that share a place are accounts.

    A place is a thing, or one end of a call: what a thing gets, holds and gives back is what its calls bring and take.
    Counts of two calls, or of two things, are none: what a time-out of one call sends to another is an influence; but
    a call waits for those that its callee makes, and ends with them or ends them, so that its requests are theirs.
    What a thing serves of one call it does not serve of another at that time: these counts share its servers.
    What it serves arrives where `arrivals: thing.served` says so, at any distance.
    """
    names = list(names)
    places: dict[str, set[str]] = {name: {name} for name in design.components}
    for call in design.calls:
        for end in (str(call.caller), str(call.callee)):
            for name in (end, *_names(design, call)):
                places.setdefault(name, {name}).add(f"{call.name} at {end}")
        if str(call.caller) in design.workload:  # what arrives there is what it sends
            places.setdefault(str(call.caller), {str(call.caller)}).add(f"{call.name} at {call.callee}")
        for inner in _calls_below(design, str(call.callee)):
            ends = (str(call.caller), str(call.callee), str(inner.callee))
            for name in (*ends, *_names(design, call), *_names(design, inner)):
                places.setdefault(name, {name}).add(f"{call.name} over {inner.name}")
    servers = _implied(design, names, places)
    _add_ways(design, names, places)
    heads = {name: name.rpartition(".") for name in names}
    return {
        name: frozenset(places[head] | (servers.get(head, set()) if count in SHARED else set()))
        for name, (head, _, count) in heads.items() if count in ACCOUNTS and head in places
    }  # fmt: skip


def _implied(design: Design, names: Iterable[str], places: dict[str, set[str]]) -> dict[str, set[str]]:
    """Adds the calls that a thing's `arrivals` imply; returns whose servers each caller, call and callee shares."""
    servers: dict[str, set[str]] = {}
    for head in dict.fromkeys(name.rpartition(".")[0] for name in names):
        caller, _, callee = head.partition(" -> ")
        if callee not in design.components or caller not in {*design.workload, *design.components}:
            continue
        for name in (caller, callee, head):
            servers.setdefault(name, set()).add(f"servers of {callee}")
        if head not in places:
            for end in (caller, callee):
                for name in (end, head):
                    places.setdefault(name, {name}).add(f"{head} at {end}")
    return servers


def _add_ways(design: Design, names: Iterable[str], places: dict[str, set[str]]) -> None:
    """Adds that what a thing serves arrives at the things whose `arrivals` read it: the same requests, later."""
    after: dict[str, set[str]] = {}
    for component in design.components.values():
        arrivals = component.constants.get("arrivals")
        for path in tree_names(arrivals.tree) if isinstance(arrivals, Formula) else ():
            after.setdefault(path.partition(".")[0], set()).add(component.name)
    beyond = {thing: reached(own, lambda name: after.get(name, ())) for thing, own in after.items()}
    for head in dict.fromkeys([*places, *after, *(name.rpartition(".")[0] for name in names)]):
        origin, _, callee = head.partition(" -> ")
        reach = beyond.get(origin, set())
        to = reach & {callee, *beyond.get(callee, ())} if callee in design.components else reach
        ways = {f"{origin} on to {thing}" for thing in to}
        ways |= {f"{between} on to {callee}" for between in reach if callee in beyond.get(between, ())}
        from_here = {f"{source} on to {origin}" for source, things in beyond.items() if origin in things and not callee}
        if ways | from_here:
            places.setdefault(head, {head}).update(ways | from_here)


def influences_of_calls(design: Design) -> Iterator[Influence]:
    """Every influence of every call, with its sign; the place is the call's."""
    for call in design.calls:
        if call.caller is not None and call.callee is not None:
            yield from _of(call, str(call.caller), str(call.callee))


def _calls_below(design: Design, thing: str) -> Iterator[Call]:
    """Calls that a thing makes, and that those make which it calls, each once."""
    reached, waiting = {thing}, [thing]
    while waiting:
        at = waiting.pop()
        for call in design.calls:
            if str(call.caller) == at:
                yield call
                if (callee := str(call.callee)) not in reached:
                    reached.add(callee)
                    waiting.append(callee)


def _names(design: Design, call: Call) -> tuple[str, ...]:
    """Where runs count the requests of a call on their way: the call itself, and the links that it goes over."""
    hops = [hop for transfer in transfers(design) if transfer.call is call for hop in transfer.hops]
    ways = [f"link {hop.shared_name}{part}" for hop in hops for part in ("", " way", " latency", " latency way")]
    return (call.name, *dict.fromkeys(ways))


def _of(call: Call, caller: str, callee: str) -> Iterator[Influence]:
    def acts(cause: str, effect: str, sign: int, *, late: Fraction = Fraction(0), flow: bool = False) -> Influence:
        places = (call.place,) if call.place is not None else ()
        return Influence(cause, effect, Fraction(0), late, sign, call.name, flow, places, counted=True)

    name, queue = call.name, f"{callee}.queue"
    yield acts(f"{caller}.arrivals", f"{name}.tries", 1)
    if call.fallback_for is not None:
        yield from (acts(f"{caller} -> {call.fallback_for}.{why}", f"{name}.tries", 1) for why in FAILURES)
    if _retries(call):
        yield from (acts(f"{name}.{why}", f"{name}.retries", 1, late=_pause(call)) for why in _causes(call))
        yield acts(f"{name}.retries", f"{name}.tries", 1)
    yield acts(f"{name}.tries", queue, 1, flow=True)
    yield acts(f"{callee}.served", queue, -1, flow=True)
    yield acts(queue, queue, 1, flow=True)
    yield acts(queue, f"{callee}.busy", 1)
    yield acts(f"{callee}.busy", f"{callee}.served", 0)  # all may be busy
    yield acts(queue, f"{name}.timeouts", 0)  # time may pass in calls of the callee
    if call.abandons:
        yield acts(f"{name}.timeouts", f"{callee}.wasted", 1)
    yield acts(f"{callee}.served", f"{callee}.wasted", 1)
    yield acts(f"{callee}.served", f"{caller}.completed", 1)
    yield acts(f"{callee}.wasted", f"{caller}.completed", -1)


def _retries(call: Call) -> bool:
    return any(not isinstance(tries, Quantity) or tries.high > 1 for tries in call.tries)


def _causes(call: Call) -> tuple[str, ...]:
    """The counters that a retry follows."""
    condition = " ".join(str(word) for word in call.retry_when or ())
    if not condition:
        return FAILURES
    return ("timeouts",) if "timeout" in condition and len(call.retry_when or ()) == 1 else FAILURES


def _pause(call: Call) -> Fraction:
    """The longest pause before a retry, in seconds."""
    match call.pause:
        case Pause(cap=Quantity(high=Fraction() as most)) | Quantity(high=Fraction() as most):
            return most
        case Pause(base=Quantity(high=Fraction() as most)):
            return most
        case _:
            return Fraction(0)

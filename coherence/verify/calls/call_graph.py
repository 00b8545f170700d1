"""Builds the graph of calls: who calls whom, which calls form a cycle, and how long answering takes.

Calls of one caller run one after another (ASSUMED: the language does not say otherwise), so their
times add up.  A call without any limit passes on the time of what it calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.graphs import components
from coherence.base.places import Place
from coherence.language.design import Design, Timer
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import ZERO, DurationInterval
from coherence.verify.calls.retry_policies import RetryPolicy, known_end, longest_end, retry_policy_of, serve_time

ENDINGS = frozenset(
    ["abort", "cancel", "delete", "end", "evict", "kill", "preempt", "reclaim", "remove", "stop", "terminate"]
)
IN_TURN = "the calls of {} run one after another"


@dataclass(frozen=True)
class Work:
    """What answering one request takes: at least `known` in a bad run that can happen, never more than `longest`.

    `calls`: the limited calls it makes, directly or through calls without a limit.  `serve`: its own time.
    """

    known: Fraction = ZERO
    longest: Fraction | None = ZERO
    serve: Quantity | None = None
    calls: tuple[RetryPolicy, ...] = ()


@dataclass(frozen=True)
class CallTree:
    """Every call in numbers, the calls and the callers of each thing, its work, and the cycles."""

    plans: tuple[RetryPolicy, ...]
    of_caller: Mapping[str, tuple[RetryPolicy, ...]]
    callers: Mapping[str, tuple[str, ...]]
    work: Mapping[str, Work]
    cycles: tuple[tuple[str, ...], ...]

    def on_cycle(self, plan: RetryPolicy) -> bool:
        """Decides whether the call leads back to its caller."""
        return any(plan.caller in cycle and plan.callee in cycle for cycle in self.cycles)


def call_tree(design: Design) -> CallTree:
    """Returns the calls of a design as a graph; made once for each design."""
    return design.queries.get(call_tree, lambda: _build_call_tree(design))


def _build_call_tree(design: Design) -> CallTree:
    plans = tuple(retry_policy_of(call) for call in design.calls)
    lists: dict[str, list[RetryPolicy]] = {}
    for plan in plans:
        lists.setdefault(plan.caller, []).append(plan)
    of_caller = {name: tuple(made) for name, made in lists.items()}
    groups = tuple(components({name: tuple(p.callee for p in made) for name, made in of_caller.items()}))
    own = {plan.caller for plan in plans if plan.caller == plan.callee}
    cycles = tuple(group for group in groups if len(group) > 1 or group[0] in own)
    looped = {name for group in cycles for name in group}
    work: dict[str, Work] = {}
    for group in groups:  # callees first
        for name in group:
            outward = tuple(p for p in of_caller.get(name, ()) if not (name in group and p.callee in group))
            work[name] = _work(design, name, outward, work, cyclic=name in looped)
    callers: dict[str, list[str]] = {}
    for plan in plans:
        callers.setdefault(plan.callee, []).append(plan.caller)
    return CallTree(plans, of_caller, {name: tuple(made) for name, made in callers.items()}, work, cycles)


def _work(
    design: Design, name: str, outward: tuple[RetryPolicy, ...], work: Mapping[str, Work], *, cyclic: bool
) -> Work:
    serve = serve_time(design, name)
    known, longest = ZERO, None if cyclic else serve.high if serve else ZERO
    calls: list[RetryPolicy] = []
    for plan in outward:
        inside = work[plan.callee]
        limited = plan.limit is not None and plan.limit.high is not None
        known += (known_end(plan) or ZERO) if limited else inside.known
        more = longest_end(plan) if limited else inside.longest if plan.tries == 1 else None
        longest = None if longest is None or more is None else longest + more
        calls += [plan] if limited else inside.calls
    own = serve.high if serve else ZERO
    return Work(max(known, own), longest, serve, tuple(dict.fromkeys(calls)))


@dataclass(frozen=True)
class Enclosure:
    """Something that ends, after `limit` seconds, what `inside` does for one request."""

    name: str
    inside: str
    limit: DurationInterval
    place: Place
    text: str


def enclosures(design: Design, tree: CallTree) -> Iterator[Enclosure]:
    """Yields limits from outside: the try of a caller, the patience of a workload, a timer that ends the thing."""
    for plan in tree.plans:
        if plan.callee in tree.of_caller and not tree.on_cycle(plan) and (limit := enclosure_of(plan)):
            yield limit
    for name, workload in design.workload.items():
        if name in tree.of_caller and workload.deadline is not None:
            span = DurationInterval(workload.deadline.low, workload.deadline.high)
            yield Enclosure(name, name, span, workload.deadline.place, f"{name} waits {workload.deadline}")
    for timer in design.timers.values():
        thing = ended_by(timer)
        if thing in tree.of_caller and isinstance(timer.after, Quantity) and timer.start and timer.start.thing == thing:
            span = DurationInterval(timer.after.low, timer.after.high)
            yield Enclosure(
                timer.name, thing, span, timer.after.place, f"{timer.name} ends {thing} after {timer.after}"
            )


def enclosure_of(plan: RetryPolicy) -> Enclosure | None:
    """Returns the limit that a caller sets to one try of its call."""
    call = plan.call
    stated = [q for q in (call.per_try, call.deadline) if isinstance(q, Quantity)]
    if plan.limit is None or not stated:
        return None
    if call.timeout_kind is not None and call.timeout_kind.text == "connect":
        stated = [q for q in (call.deadline,) if isinstance(q, Quantity)]
    source = min(stated, key=lambda q: q.low)
    return Enclosure(plan.name, plan.callee, plan.limit, source.place, f"a try of {plan.name} ends after {source}")


def ended_by(timer: Timer) -> str:
    """Returns the thing that a timer ends (`then: stop pool`), or nothing."""
    words = timer.then.text.split() if timer.then else []
    return words[-1] if len(words) >= 2 and words[0] in ENDINGS else ""

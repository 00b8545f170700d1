"""Builds the graph of calls: who calls whom, which calls form a cycle, and how long answering takes.

Calls of one caller run one after another (ASSUMED: the language does not say otherwise), so their
times add up.  A call without any limit passes on the time of what it calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.graphs import components
from coherence.base.places import Place
from coherence.language.design import Design, Timer
from coherence.language.roles import role, unknown_activities
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.answer_times import UNSTATED, AnswerTime, answer_time, as_stated
from coherence.verify.calls.attempts import NOTHING, ZERO, DurationInterval, least
from coherence.verify.calls.retry_policies import RetryPolicy, known_end, longest_end, retry_policy_of, serve_time

ENDINGS = frozenset(
    ["abort", "cancel", "delete", "end", "evict", "kill", "preempt", "reclaim", "remove", "stop", "terminate"]
)
IN_TURN = "the calls of {} run one after another"
NO_WAIT = "{} begins at once: a wait for a free member is not counted"


@dataclass(frozen=True)
class Work:
    """What answering one request takes: at least `known` in a bad run that can happen, never more than `longest`.

    `calls`: the limited calls it makes, directly or through calls without a limit.  `serve`: its own time.
    `below`: the calls further down, each with the shortest limit of those between.  `answer`: when no try fails.
    `behind`: as known and longest, where nothing hangs longer than it says that it needs; `spent`: of its `calls`;
    `through`: the calls without a limit on the way to them.
    """

    known: Fraction = ZERO
    longest: Fraction | None = ZERO
    serve: Quantity | None = None
    calls: tuple[RetryPolicy, ...] = ()
    below: tuple[tuple[RetryPolicy, Fraction], ...] = ()
    answer: AnswerTime = UNSTATED
    behind: DurationInterval = NOTHING
    spent: tuple[Fraction | None, ...] = ()
    through: tuple[RetryPolicy, ...] = ()


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
    return CallTree(plans, of_caller, {name: tuple(caller) for name, caller in callers.items()}, work, cycles)


def _work(
    design: Design, name: str, outward: tuple[RetryPolicy, ...], work: Mapping[str, Work], *, cyclic: bool
) -> Work:
    serve = serve_time(design, name)
    own = serve.high if serve else ZERO
    ends = [_end(plan, work[plan.callee]) for plan in outward]
    stated = [_end(*_as_stated(plan, work[plan.callee])) for plan in outward]
    calls: dict[RetryPolicy, Fraction | None] = {}
    for plan, end in zip(outward, stated, strict=True):
        inside = work[plan.callee]
        calls |= {plan: end[1]} if _limited(plan) else dict(zip(inside.calls, inside.spent, strict=True))
    return Work(
        max(sum((known for known, _ in ends), ZERO), own), None if cyclic else _total(own, [most for _, most in ends]),
        serve, tuple(calls), tuple(_below(outward, work)),
        UNSTATED if cyclic else answer_time(name, serve, [(plan, work[plan.callee].answer) for plan in outward]),
        DurationInterval(
            max(sum((known for known, _ in stated), ZERO), own),
            None if cyclic else _total(own, [most for _, most in stated]),
        ),
        tuple(calls.values()), tuple(_unlimited(outward, work)),
    )  # fmt: skip


def _unlimited(outward: tuple[RetryPolicy, ...], work: Mapping[str, Work]) -> Iterator[RetryPolicy]:
    """Yields the calls without a limit that a thing makes, and those that they pass on."""
    for plan in outward:
        if not _limited(plan):
            yield from (plan, *work[plan.callee].through)


def _limited(plan: RetryPolicy) -> bool:
    return plan.limit is not None and plan.limit.high is not None


def _total(own: Fraction, parts: list[Fraction | None]) -> Fraction | None:
    """Returns the sum; None where a part has no bound."""
    return None if None in parts else own + sum((part for part in parts if part is not None), ZERO)


def _end(plan: RetryPolicy, inside: Work) -> tuple[Fraction, Fraction | None]:
    """Returns (a known end, a bound) of one call."""
    if _limited(plan):
        return known_end(plan) or ZERO, longest_end(plan)
    return inside.known, inside.longest if plan.tries == 1 else None


def _as_stated(plan: RetryPolicy, inside: Work) -> tuple[RetryPolicy, Work]:
    """Returns the call and the work behind it, where nothing hangs longer than it says that it needs."""
    longest = inside.behind.high if inside.answer.whole else None
    unhung = replace(inside, known=inside.behind.low, longest=inside.behind.high)
    return (as_stated(plan, longest) if longest is not None else plan), unhung


def _below(outward: tuple[RetryPolicy, ...], work: Mapping[str, Work]) -> Iterator[tuple[RetryPolicy, Fraction]]:
    """Yields the calls behind limited calls, each with the shortest limit that it has above it."""
    widest: dict[RetryPolicy, Fraction] = {}
    for plan in outward:
        inside, limit = work[plan.callee], plan.limit.high if plan.limit is not None else None
        direct = [(inner, limit) for inner in inside.calls if limit is not None]
        for inner, most in (*direct, *((inner, least(most, limit)) for inner, most in inside.below)):
            if most is not None:
                widest[inner] = max(most, widest.get(inner, ZERO))
    yield from widest.items()


@dataclass(frozen=True)
class Enclosure:
    """Something that ends, after `limit` seconds, what `inside` does for one request."""

    name: str
    inside: str
    limit: DurationInterval
    place: Place
    text: str
    plan: RetryPolicy | None = None  # the call whose try it is
    ask: str = ""  # what would say that it bounds the calls at all


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
        if thing in tree.of_caller and isinstance(timer.after, Quantity) and _from_the_work(design, timer, thing):
            span, text = DurationInterval(timer.after.low, timer.after.high), f"{timer.name} ends {thing} after"
            ask = _open_role(design, timer, thing)
            yield Enclosure(timer.name, thing, span, timer.after.place, f"{text} {timer.after}", ask=ask)


def _from_the_work(design: Design, timer: Timer, thing: str) -> bool:
    """Decides whether a timer may run from a start of the thing or of the work that makes its calls.

    A grace runs from a shutdown: it bounds what is in flight then, and not each call.
    """
    component, start = design.components.get(thing), timer.start
    if start is None or start.thing != thing:
        return False
    what = role(component, start.activity) if component is not None and start.kind == "starts" else ""
    return what not in ("drain", "apart") and not (what == "start" and _lifted(timer))


def _lifted(timer: Timer) -> bool:
    """Decides whether the end of the activity that starts a timer lifts it."""
    start, end = timer.start, timer.unless
    return start is not None and end is not None and (end.kind, end.subject) == ("ends", start.subject)


def _open_role(design: Design, timer: Timer, thing: str) -> str:
    """Returns what to ask where nothing says whether the thing makes its calls in the activity that a timer bounds."""
    activity = timer.start.activity if timer.start else ""
    if not _lifted(timer) or activity not in unknown_activities(design, thing):
        return ""
    return f"`roles: {{{activity}: answer}}` of {thing} if it makes its calls in its {activity}, else `apart`"


def enclosure_of(plan: RetryPolicy) -> Enclosure | None:
    """Returns the limit that a caller sets to one try of its call."""
    call = plan.call
    stated = [q for q in (call.per_try, call.deadline) if isinstance(q, Quantity)]
    if plan.limit is None or not stated:
        return None
    if call.timeout_kind is not None and call.timeout_kind.text == "connect":
        stated = [q for q in (call.deadline,) if isinstance(q, Quantity)]
    source = min(stated, key=lambda q: q.low)
    return Enclosure(
        plan.name, plan.callee, plan.limit, source.place, f"a try of {plan.name} ends after {source}", plan
    )


def ended_by(timer: Timer) -> str:
    """Returns the thing that a timer ends (`then: stop pool`), or nothing."""
    words = timer.then.text.split() if timer.then else []
    return words[-1] if len(words) >= 2 and words[0] in ENDINGS else ""

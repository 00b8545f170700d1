"""Builds the graph of calls: who calls whom, which calls form a cycle, and how long answering takes.

What the calls of one caller make together is said by their stages, cases and fallbacks (`compositions`); where nothing
is said their times add up, which is ASSUMED.  A call without any limit passes on the time of what it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from coherence.base.graphs import components, reached
from coherence.base.places import Place
from coherence.base.queries import CARRIED
from coherence.base.reads import ValueReads
from coherence.language.call_cases import CallCase, cases_of_callers
from coherence.language.design import Design
from coherence.language.roles import time_of, unknown_activities
from coherence.language.schema_kinds import Quantity
from coherence.model.components import RETRIES_APART
from coherence.verify.calls.answer_times import ANSWERS, UNSTATED, AnswerTime, answer_time, as_stated, role_of, through
from coherence.verify.calls.attempts import ZERO, DurationInterval, least
from coherence.verify.calls.compositions import LONGEST, Algebra, TimeTerm, composed
from coherence.verify.calls.retry_policies import (
    RetryPolicy,
    known_end,
    known_failures,
    longest_end,
    retry_policy_of,
    serve_time,
)

T = TypeVar("T")
IN_TURN = "the calls of {} run one after another"
NO_OWN_TIME = "the own time of {} is not stated and counts as 0 s"
COUNTED = "{} is part of an answer, or none: it is counted"
CANCELS = "cancelling {} also ends what it waits for"
NO_WAIT = "{} begins at once: a wait for a free member is not counted"


@dataclass(frozen=True)
class CallsEnd:
    """When the calls of a thing have ended: at least `known` in a bad run that can happen, never after `most`.

    `path`: the limited calls of that run, one after another.
    """

    known: Fraction
    most: TimeTerm
    path: tuple[RetryPolicy, ...] = ()


NO_CALLS = CallsEnd(ZERO, TimeTerm(ZERO))


def _in_turn(parts: Sequence[CallsEnd]) -> CallsEnd:
    known, path = sum((part.known for part in parts), ZERO), tuple(plan for part in parts for plan in part.path)
    return CallsEnd(known, LONGEST.in_turn([part.most for part in parts]), path)


def _at_once(parts: Sequence[CallsEnd]) -> CallsEnd:
    return replace(max(parts, key=lambda part: part.known), most=LONGEST.at_once([part.most for part in parts]))


ENDS: Algebra[CallsEnd] = Algebra(_in_turn, _at_once, _at_once, _in_turn, _in_turn, _in_turn)


@dataclass(frozen=True)
class Work:
    """What answering one request takes: at least `known` in a bad run that can happen, never more than `longest`.

    `calls`: the limited calls it makes, directly or through calls without a limit.  `serve`: its own time.
    `below`: the calls further down, each with the shortest limit of those between.  `answer`: when no try fails.
    `hanging`: when its calls end; `unhung`: where nothing hangs longer than it says that it needs.
    `through`: the calls without a limit on the way to them; `retrying`: those of both that try again.  `ordered`: their
    order is said.  `cyclic`: it calls itself.
    `complete`: it says how long it works, and so does what it calls without a limit; or it only calls, and all that it
    calls is complete (its own time then counts as 0 s).  `perhaps`: the activities of which nothing says what they are
    to a caller, where it states no own time: each bound counts them.
    """

    serve: Quantity | None = None
    calls: tuple[RetryPolicy, ...] = ()
    below: tuple[tuple[RetryPolicy, Fraction], ...] = ()
    answer: AnswerTime = UNSTATED
    hanging: CallsEnd = NO_CALLS
    unhung: CallsEnd = NO_CALLS
    through: tuple[RetryPolicy, ...] = ()
    retrying: tuple[RetryPolicy, ...] = ()
    ordered: bool = True
    cyclic: bool = False
    complete: bool = False
    perhaps: Mapping[str, Quantity] = field(default_factory=dict)

    @property
    def own(self) -> Fraction:
        return self.serve.high if self.serve else ZERO

    @property
    def known(self) -> Fraction:
        return max(self.hanging.known, self.own)

    @property
    def longest(self) -> Fraction | None:
        return self.spent(self.hanging).bound

    @property
    def behind(self) -> DurationInterval:
        """As known and longest, where nothing hangs longer than it says that it needs."""
        return DurationInterval(max(self.unhung.known, self.own), self.spent(self.unhung).bound)

    def within(self, activity: str) -> Work:
        """Returns the work while one activity lasts, where one is named: others without a role are outside it."""
        perhaps = {name: span for name, span in self.perhaps.items() if name == activity}
        return replace(self, perhaps=perhaps) if activity else self

    def spent(self, end: CallsEnd) -> TimeTerm:
        """Returns the bound of its own time and its calls, as a term."""
        if self.cyclic:
            return TimeTerm(None)
        parts = [self.own, *(span.high for span in self.perhaps.values())]
        return LONGEST.in_turn([*(TimeTerm(part) for part in parts), end.most])


@dataclass(frozen=True)
class CallTree:
    """Every call in numbers, the calls, cases and callers of each thing, its work, and the cycles."""

    plans: tuple[RetryPolicy, ...]
    of_caller: Mapping[str, tuple[RetryPolicy, ...]]
    callers: Mapping[str, tuple[str, ...]]
    work: Mapping[str, Work]
    cycles: tuple[tuple[str, ...], ...]
    cases: Mapping[str, tuple[CallCase, ...]]

    def on_cycle(self, plan: RetryPolicy) -> bool:
        """Decides whether the call leads back to its caller."""
        return any(plan.caller in cycle and plan.callee in cycle for cycle in self.cycles)

    def above(self, things: Collection[str]) -> tuple[RetryPolicy, ...]:
        """Returns the calls that lead to some things, those between them included."""
        leading = reached(things, lambda name: self.callers.get(name, ()))
        return tuple(plan for plan in self.plans if plan.callee in leading)

    def below(self, caller: str) -> Collection[str]:
        """Returns the things to which calls of a caller lead, itself included; found once for each caller."""
        known = self._below.get(caller)
        if known is None:
            known = self._below[caller] = reached(
                [caller], lambda name: [p.callee for p in self.of_caller.get(name, ())]
            )
        return known

    def leading_to(self, thing: str) -> Collection[str]:
        """Returns the things whose calls lead to one, itself included; found once for each."""
        known = self._leading.get(thing)
        if known is None:
            known = self._leading[thing] = reached([thing], lambda name: self.callers.get(name, ()))
        return known

    @cached_property
    def _below(self) -> dict[str, Collection[str]]:
        """Starts the table of what each caller leads to."""
        return {}

    @cached_property
    def _leading(self) -> dict[str, Collection[str]]:
        """Starts the table of what leads to each thing."""
        return {}

    @cached_property
    def known_ways(self) -> dict[tuple[str, str], tuple[Any, ValueReads]]:
        """Starts the table of the ways between two things, with what they were found from (`paths.ways`)."""
        return {}


def call_tree(design: Design) -> CallTree:
    """Returns the calls of a design as a graph; made once for each design."""
    return design.queries.get(call_tree, lambda: _build_call_tree(design))


CARRIED[call_tree] = lambda tree, _: tree


def own_times(tree: CallTree, names: Iterable[str]) -> list[str]:
    """Returns what is taken for granted of the own times of things that state none."""
    return [words for name in names for words in own_time(tree.work[name], name)]


def own_time(work: Work, name: str) -> list[str]:
    """Returns what is taken for granted of the own time of one thing that states none."""
    return [COUNTED.format(f"{name}.{activity}") for activity in work.perhaps] or [NO_OWN_TIME.format(name)]


def in_turn(work: Work, name: str) -> list[str]:
    """Returns what is assumed of the calls of a thing where their order is not said."""
    return [IN_TURN.format(name)] if len(work.calls) > 1 and not work.ordered else []


def open_time(work: Work, name: str) -> str:
    """Returns what to ask for where nothing bounds the time that a thing works for one request."""
    for inner in work.calls:
        if facts := inner.missing_facts():
            return f"a bound on {inner.name}, for example {facts[0]}"
    for activity in work.perhaps:
        return role_of(name, activity)
    return f"a bound on the work of {name} (a deadline of each of its calls)"


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
    cases, work = cases_of_callers(design), dict[str, Work]()
    for group in groups:  # callees first
        for name in group:
            outward = tuple(p for p in of_caller.get(name, ()) if not (name in group and p.callee in group))
            calls = CallsOfThing(name, outward, cases.get(name, ()), cyclic=name in looped)
            work[name] = _work(design, calls, work, serve_time(design, name))
    callers: dict[str, list[str]] = {}
    for plan in plans:
        callers.setdefault(plan.callee, []).append(plan.caller)
    return CallTree(plans, of_caller, {name: tuple(caller) for name, caller in callers.items()}, work, cycles, cases)


@dataclass(frozen=True)
class CallsOfThing:
    """The calls of one thing that lead out of its cycle, if any, and how they are composed."""

    name: str
    plans: tuple[RetryPolicy, ...]
    cases: tuple[CallCase, ...]
    cyclic: bool

    def composed(self, of: Callable[[RetryPolicy], T], by: Algebra[T]) -> T | None:
        """Returns what they make together, from what each of them makes."""
        own = set(self.plans)
        return composed(self.cases, lambda call: of(plan) if (plan := retry_policy_of(call)) in own else None, by)

    @property
    def ordered(self) -> bool:
        return all(case.in_order for case in self.cases)


def work_of_members(design: Design, thing: str, only: tuple[CallCase, ...] | None = None) -> Work | None:
    """Returns the work of a thing without the way of a request to it and back, on which no member of it works.

    `only`: that of a request of some of its cases alone.
    """
    tree = call_tree(design)
    if thing not in tree.work or tree.work[thing].cyclic:
        return tree.work.get(thing)
    cases = tree.cases.get(thing, ()) if only is None else only
    calls = CallsOfThing(thing, tree.of_caller.get(thing, ()), cases, cyclic=False)
    return _work(design, calls, tree.work, time_of(design.components.get(thing), "answer"))


def _work(design: Design, calls: CallsOfThing, work: Mapping[str, Work], serve: Quantity | None) -> Work:
    perhaps = unknown_activities(design, calls.name) if serve is None else {}
    limited: dict[RetryPolicy, None] = {}
    for plan in calls.plans:
        limited |= {plan: None} if _limited(plan) else dict.fromkeys(work[plan.callee].calls)
    open_calls = [work[plan.callee] for plan in calls.plans if not _limited(plan)]
    inside = calls.composed(lambda plan: through(plan, work[plan.callee].answer), ANSWERS)
    ordered = calls.ordered and all(inner.ordered for inner in open_calls)
    return Work(
        serve, tuple(limited), tuple(_below(calls.plans, work)),
        UNSTATED if calls.cyclic else answer_time(calls.name, serve, inside, ordered=calls.ordered, perhaps=perhaps),
        calls.composed(lambda plan: end_of_call(plan, work[plan.callee], hangs=True), ENDS) or NO_CALLS,
        calls.composed(lambda plan: end_of_call(plan, work[plan.callee], hangs=False), ENDS) or NO_CALLS,
        _once(_unlimited(calls.plans, work)), _once(_retrying(calls.plans, work)), ordered, calls.cyclic,
        all(inner.complete for inner in open_calls) if serve is not None else _only_calls(calls, work),
        perhaps,
    )  # fmt: skip


def _once(plans: Iterable[RetryPolicy]) -> tuple[RetryPolicy, ...]:
    return tuple(dict.fromkeys(plans))


def _only_calls(calls: CallsOfThing, work: Mapping[str, Work]) -> bool:
    """Decides whether a thing that states no time of its own makes calls, to what says all of theirs."""
    return bool(calls.plans) and all(work[plan.callee].complete for plan in calls.plans)


def _unlimited(outward: tuple[RetryPolicy, ...], work: Mapping[str, Work]) -> Iterator[RetryPolicy]:
    """Yields the calls without a limit that a thing makes, and those that they pass on."""
    for plan in outward:
        if not _limited(plan):
            yield from (plan, *work[plan.callee].through)


def _retrying(outward: tuple[RetryPolicy, ...], work: Mapping[str, Work]) -> Iterator[RetryPolicy]:
    """Yields the calls that a thing makes and that try again, and those behind calls without a limit."""
    for plan in outward:
        if plan.retries:
            yield plan
        if not _limited(plan):
            yield from work[plan.callee].retrying


def _limited(plan: RetryPolicy) -> bool:
    return plan.limit is not None and plan.limit.high is not None


def end_of_call(plan: RetryPolicy, inside: Work, *, hangs: bool) -> CallsEnd:
    """Returns when one call ends; its tries hang, or take no longer than what they call says that it needs."""
    if _limited(plan):
        low, high = (plan, plan) if hangs else _as_stated(plan, inside)
        return CallsEnd(known_end(low) or ZERO, TimeTerm(longest_end(high)), (plan,))
    end = inside.hanging if hangs else inside.unhung
    bounded = plan.tries == 1 and inside.answer.bound is not None
    most, failures = inside.spent(end) if bounded else TimeTerm(None), known_failures(plan)
    if bounded:
        begins = max(plan.second_copy, _connects(plan))
        most = LONGEST.in_turn([most, TimeTerm(begins)]) if begins else most
        fails = [plan.failed_try(cause).high for cause in plan.known()]
        most = LONGEST.at_once([most, *(TimeTerm(time) for time in fails)]) if fails else most
    known = max(failures.low + max(end.known, inside.own), failures.high or ZERO)
    return CallsEnd(known, most, end.path)


def _connects(plan: RetryPolicy) -> Fraction:
    """Returns how long a try may take to connect (s), which is before its callee works; 0 where nothing says it."""
    call = plan.call
    connects = call.timeout_kind is not None and call.timeout_kind.text == "connect"
    return call.per_try.high if connects and isinstance(call.per_try, Quantity) else ZERO


def _as_stated(plan: RetryPolicy, inside: Work) -> tuple[RetryPolicy, RetryPolicy]:
    """Returns the call, of which no try takes longer than what is behind it: in a known run, and at most."""
    behind = inside.behind
    if not inside.complete or behind.high is None:
        return plan, plan
    return as_stated(plan, behind.low), as_stated(plan, behind.high)


def _below(outward: tuple[RetryPolicy, ...], work: Mapping[str, Work]) -> Iterator[tuple[RetryPolicy, Fraction]]:
    """Yields the calls behind limited calls, each with the shortest limit that it has above it."""
    widest: dict[RetryPolicy, Fraction] = {}
    for plan in outward:
        inside, limit = work[plan.callee], plan.whole_try.high if plan.whole_try is not None else None
        direct = dict.fromkeys((*inside.calls, *inside.retrying)) if limit is not None else ()
        further = ((inner, least(most, limit)) for inner, most in inside.below)
        for inner, most in (*((inner, limit) for inner in direct), *further):
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
    activity: str = ""  # the one that it ends: others of the thing go on outside it


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


def sent_again(design: Design, plans: Iterable[RetryPolicy]) -> tuple[str, ...]:
    """Returns what answers that come too late show to be wrong: workloads that ask again send more than their rate."""
    again = (plan.caller for plan in plans if plan.retries and any(cause.name == "timeout" for cause in plan.causes))
    return tuple(RETRIES_APART.format(name) for name in dict.fromkeys(again) if name in design.workload)


def of_one_gang(design: Design, cycle: Collection[str]) -> bool:
    """Decides whether the things of a cycle are jobs of one gang, which exchange after each step and answer nobody."""
    from coherence.model.gangs import are_one_gang

    return are_one_gang(design, cycle)

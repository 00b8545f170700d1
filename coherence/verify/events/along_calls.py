"""Computes how long an activity takes in which a thing makes its calls, for the graph of events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.places import Place
from coherence.language.call_cases import is_conditional
from coherence.language.design import Call, Component, Design
from coherence.language.roles import role, time_of
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.answer_times import ANSWERS, AnswerTime, through
from coherence.verify.calls.attempts import ZERO
from coherence.verify.calls.call_graph import (
    NO_WAIT,
    CallTree,
    Work,
    call_tree,
    end_of_call,
    in_turn,
    open_time,
    own_times,
)
from coherence.verify.calls.compositions import composed_case
from coherence.verify.calls.retry_policies import RetryPolicy
from coherence.verify.timers.firing import FiringWindow

CONTAINED = "whether the own time of {} contains that of its calls (what makes none is `apart`, in its `roles`)"
ORDER = "the order of the calls of {}: `stage` of each, `case` where it makes one of them"
CONTAINS = "where tries of its calls fail, the own time of {} contains theirs"
SUCCEEDS = "no call of {} fails sooner than it would be answered"


@dataclass(frozen=True)
class CallingTime:
    """Seconds that an activity takes with the calls that are made in it: never outside `window`.

    `reached`: from the shortest run in which no call fails to one that lasts as long as can happen.  `open`: what would
    say where in the window it ends; empty where that is known.
    """

    window: FiringWindow
    reached: FiringWindow
    open: str
    assumptions: tuple[str, ...]


@dataclass(frozen=True)
class Calling:
    """An activity in which a thing makes its calls, `inside`.

    `calm`: its own time contains that of tries that fail.  `failing`: it adds to that.
    """

    calm: CallingTime
    failing: CallingTime
    inside: tuple[str, ...]
    places: tuple[Place, ...]


def calling(design: Design, component: Component, activity: str) -> Calling | None:
    """Returns the time of an activity that answers callers by calls; None where no call is made in it."""
    tree = call_tree(design) if design.calls else None
    if tree is None or component.name not in tree.of_caller or role(component, activity) != "answer":
        return None
    name, own = component.name, (component.takes or {})[activity]
    work = tree.work[name]
    shortest = max(own.low, work.answer.least) if own is work.serve else own.low
    assumed = (*_assumed(tree, name), SUCCEEDS.format(name))
    inside = tuple(dict.fromkeys((*(plan.name for plan in work.calls), *work.answer.inside)))
    return Calling(
        _time(own, shortest, _calm(work, own, name), (*assumed, CONTAINS.format(name))),
        _time(own, shortest, _failing(work, own, name), assumed),
        inside, tuple(q.place for q in work.answer.stated if q is not own),
    )  # fmt: skip


def _time(
    own: Quantity, shortest: Fraction, run: tuple[Fraction, Fraction | None, str], assumed: tuple[str, ...]
) -> CallingTime:
    known, longest, needs = run
    window, reached = FiringWindow(own.low, longest), FiringWindow(shortest, known)
    return CallingTime(window, reached, "" if known == longest else needs, assumed)


def _calm(work: Work, own: Quantity, name: str) -> tuple[Fraction, Fraction | None, str]:
    """Returns the longest known run in which no try fails, a bound, and what is open.

    The bound adds calls that do not fail to its own time, and is that of calls of which any try may fail.
    """
    answer, failing = work.answer, None if work.cyclic else work.unhung.most.bound
    known = max(own.high, answer.most) if own is work.serve else own.high
    if answer.bound is None or failing is None:
        return known, None, answer.open[0] if answer.open else open_time(work, name)
    bound = answer.bound if own is work.serve else own.high + answer.bound
    return known, max(bound, failing), _order(work, name) if bound >= failing else CONTAINED.format(name)


def _failing(work: Work, own: Quantity, name: str) -> tuple[Fraction, Fraction | None, str]:
    """Returns the longest known run, a bound of all, and what is open."""
    calls = None if work.cyclic else work.unhung.most.bound
    known = max(own.high, work.unhung.known) if own is work.serve else own.high
    if calls is None:
        return known, None, open_time(work, name)
    return known, own.high + calls, _order(work, name)


def _order(work: Work, name: str) -> str:
    return ORDER.format(work.answer.unordered[0]) if work.answer.unordered else CONTAINED.format(name)


@dataclass(frozen=True)
class CallBegin:
    """What a call begins: the answer `effect` of its callee, so long after the answer `cause` of its caller began."""

    cause: str
    effect: str
    name: str
    place: Place
    time: CallingTime


def call_begins(design: Design) -> Iterator[CallBegin]:
    """Yields every call that each request of its caller makes, between things that say how long they answer."""
    if not design.calls:
        return
    tree = call_tree(design)
    for plan in tree.plans:
        caller, callee = (answering(design, thing) for thing in (plan.caller, plan.callee))
        if caller and callee and plan.call.callee is not None and _always_made(tree, plan):
            place = plan.call.callee.place
            yield CallBegin(f"{caller} starts", f"{callee} starts", plan.name, place, _begin(tree, plan))


def _always_made(tree: CallTree, plan: RetryPolicy) -> bool:
    """Decides whether each request makes the call, and no limit cuts what answers it."""
    most, limit = tree.work[plan.callee].behind.high, plan.limit
    cut = limit is not None and not plan.streams and (most is None or most > limit.low)
    alone = len(tree.cases.get(plan.caller, ())) == 1 and not is_conditional(plan.call)
    return alone and not cut and not tree.on_cycle(plan)


def answering(design: Design, thing: str) -> str:
    """Returns the activity in which a thing answers; empty where it is none or several."""
    component = design.components.get(thing)
    whole = time_of(component, "answer")
    takes = (component.takes or {}) if component is not None else {}
    return next((f"{thing}.{activity}" for activity, span in takes.items() if span is whole), "")


def _begin(tree: CallTree, plan: RetryPolicy) -> CallingTime:
    """Returns when the try of a call that succeeds starts: at once, after calls before it and tries that fail."""
    case = tree.cases[plan.caller][0]
    stages = next((k for k, stage in enumerate(case.stages) if any(plan.call in chain for chain in stage)), 0)
    earlier = replace(case, stages=case.stages[:stages] if case.in_order else ())
    policies = {other.call: other for other in tree.of_caller[plan.caller]}

    def answer(call: Call) -> AnswerTime:
        return through(policies[call], tree.work[policies[call].callee].answer)

    before = composed_case(earlier, answer, ANSWERS) or AnswerTime(bound=ZERO)
    ahead = [call for stage in earlier.stages for chain in stage for call in chain]
    ahead = ahead if case.in_order else [call for call in policies if call is not plan.call]
    ends = [end_of_call(policies[call], tree.work[policies[call].callee], hangs=False).most.bound for call in ahead]
    ends += [end_of_call(plan, tree.work[plan.callee], hangs=False).most.bound] if plan.retries else []
    waits = None if None in ends else sum((end for end in ends if end is not None), tree.work[plan.caller].own)
    needs = f"when {plan.caller} calls {plan.callee} in its answer, and how often"
    return CallingTime(
        FiringWindow(ZERO, waits), FiringWindow(before.least, before.most), needs,
        (f"each request of {plan.caller} calls {plan.callee}, and a try succeeds", NO_WAIT.format(plan.callee)),
    )  # fmt: skip


def _assumed(tree: CallTree, name: str) -> Iterator[str]:
    """Yields what is taken for granted of the calls of a thing."""
    work = tree.work[name]
    yield from in_turn(work, name)
    yield from own_times(tree, [silent for silent in work.answer.silent if silent in tree.of_caller])
    yield from (NO_WAIT.format(plan.callee) for plan in tree.of_caller[name])

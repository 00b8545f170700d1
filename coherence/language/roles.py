"""Reads roles: what an activity is to a caller, and what a count counts: members, or sends.

What an activity is to a caller says its component (`roles: {respond: answer}`), or its use (a timer that starts it
makes it no part of an answer), or else its name, by this table.  A name that stands nowhere has no role: a question
to which it may matter asks for one.
"""

from __future__ import annotations

from coherence.base.queries import cached
from coherence.base.units import SECOND
from coherence.language.design import Component, Design, Limit, Timer
from coherence.language.expressions.tree import Call as Function
from coherence.language.expressions.tree import Name, Tree
from coherence.language.schema_kinds import Quantity
from coherence.language.words import ACTIVITIES, COUNTS, STATES

SENT = STATES["sent"]  # of a callee: every send to it counts
RUNS = frozenset({"run", "work", "execute", "execution", "process", "compute"})  # names of a whole life
_ROLE = {name: role for role, names in ACTIVITIES.items() for name in names}


def role(component: Component, activity: str) -> str:
    """Returns the role of an activity, stated or by its name; empty where neither says it."""
    stated = (component.roles or {}).get(activity)
    return stated.text if stated is not None else _ROLE.get(activity, "")


def whole_life(design: Design, thing: str) -> str:
    """Returns the only activity of a thing that nobody calls, where that is a whole life (`run`); else nothing."""
    component = design.components.get(thing)
    activities = tuple(component.takes or ()) if component is not None else ()
    called = any(call.callee is not None and call.callee.text == thing for call in design.calls)
    return activities[0] if len(activities) == 1 and activities[0] in RUNS and not called else ""


@cached
def _started(design: Design) -> dict[str, str]:
    """Returns the activities that a timer starts, each with the timer: they wait for no caller."""
    timers = [timer for timer in design.timers.values() if timer.then is not None and timer.then.kind == "starts"]
    started = {timer.then.subject: timer.name for timer in timers if timer.then and not _by_a_request(design, timer)}
    while more := [timer for timer in timers if _follows(design, timer, started)]:
        started |= {timer.then.subject: timer.name for timer in more if timer.then}
    return started


def _follows(design: Design, timer: Timer, started: dict[str, str]) -> bool:
    """Returns whether a timer that is not in the list runs from an activity that is, and is no part of an answer."""
    start, then = timer.start, timer.then
    if start is None or then is None or start.subject not in started or then.subject in started:
        return False
    component = design.components.get(start.thing)
    return component is not None and role(component, start.activity) in ("", "apart")


def _by_a_request(design: Design, timer: Timer) -> bool:
    """Returns whether what starts a timer may be the request itself: an activity of the same thing, or a call to it."""
    start, thing = timer.start, timer.then.thing if timer.then else ""
    if start is None:
        return False
    if start.kind == "outside":
        return bool({*design.components, *design.workload, "call", "calls", "request"} & set(start.text.split()))
    return start.thing == thing and start.subject != thing


def started_apart(design: Design, name: str) -> dict[str, str]:
    """Returns the activities of a thing that wait for no caller because a timer starts them, each with the timer."""
    component = design.components.get(name)
    known = _started(design)
    takes = (component.takes or {}) if component is not None else {}
    return {a: known[f"{name}.{a}"] for a in takes if component and not role(component, a) and f"{name}.{a}" in known}


def unknown_activities(design: Design, name: str) -> dict[str, Quantity]:
    """Returns the activities of a thing of which nothing says what they are to a caller."""
    component = design.components.get(name)
    if component is None or not component.takes:
        return {}
    known = _started(design)
    return {a: q for a, q in component.takes.items() if not role(component, a) and f"{name}.{a}" not in known}


def others_of_an_answer(design: Design, name: str) -> dict[str, Quantity]:
    """Returns the activities of a thing that may be parts of an answer beside those that `time_of` counts."""
    component = design.components.get(name)
    takes = (component.takes or {}) if component is not None else {}
    if component is None or not takes:
        return {}
    counted = {a for a, word in (component.roles or {}).items() if word.text == "answer" and a in takes}
    counted = counted or {*[a for a in ACTIVITIES["answer"] if a in takes and role(component, a) == "answer"][:1]}
    answers = (a for a in takes if a not in counted and role(component, a) == "answer")
    return {**unknown_activities(design, name), **{activity: takes[activity] for activity in answers}}


def time_of(component: Component | None, wanted: str) -> Quantity | None:
    """Returns the time of the activities in one role: of all that state it, else of the first in the table's order."""
    takes = component.takes if component is not None else None
    if component is None or not takes:
        return None
    stated = [takes[a] for a, word in (component.roles or {}).items() if word.text == wanted and a in takes]
    if stated:
        return _sum(stated)
    by_name = (takes[a] for a in ACTIVITIES[wanted] if a in takes and role(component, a) == wanted)
    return next(by_name, None)


def _sum(parts: list[Quantity]) -> Quantity:
    if len(parts) == 1:
        return parts[0]
    low, high = sum(q.low for q in parts), sum(q.high for q in parts)
    return Quantity(low, high, SECOND, " + ".join(q.text for q in parts), parts[0].place)  # type: ignore[arg-type]


def in_role(component: Component, wanted: str) -> list[tuple[str, Quantity]]:
    """Returns all activities of a component in one role."""
    return [(a, q) for a, q in (component.takes or {}).items() if role(component, a) == wanted]


def counts(word: str, *kinds: str) -> bool:
    """Decides whether the last word of a signal says that it counts members of one of these kinds."""
    return any(word in COUNTS[kind] for kind in kinds)


def counted_sends(design: Design, counted: Tree | None) -> tuple[str | None, str | None]:
    """Returns what is sent to, and the one workload whose sends are counted (None: everybody's).

    `attempts(api)`, `api.requests` and, of a workload that calls nothing else, `jobs.attempts` or `jobs.requests`.
    """
    match counted:
        case Function(function="attempts", arguments=(Name(path=callee),)):
            return callee, None
        case Name(path=path):
            thing, _, signal = path.partition(".")
            called = {call.callee.text for call in design.calls if call.callee is not None}
            own = {c.callee.text for c in design.calls if c.caller is not None and c.callee is not None
                   and c.caller.text == thing}  # fmt: skip
            if signal in SENT and thing in called:
                return thing, None
            if signal in SENT and thing in design.workload and len(own) == 1:
                return next(iter(own)), thing
    return None, None


def sends_that_wait(design: Design, limit: Limit) -> tuple[str | None, str | None]:
    """Returns what tries are sent to that wait where a limit in a window is full, and whose (None: everybody's)."""
    waits = limit.window is not None and (limit.when_full is None or limit.when_full.text == "wait")
    return counted_sends(design, limit.counts.tree) if waits and limit.counts is not None else (None, None)

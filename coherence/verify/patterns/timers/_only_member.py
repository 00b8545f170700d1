"""Asks of a timer that takes the members of a thing off the list whether that happens to all in a healthy run.

A member that starts or drains is on no list by intention; one that works, or is at a task of its own, is called.  The
only one may be at either; of several all may work at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject
from coherence.language.design import Call, Timer
from coherence.language.entries.actions import acted_on, action_in
from coherence.language.expressions.tree import names
from coherence.language.roles import role
from coherence.verify.events.graph import UP_OR_DOWN
from coherence.verify.facts.design_facts import copies, known
from coherence.verify.patterns.timers import _overrun
from coherence.verify.patterns.timers._overrun import OverrunCase
from coherence.verify.timers.firing import action_of

UNLISTED_BY_INTENTION = ("start", "drain")


def answer(subject: Subject, question: Question, case: OverrunCase) -> Finding | None:
    """Returns the conflict of a healthy activity in which nobody is left on the list, or what is to be known of it.

    None where another member is left, or may be by a limit, nobody calls, or each call has a fallback.
    """
    thing, activity = _unlisted(case.timer), case.timer.start.activity if case.timer.start is not None else ""
    component = subject.design.components.get(thing)
    callers = tuple(_left_alone(subject, thing))
    if component is None or not callers or not activity or activity not in (component.takes or {}):
        return None
    part, members = role(component, activity), copies(known(subject), thing)
    if part in UNLISTED_BY_INTENTION or members is None or members.low is None:
        return None
    several = members.low > 1
    if several and (part != "answer" or members.high is None or _spares_some(subject, thing)):
        return None
    if not part:
        either = f"`roles: {{{activity}: start}}` where it is not, `apart` where it is"
        needs = f"needs whether the only {thing} is on the list while it is at {activity}: {either}"
        return _overrun.undecided(question, replace(case, needs=needs))
    if case.relation == "unknown":
        return _overrun.undecided(question, case)
    alone = members.high is not None and members.high <= 1
    reached = case if alone else replace(case, relation="possible")
    for_whom = " and ".join(call.name for call in callers)
    words = f"; no other {thing} is left on the list for {for_whom}"
    if several:
        words = f"; while all of {thing} answer, none is left on the list for {for_whom}"
    return _overrun.conflict(question, reached, repairs=tuple(_overrun.raised(subject, case)), consequence=words)


def _spares_some(subject: Subject, thing: str) -> bool:
    """Decides whether a limit may hold back how many members of a thing are taken off the list."""
    trees = (limit.counts.tree for limit in subject.design.limits.values() if limit.counts is not None)
    signals = (path.partition(".") for tree in trees for path in names(tree))
    return any(name == thing and word in UP_OR_DOWN for name, _, word in signals)


def _unlisted(timer: Timer) -> str:
    """Returns the thing of which a timer takes the member off the list that is at the activity it runs from."""
    then = timer.then.text if timer.then is not None else ""
    removes = "takes off the list" in (action_in(then), action_of(timer))
    own = timer.start is not None and timer.start.kind == "starts" and timer.start.thing == acted_on(then)
    return acted_on(then) if removes and own else ""


def _left_alone(subject: Subject, thing: str) -> Iterator[Call]:
    """Yields the calls to a thing of whose failure no other call takes the place."""
    calls = subject.design.calls
    fallbacks = [call for call in calls if call.fallback_for is not None and call.fallback_for.text == thing]
    spared = {call.caller.text for call in fallbacks if call.caller is not None}
    for call in calls:
        alone = call.caller is None or call.caller.text not in spared
        if alone and call.callee is not None and call.callee.text == thing:
            yield call

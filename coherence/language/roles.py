"""Reads roles: what an activity is to a caller, and what a count counts: members, sends or their tokens.

What an activity is to a caller says its component (`roles: {respond: answer}`), or its use (a timer that starts it
makes it no part of an answer), or else its name, by this table.  A name that stands nowhere has no role: a question
to which it may matter asks for one.  `web ready` is the end of what is its start, where nothing else says when that is.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.base.units import SECOND
from coherence.language.design import Component, Design, Job, Limit, Timer
from coherence.language.distributions import quantile_points
from coherence.language.expressions.tree import Call as Function
from coherence.language.expressions.tree import Name, Tree
from coherence.language.names import state_variable
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Event, Promise
from coherence.language.words import ACTIONS, ACTIVITIES, COUNTS, HOOKS, PAUSES, STATES, TOKENS
from coherence.language.workloads import Spread2, Workload

SENT = STATES["sent"]  # of a callee: every send to it counts
OF_WORDS = {word: part for part, words in TOKENS.items() for word in words}
STATED_BY = {"both": "`prompt` and `answer`, or `tokens`", "prompt": "`prompt`", "answer": "`answer`"}
COUNTED = "each send counts in {} by the {} tokens of its request when it is sent"
NAMED = {"both": "prompt and answer", "prompt": "prompt", "answer": "answer"}

RUNS = frozenset({"run", "work", "execute", "execution", "process", "compute"})  # names of a whole life
_ROLE = {name: role for role, names in ACTIVITIES.items() for name in names}
SPELLINGS_OF_READY = ("{} ready", "{} is ready", "{} becomes ready", "{} gets ready")
LISTING = ("list", "register", "admit", "enable")  # what makes a member ready later than its start does
_SPELLED = re.compile(r"\b[a-z][a-z0-9_]* (?:is |becomes |gets )?ready\b")


def role(component: Component, activity: str) -> str:
    """Returns the role of an activity, stated or by its name; empty where neither says it."""
    stated = (component.roles or {}).get(activity)
    return stated.text if stated is not None else _ROLE.get(activity, "")


@cached
def things(design: Design) -> dict[str, Component]:
    """Returns the things of a design that may have activities, by name: its components, and its jobs as such.

    `end` of a job is no activity of its runs: it holds what it has for so long once it is evicted.
    """
    jobs = {job.name: Component(name=job.name, place=job.place, takes=_of_runs(job)) for job in design.jobs.values()}
    return {**jobs, **design.components}


def _of_runs(job: Job) -> dict[str, Quantity]:
    return {activity: time for activity, time in (job.takes or {}).items() if activity != "end"}


def whole_life(design: Design, thing: str) -> str:
    """Returns the only activity of a thing that nobody calls, where that is a whole life (`run`); else nothing."""
    component = things(design).get(thing)
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
    by_name = [a for a in ACTIVITIES[wanted] if a in takes and role(component, a) == wanted]
    hooks = [a for a in by_name[1:] if a in HOOKS and by_name[0] not in HOOKS]
    return _sum([takes[a] for a in (*by_name[:1], *hooks)]) if by_name else None


def stated_drain(component: Component | None, activity: str) -> Quantity | None:
    """Returns how long an activity takes that is the drain of a thing which states it as `drain: 60 s`."""
    if component is None or role(component, activity) != "drain":
        return None
    return next((q for word in ACTIVITIES["drain"] if isinstance(q := component.constants.get(word), Quantity)), None)


def _sum(parts: list[Quantity]) -> Quantity:
    if len(parts) == 1:
        return parts[0]
    low, high = sum(q.low for q in parts), sum(q.high for q in parts)
    return Quantity(low, high, SECOND, " + ".join(q.text for q in parts), parts[0].place)  # type: ignore[arg-type]


def in_role(component: Component, wanted: str) -> list[tuple[str, Quantity]]:
    """Returns all activities of a component in one role."""
    return [(a, q) for a, q in (component.takes or {}).items() if role(component, a) == wanted]


def pause_of(design: Design, thing: str) -> tuple[str, Quantity] | None:
    """Returns the activity in which a thing stands still, the longest of several; None where none has a word for it."""
    component = design.components.get(thing)
    takes = (component.takes or {}) if component is not None else {}
    pauses = [
        (name, time) for name, time in takes.items() if name in PAUSES and component and not role(component, name)
    ]
    return max(pauses, key=lambda pause: pause[1].high, default=None)


def counts(word: str, *kinds: str) -> bool:
    """Decides whether the last word of a signal says that it counts members of one of these kinds."""
    return any(word in COUNTS[kind] for kind in kinds)


@dataclass(frozen=True)
class SendWorth:
    """What one send counts in a quota: a mean of `low` to `high`, each `least` to `most` (None: no end)."""

    low: Fraction = Fraction(1)
    high: Fraction = Fraction(1)
    least: Fraction = Fraction(1)
    most: Fraction | None = Fraction(1)

    def __add__(self, other: SendWorth) -> SendWorth:
        most = None if self.most is None or other.most is None else self.most + other.most
        return SendWorth(self.low + other.low, self.high + other.high, self.least + other.least, most)


@dataclass(frozen=True)
class SendCount:
    """What a limit counts of the sends to a callee, of one workload or (None) of everybody.

    `part`: which tokens of their requests count; empty where each send counts once.
    """

    callee: str
    caller: str | None = None
    part: str = ""

    @property
    def unit(self) -> str:
        """Returns what is counted, as a unit."""
        return "token" if self.part else "req"

    def places(self, workload: Workload) -> tuple[Place, ...]:
        """Returns where the tokens of a request are stated."""
        means = [own.mean if isinstance(own, Spread2) else own for own in self.lengths(workload)]
        return tuple(mean.place.labelled("so many tokens has a request") for mean in means if mean is not None)

    def lengths(self, workload: Workload) -> tuple[Spread2 | Quantity | None, ...]:
        """Returns the lengths of a request that count; none where each send counts once."""
        whole = self.part == "both" and workload.tokens is not None
        return () if not self.part else (workload.tokens,) if whole else self._parts(workload)

    def _parts(self, workload: Workload) -> tuple[Spread2 | Quantity | None, ...]:
        own = {"prompt": (workload.prompt,), "answer": (workload.answer,)}
        return own.get(self.part, (workload.prompt, workload.answer))

    def worth(self, workload: Workload) -> SendWorth | None:
        """Returns what a send for a request of a workload counts; None where its tokens are not stated."""
        if not self.part:
            return SendWorth()
        if self.part == "both" and workload.tokens is not None:
            return _worth(workload.tokens)
        parts = [_worth(own) for own in self._parts(workload)]
        both = [own for own in parts if own is not None]
        return sum(both[1:], both[0]) if both and len(both) == len(parts) else None

    def lacking(self, workloads: Iterable[Workload]) -> str:
        """Returns what to ask for before the sends of these workloads can be counted; nothing where all is stated."""
        names = dict.fromkeys(workload.name for workload in workloads if self.worth(workload) is None)
        return f"the tokens of {' and '.join(names)} ({STATED_BY[self.part]})" if names else ""

    def assumed(self, limit: Limit) -> tuple[str, ...]:
        """Returns what is taken for granted where tokens are counted."""
        return (COUNTED.format(limit.name, NAMED[self.part]),) if self.part else ()


def own_workload(design: Design, thing: str) -> Workload | None:
    """Returns the workload that comes to a thing without a call, as it has the name of the component; or None."""
    return design.workload.get(thing) if thing in design.components else None


def send_count(design: Design, limit: Limit) -> SendCount | None:
    """Returns what a limit counts of the sends to a thing; None where it counts something else.

    `attempts(api)`, `api.requests` and, of a workload that calls nothing else, `jobs.attempts` or `jobs.requests`; in a
    window also `api.tokens` or `jobs.tokens`, where nothing else states such a signal.
    """
    return _counted(design, limit.counts.tree, limit.window is not None) if limit.counts is not None else None


def waits_in_window(design: Design, limit: Limit) -> bool:
    """Decides whether tries wait where a limit in a window on what is sent is full."""
    waits = limit.window is not None and (limit.when_full is None or limit.when_full.text == "wait")
    return waits and send_count(design, limit) is not None


def _counted(design: Design, counted: Tree, in_window: bool) -> SendCount | None:
    match counted:
        case Function(function="attempts", arguments=(Name(path=callee),)):
            return SendCount(callee)
        case Name(path=path):
            thing, _, signal = path.partition(".")
            part = OF_WORDS.get(signal, "") if in_window and not is_stated(design, thing, signal) else ""
            called = {call.callee.text for call in design.calls if call.callee is not None}
            own = {c.callee.text for c in design.calls if c.caller is not None and c.callee is not None
                   and c.caller.text == thing}  # fmt: skip
            if (signal in SENT or part) and thing in called:
                return SendCount(thing, None, part)
            if (signal in SENT or part) and thing in design.workload and len(own) == 1:
                return SendCount(next(iter(own)), thing, part)
    return None


def is_stated(design: Design, thing: str, signal: str) -> bool:
    """Decides whether a thing, or a loop, says itself what a signal is: then it is no count of what is sent."""
    component = design.components.get(thing)
    own = component is not None and (
        signal in component.constants or signal in (component.takes or {}) or signal == state_variable(component)
    )
    return own or any(loop.written == f"{thing}.{signal}" for loop in design.loops.values())


def _worth(stated: Spread2 | Quantity | None) -> SendWorth | None:
    """Returns the tokens of a request as stated; the mean of what `max` cuts is somewhere below the stated one."""
    if isinstance(stated, Quantity):
        return SendWorth(stated.low, stated.high, stated.low, stated.high) if _plain(stated) else None
    if stated is None or stated.mean is None or not _plain(stated.mean):
        return None
    mean, top = stated.mean, stated.max
    constant = (stated.law is not None and stated.law.text == "constant") or (
        stated.cv is not None and not stated.cv.high
    )
    if constant and (top is None or top.low >= mean.high):
        return SendWorth(mean.low, mean.high, mean.low, mean.high)
    points = [value for _, value in quantile_points(stated)]
    least = points[0].low if points else Fraction(0)
    ends = [*points[-1:], *([top] if top is not None else [])]
    return SendWorth(
        mean.low if top is None else least, mean.high, least, min((end.high for end in ends), default=None)
    )


def _plain(value: Quantity) -> bool:
    return not value.dimension.physical.powers


def speaks_of_ready(text: str) -> bool:
    """Decides whether a text may say that something is ready: what that means depends on other entries."""
    return "ready" in text and _SPELLED.search(text) is not None


def with_readiness(design: Design) -> Design:
    """Returns the design in which a member is ready as soon as its start is over.

    A timer that brings the event, puts the member on a list or takes it off one says when it is ready instead.
    """
    ready = _ready_events(design)
    if not ready:
        return design
    return design.replace(
        timers={name: _with_ready_timer(timer, ready) for name, timer in design.timers.items()},
        promises={name: _with_ready_promise(promise, ready) for name, promise in design.promises.items()},
    )


def _ready_events(design: Design) -> Mapping[str, str]:
    """Returns the activity whose end each spelling stands for."""
    by_spelling = dict[str, str]()
    for name, component in design.components.items():
        begins = [activity for activity, _ in in_role(component, "start")]
        spelled = [spelling.format(name) for spelling in SPELLINGS_OF_READY]
        if (
            begins
            and not _may_go_on(component)
            and not any(_says_when(timer, name, spelled) for timer in design.timers.values())
        ):
            by_spelling |= dict.fromkeys(spelled, f"{name}.{begins[-1]}")
    return by_spelling


def _may_go_on(component: Component) -> bool:
    """Decides whether work of which nothing says what it is follows a start, before the first answer."""
    roles = [role(component, name) for name in component.takes or {}]
    last = max(n for n, word in enumerate(roles) if word == "start")
    before = itertools.takewhile(lambda word: word not in ("answer", "first byte"), roles[last + 1 :])
    return "" in before and not {"answer", "first byte"}.isdisjoint(roles[last + 1 :])


def _says_when(timer: Timer, thing: str, spelled: list[str]) -> bool:
    """Decides whether a timer brings the event that a thing is ready, or lists or unlists it by looks of its own."""
    words = timer.then.text if timer.then is not None else ""
    first, _, rest = words.partition(" ")
    after_it = timer.start is not None and timer.start.text in spelled
    named = (event.text.replace(".", " ").split() for event in (timer.start, timer.then) if event is not None)
    holds_back = timer.part is not None and timer.part.text == "startup_probe"  # until a look of its own succeeds
    looks = timer.every is not None and (holds_back or first not in (*ACTIONS["ends"], *ACTIONS["tells"]))
    lists = (first in LISTING and rest == thing and not after_it) or (looks and any(thing in names for names in named))
    return words in spelled or lists


def _read_as_end(event: Event | None, ready: Mapping[str, str]) -> Event | None:
    if event is None or event.kind != "outside" or event.of or event.text not in ready:
        return event
    subject = ready[event.text]
    return replace(event, kind="ends", subject=subject, text=f"{subject} ends")


def _with_ready_timer(timer: Timer, ready: Mapping[str, str]) -> Timer:
    start, unless = _read_as_end(timer.start, ready), _read_as_end(timer.unless, ready)
    return timer if (start, unless) == (timer.start, timer.unless) else timer.replace(start=start, unless=unless)


def _with_ready_promise(promise: Promise, ready: Mapping[str, str]) -> Promise:
    first, second = _read_as_end(promise.first, ready), _read_as_end(promise.second, ready)
    same = (first, second) == (promise.first, promise.second)
    return promise if same else replace(promise, first=first, second=second)

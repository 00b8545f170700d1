"""Computes how long the first member may wait at a barrier for the last, against the watchdog there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings import repairs as edits
from coherence.findings.finding import Edit, Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Component, Design, Loop, Timer
from coherence.language.entries.actions import resized_by
from coherence.language.roles import pause_of, role
from coherence.language.schema_kinds import Quantity
from coherence.language.shared_rates import ComputedQuantity
from coherence.language.words import MEMBER
from coherence.model.gangs import gang_of
from coherence.verify.events import event_ways, graph
from coherence.verify.events.firing_gaps import owner
from coherence.verify.events.graph import Chain, EventLink
from coherence.verify.events.orders import between, hull, total
from coherence.verify.patterns.timers._overrun import Figures
from coherence.verify.timers import firing, repairs
from coherence.verify.timers.firing import NOW, Firing, FiringWindow


@dataclass(frozen=True)
class TimedBarrier:
    """The step that all members of a component must end, and the pauses that one of them may have in it: set by loops,
    or (without one) stated as an activity in which a member stands still.

    `before`: how long each member takes until then, from `together`, which starts that in all of them; with the places.
    `alone`: there is never another member to wait for.
    """

    component: Component
    activity: str
    step: Quantity
    pauses: tuple[tuple[Loop | None, str, Quantity], ...]
    before: FiringWindow = NOW
    together: str = ""
    places_before: tuple[Place, ...] = ()
    alone: bool = False

    @property
    def loops(self) -> tuple[str, ...]:
        """Returns the loops that set pauses."""
        return tuple(loop.name for loop, _, _ in self.pauses if loop is not None)

    @property
    def step_window(self) -> FiringWindow:
        """Returns when a member ends its step, from what all of them start together."""
        return FiringWindow(self.step.low, self.step.high) + self.before

    @property
    def pause(self) -> FiringWindow:
        """Returns what one member may lose in a step, each pause once."""
        longest = {name: span.high for _, name, span in self.pauses}
        return FiringWindow(Fraction(0), sum(longest.values(), Fraction(0)))

    @property
    def wait(self) -> Fraction:
        """Returns the longest wait of the first member for the last, in seconds."""
        if self.alone:
            return Fraction(0)
        return firing.longest_wait(self.step_window, self.pause) or Fraction(0)


def answer(subject: Subject, question: Question, timer: Timer) -> Finding:
    """Answers whether the watchdog outlasts the longest wait."""
    barrier, fires = _barrier(subject.design, timer), firing.firing(timer)
    if isinstance(barrier, str) or fires is None:
        needs = barrier if isinstance(barrier, str) else f"{firing.missing(timer)} of {timer.name}"
        return question.undecided(
            f"needs {needs}", _timer_places(timer), (timer.name, *_loops_on(subject.design, timer))
        )
    if barrier.wait < fires.window.earliest:
        needs = _perhaps_in_a_step(barrier, fires)
        places = _places(timer, barrier, fires)
        return (
            question.undecided(needs, places, _names(timer, barrier))
            if needs
            else _proved(question, timer, barrier, fires)
        )
    return _conflict(subject, question, timer, barrier, fires)


def _perhaps_in_a_step(barrier: TimedBarrier, fires: Firing) -> str:
    """Returns what to ask of an activity that is apart from answers by its name alone (`checkpoint`): others may wait
    for it, if one member does it in a step.
    """
    component, before = barrier.component, {(place.line, place.column) for place in barrier.places_before}
    for activity, span in (component.takes or {}).items():
        counted = activity == barrier.activity or (span.place.line, span.place.column) in before
        named = role(component, activity) == "apart" and activity not in (component.roles or {})
        if named and not counted and not barrier.alone and barrier.wait + span.high >= fires.window.earliest:
            longest = f"up to {render_seconds(barrier.wait + span.high)} against {between(fires.window)}"
            return (
                f"needs whether others wait in a step for a {component.name} that may {activity}, then {longest} "
                f"(`roles: {{{activity}: apart}}`: it goes on beside)"
            )
    return ""


def _timer_places(timer: Timer) -> tuple[Place, ...]:
    ends = timer.unless.place.labelled("the wait ends here") if timer.unless is not None else timer.place
    return (ends, timer.place.labelled("decides about this timer"))


def _loops_on(design: Design, timer: Timer) -> tuple[str, ...]:
    thing = timer.start.subject if timer.start is not None else ""
    return tuple(loop.name for loop in design.loops.values() if loop.written.partition(".")[0] == thing)


def _barrier(design: Design, timer: Timer) -> TimedBarrier | str:
    """Returns the barrier, or the fact that is missing."""
    start, unless = timer.start, timer.unless
    assert start is not None
    assert unless is not None
    thing = start.subject
    if unless.of != "all" or unless.kind != "ends" or unless.thing != thing:
        return f"the activity that {thing} waits for: `unless: all of {thing}.step end`"
    component = design.components.get(thing)
    takes = (component.takes or {}) if component is not None else {}
    if component is None or unless.activity not in takes:
        return f"{unless.activity} time of {thing}"
    pauses: list[tuple[Loop | None, str, Quantity]] = []
    gang = gang_of(design, thing)
    for loop in design.loops.values():
        owner, _, name = loop.written.partition(".")
        if loop.evicted == thing:
            return f"whether the others of {thing} go on without the one that {loop.name} evicts"
        if gang is not None and owner != thing and any(owner == job.name for job in gang.members):
            return f"what {loop.name} does to {owner}, for which {thing} waits: they call each other"
        if owner != thing or name in component.constants or name == unless.activity:
            continue
        if name not in takes:
            return f"{name} time of {thing} (set by {loop.name})"
        if _goes_beyond(loop, takes[name]):
            return f"{name} time of {thing}: the bounds of {loop.name} go beyond it"
        pauses.append((loop, name, takes[name]))
    pauses += _stated_pauses(design, [job.name for job in gang.members] if gang is not None else [thing], pauses)
    step, before = _slowest(design, component, timer), _before(design, thing, unless.activity)
    if isinstance(step, str):
        return step
    if isinstance(before, str):
        return before
    return TimedBarrier(
        component, unless.activity, step, tuple(pauses), *before, alone=gang is None and _is_one(design, component)
    )


def _stated_pauses(
    design: Design, things: Iterable[str], pauses: Iterable[tuple[Loop | None, str, Quantity]]
) -> Iterator[tuple[None, str, Quantity]]:
    """Yields the longest pause of all things that wait for each other, where no loop sets it."""
    stated = [pause for thing in things if (pause := pause_of(design, thing)) is not None]
    longest = max(stated, key=lambda pause: pause[1].high, default=None)
    if longest is not None and longest[0] not in {name for _, name, _ in pauses}:
        yield None, *longest


def _goes_beyond(loop: Loop, span: Quantity) -> bool:
    """Decides whether a loop may set an activity to longer than is stated of it."""
    most = [bound for bound in (loop.actuation.bounds if loop.actuation else ()) if isinstance(bound, Quantity)]
    return any(bound.dimension == span.dimension and bound.high > span.high for bound in most)


def _is_one(design: Design, component: Component) -> bool:
    """Decides whether a thing has one member at the most, whatever timers order."""
    orders = (timer.then.text for timer in design.timers.values() if timer.then is not None)
    one = isinstance(component.copies, Quantity) and component.copies.high <= 1
    return one and component.name not in map(resized_by, orders)


def _before(design: Design, thing: str, activity: str) -> tuple[FiringWindow, str, tuple[Place, ...]] | str:
    """Returns what each member does before the step, where timers lead to it from another activity of its own, and what
    all do together; or what is missing.
    """
    starts = f"{thing}.{activity} starts"
    ways = [_own_links(design, way, thing) for way in event_ways.chains(starts, graph.event_graph(design))]
    windows = [total(way) for way in ways if way]
    if not windows or any(link.kind == "follows" for way in ways for link in way):
        return NOW, starts, ()
    sooner = any(link.kind == "begins" and link.effect.endswith(" ends") for way in ways for link in way)
    if sooner or len(windows) < len(ways) or any(window.latest is None for window in windows):
        return f"whether all of {thing} start a {activity} together"
    places = [place for way in ways for link in way if link.kind in ("activity", "timer") for place in link.places]
    return hull(windows), ways[0][-1].cause, tuple(place.labelled("each member does this before") for place in places)


def _own_links(design: Design, way: Chain, thing: str) -> Chain:
    """Returns the links of a way that each member has of its own: from the last event that is one for all of them to
    its activities and to timers that stand for each of it.
    """
    shared = next((n for n, link in enumerate(way) if link.effect.startswith(("all of ", "first "))), len(way))
    own = [number for number, link in enumerate(way[:shared], 1) if _is_own(design, link, thing)]
    return way[: max(own, default=0)]


def _is_own(design: Design, link: EventLink, thing: str) -> bool:
    if link.kind != "timer":
        return link.kind == "activity" and link.name.startswith(f"{thing}.")
    timer = design.timers[link.name]
    return owner(design, timer) == (thing, True) or (timer.per is not None and timer.per.text in MEMBER)


def _slowest(design: Design, component: Component, timer: Timer) -> Quantity | str:
    """Returns the step that all members wait for, of all of a gang, from the shortest to the longest, or what is
    missing.
    """
    assert timer.unless is not None
    activity, gang = timer.unless.activity, gang_of(design, component.name)
    for other in gang.members if gang is not None else ():
        if activity not in (other.takes or {}):
            return f"{activity} time of {other.name}, for which {component.name} waits: they call each other"
    steps = [_step(design, job, timer) for job in (gang.members if gang is not None else (component,))]
    missing = next((step for step in steps if isinstance(step, str)), None)
    stated = [step for step in steps if not isinstance(step, str)]
    if missing is not None or len(steps) == 1:
        return missing or stated[0]
    own, (low, high) = _takes(component, activity), (min(s.low for s in stated), max(s.high for s in stated))
    also = tuple(step.place for step in stated)
    return ComputedQuantity(low, high, own.dimension, own.text, own.place, own.varies, also)


def _takes(component: Component, activity: str) -> Quantity:
    return (component.takes or {})[activity]


def _step(design: Design, component: Component, timer: Timer) -> Quantity | str:
    """Returns how long one thing takes for its step with the calls that it makes in it, or what is missing."""
    assert timer.unless is not None
    activity, subject = timer.unless.activity, f"{component.name}.{timer.unless.activity}"
    own, ways = _takes(component, activity), graph.with_failures(graph.event_graph(design))[f"{subject} ends"]
    other = next((link for link in ways if link.kind != "activity" and link.cause != f"{timer.name} fires"), None)
    if other is not None:
        return f"how soon {other.cause.removesuffix(' fires')} ends a {activity} of {component.name}"
    lasts = next(link for link in ways if link.kind == "activity")
    if lasts.missing or lasts.window.latest is None:
        return lasts.missing or f"{activity} time of {component.name}"
    if FiringWindow(own.low, own.high) == lasts.window:
        return own
    window, also = lasts.window, tuple(place for place in lasts.places if place != own.place)
    return ComputedQuantity(window.earliest, lasts.window.latest, own.dimension, own.text, own.place, own.varies, also)


def _names(timer: Timer, barrier: TimedBarrier) -> tuple[str, ...]:
    return (timer.name, *barrier.loops, barrier.component.name)


def _places(timer: Timer, barrier: TimedBarrier, fires: Firing) -> tuple[Place, ...]:
    thing, step = barrier.component.name, barrier.step
    watched = f"fires {between(fires.window)} after the first {thing} waits"
    places = [graph.values(timer)[0].labelled(watched)]
    for loop, name, span in barrier.pauses:
        places.append(span.place.labelled(f"{name} holds one {thing} for {between(FiringWindow(span.low, span.high))}"))
        if loop is None:
            continue
        signal = loop.actuation.signal if loop.actuation is not None else None
        where = signal.place if signal is not None else loop.place
        places.append(where.labelled(f"{loop.name} pauses by its own reading"))
    return (
        *places,
        *barrier.places_before,
        step.place.labelled(f"a {barrier.activity} takes {between(FiringWindow(step.low, step.high))}"),
    )


def _figures(barrier: TimedBarrier, fires: Firing) -> Figures:
    return {
        "fires at the earliest": (fires.window.earliest, "s"),
        "longest wait": (barrier.wait, "s"),
        "longest step": (barrier.step_window.latest or Fraction(0), "s"),
        "longest pause": (barrier.pause.latest or Fraction(0), "s"),
        "shortest step": (barrier.step_window.earliest, "s"),
    }


def _assumptions(barrier: TimedBarrier, fires: Firing) -> tuple[str, ...]:
    thing = barrier.component.name
    alone = [
        f"{loop.name} may {name} one {thing} and not another, once in a step" if loop is not None
        else f"a {name} of one {thing} comes once in a step"
        for loop, name, _ in barrier.pauses
    ]  # fmt: skip
    together = f"start a {barrier.activity} together"
    if barrier.before != NOW:
        together = f"begin together with '{barrier.together}' what leads to their {barrier.activity}"
    return (f"members of {thing} {together}", *alone, *fires.defaults)


def _proved(question: Question, timer: Timer, barrier: TimedBarrier, fires: Firing) -> Finding:
    step, thing = barrier.step_window, barrier.component.name
    facts = [f"(>= fires {fires.lower})", f"(>= fast {rational(step.earliest)})"]
    facts.append(f"(<= slow {rational(step.latest or Fraction(0))})")
    facts.append(f"(<= pause {rational(barrier.pause.latest or 0)})")
    if barrier.wait == 0:
        facts.append("(= (+ slow pause) fast)")
    constants = dict.fromkeys(("fires", "slow", "fast", "pause"), "Real")
    script = Certificate(constants, tuple(facts), "(< (- (+ slow pause) fast) fires)").script()
    times = f"{render_seconds(barrier.wait)} at most against {between(fires.window)}"
    message = f"{timer.name} outlasts every wait of {thing}: {times}"
    evidence = arithmetic(_figures(barrier, fires), certificate=script)
    places, names = _places(timer, barrier, fires), _names(timer, barrier)
    return question.proved(message, places, names, evidence, assumptions=_assumptions(barrier, fires))


def _conflict(subject: Subject, question: Question, timer: Timer, barrier: TimedBarrier, fires: Firing) -> Finding:
    thing, then = barrier.component.name, f" ({timer.then.text})" if timer.then is not None else ""
    by = f" that {' and '.join(barrier.loops)} paused" if barrier.loops else ""
    times = f"up to {render_seconds(barrier.wait)} against {between(fires.window)}"
    message = f"{timer.name} may fire{then} while {thing} waits for a member{by}: {times}"
    evidence = arithmetic(_figures(barrier, fires), witness=_timeline(timer, barrier, fires))
    return question.conflict(
        message, _places(timer, barrier, fires), _names(timer, barrier), evidence, certain=False,
        assumptions=_assumptions(barrier, fires), repairs=tuple(_repairs(subject, timer, barrier, fires)),
    )  # fmt: skip


def _timeline(timer: Timer, barrier: TimedBarrier, fires: Firing) -> tuple[Step, ...]:
    thing, first = barrier.component.name, barrier.step_window.earliest
    begun = barrier.together if barrier.before != NOW else f"all of {thing}.{barrier.activity} start"
    steps = [Step(Fraction(0), begun)]
    for loop, name, span in barrier.pauses:
        held = f"{loop.name} sets {thing}.{name} of one member" if loop is not None else f"{name} of one {thing}"
        steps.append(Step(Fraction(0), f"{held}, for {render_seconds(span.high)}"))
    steps.append(Step(first, f"first {thing} waits"))
    then = f": {timer.then.text}" if timer.then is not None else ""
    steps.append(Step(first + fires.window.earliest, f"{timer.name} fires{then}"))
    last = (barrier.step_window.latest or NOW.earliest) + (barrier.pause.latest or NOW.earliest)
    return (*steps, Step(last, f"all of {thing}.{barrier.activity} end only now"))


def _repairs(subject: Subject, timer: Timer, barrier: TimedBarrier, fires: Firing) -> Iterator[Repair]:
    yield from repairs.later(subject, timer, barrier.wait)
    for span in (span for loop, _, span in barrier.pauses if loop is not None):
        over = barrier.wait - fires.window.earliest / repairs.MARGIN
        shorter = edits.downward_round(span.high - over)
        old = edits.text_at(subject.sources, span.place)
        if old is not None and shorter >= span.low and shorter > 0:
            low = f"{old.split('..')[0].strip()} .. " if ".." in old else ""
            yield Repair((Edit(span.place, old, low + edits.duration_text(subject, shorter)),), "")

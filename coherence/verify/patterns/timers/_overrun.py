"""Compares a timer with the activity that it waits for, for the questions about probes and about deadlines."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Design, Timer
from coherence.language.entries.actions import is_harmless, unclear_state
from coherence.language.implied import is_answered_by_default
from coherence.language.names import used_names
from coherence.language.roles import role, unknown_activities
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import nice_above
from coherence.verify.events import event_ways, graph, orders
from coherence.verify.events.endings import with_decided_ends
from coherence.verify.events.graph import Causes, Chain, EventLink
from coherence.verify.events.orders import Alternatives, EventOrder, between
from coherence.verify.timers import firing
from coherence.verify.timers import repairs as timer_repairs
from coherence.verify.timers.firing import unknown_action

Figures = dict[str, tuple[Fraction | float | int, str]]


@dataclass(frozen=True)
class OverrunCase:
    """A timer, how its `unless` event stands to its firing, and both measured from their common cause."""

    timer: Timer
    order: EventOrder
    relation: str  # before: the event always comes first; possible; after: the timer always does; unknown
    needs: str = ""
    loops: tuple[str, ...] = ()  # those that the missing fact is about
    again: tuple[str, ...] = ()  # timers that bring the timer's own event about once more


def cases(design: Design) -> tuple[OverrunCase, ...]:
    """Returns every timer that another event may end, with its worst case; gathered once."""
    return design.queries.get(cases, lambda: tuple(_cases(design)))


def _cases(design: Design) -> Iterator[OverrunCase]:
    causes = with_decided_ends(design, graph.without_rests(graph.event_graph(design)))
    yield from (case_of(design, timer, causes) for timer in design.timers.values() if may_be_ended(timer))


def case_of(design: Design, timer: Timer, causes: Causes) -> OverrunCase:
    """Returns how a timer stands to the event that ends it."""
    assert timer.unless is not None
    assert timer.start is not None
    unless, alone = graph.key_of(timer.unless, design), graph.without_renewals(timer, causes)
    case = _of_next_time(design, timer, unless, alone)
    decided = _of_start(design, prolonged(design, case or _worst(design, timer, unless, alone)))
    return replace(decided, again=(*decided.again, *event_ways.brought_again(design, timer.start)))


def may_be_ended(timer: Timer) -> bool:
    """Decides whether a timer fires unless another event comes before."""
    return timer.unless is not None and timer.start is not None and not firing.never(timer)


def prolonged(design: Design, case: OverrunCase) -> OverrunCase:
    """Not before for certain where a loop could prolong what the timer waits for."""
    interruptions = orders.interruptions(design, case.order.first)
    if case.relation != "before" or not interruptions.spoil(case.order):
        return case
    needs = f"whether {interruptions.words} prolongs what {case.timer.name} waits for is not decided"
    return replace(case, relation="unknown", needs=needs, loops=interruptions.loops)


def _of_start(design: Design, case: OverrunCase) -> OverrunCase:
    """Not before for certain where a probe is answered by the start, and more of the thing may be part of that.

    An activity counts of which nothing says what it is and nothing else tells when it runs, up to the first answer.
    """
    timer = case.timer
    if case.relation != "before" or not case.order.first or timer.start is None or not is_answered_by_default(timer):
        return case
    (ends, fires), thing = case.order.windows, timer.start.thing
    perhaps = perhaps_of_start(design, thing)
    longest = sum((span.high for span in perhaps.values()), ends.latest or Fraction(0))
    if not perhaps or longest < fires.earliest:
        return case
    activity, span = next(iter(perhaps.items()))
    needs = f"whether {activity} of {thing} ({span}) is part of its start: `roles: {{{activity}: start}}` or `apart`"
    return replace(case, relation="unknown", needs=f"needs {needs}")


def perhaps_of_start(design: Design, thing: str) -> dict[str, Quantity]:
    """Returns activities of a thing before its first answer of which nothing says what they are or when they run."""
    component, unknown, named = design.components[thing], unknown_activities(design, thing), used_names(design)
    before = itertools.takewhile(
        lambda name: role(component, name) not in ("answer", "first byte"), component.takes or ()
    )
    return {name: unknown[name] for name in before if name in unknown and f"{thing}.{name}" not in named}


def _worst(design: Design, timer: Timer, unless: str, causes: Causes) -> OverrunCase:
    """Returns the case of the slowest way to what ends the timer; ways that begin elsewhere only end it sooner.

    Of ways that come true in every run the soonest counts: the first end lifts it.  What the timer itself brings
    about, when it has fired, ends it no more.
    """
    fires = f"{timer.name} fires"
    every = orders.alternatives(unless, fires, causes, armed=True, surely=partial(comes_surely, design, unless))
    ways = [tuple(order for order in together if order is None or order.second) for together in every]
    if not any(ways):
        needs = f"needs what else than {timer.name} leads to '{unless}'"
        return OverrunCase(timer, EventOrder(fires, (), ()), "unknown", needs)
    case = _decided(timer, unless, tuple(filter(None, ways)), causes)
    sooner = any(link.kind == graph.MAY_END and link.cause != fires for link in causes.get(unless, ()))
    return replace(case, relation="possible") if case.relation == "after" and sooner else case


def comes_surely(design: Design, unless: str, link: EventLink) -> bool:
    """Decides whether a link comes true whenever its cause does: a timer that nothing but the end in question lifts."""
    timer = design.timers.get(link.name) if link.kind == "timer" else None
    if timer is None:
        return link.kind != graph.MAY_END
    lifted = timer.unless is not None and graph.key_of(timer.unless, design) != unless
    return not (lifted or timer.misses or timer.sees or timer.renew or timer.per)


def _of_next_time(design: Design, timer: Timer, unless: str, causes: Causes) -> OverrunCase | None:
    """Returns the case of a timer that runs from the event that ends it, or from what comes of that: its next time.

    None where it does not come again, and for a probe: each look sees that it has come already.  What the timer ends is
    not what it waits for.
    """
    assert timer.unless is not None
    assert timer.start is not None
    start, fires = graph.key_of(timer.start, design), f"{timer.name} fires"
    causes = {effect: tuple(link for link in links if link.cause != fires) for effect, links in causes.items()}
    before = {start, *(link.cause for chain in event_ways.chains(start, causes) for link in chain)}
    if timer.every is not None or unless not in before:
        return None
    from coherence.verify.events.renewals import sent_by, until_again

    ways = orders.next_time(unless, fires, causes) if start == unless else ()
    ways = ways or until_again(design, timer.unless, timer.start, fires, causes)
    return replace(_decided(timer, unless, ways, causes), again=sent_by(design, timer.unless, causes)) if ways else None


def _decided(timer: Timer, unless: str, ways: Alternatives, causes: Causes) -> OverrunCase:
    worst = orders.deciding_order(ways, strictly)
    if worst is None:
        return _apart(timer, unless, causes)
    order, relation = worst
    return OverrunCase(timer, order, relation, f"needs {order.missing}" if relation == "unknown" else "")


def strictly(order: EventOrder) -> str:
    """As `orders.relation`, but a tie is a race: either may come first."""
    relation = orders.relation(order)
    first, second = order.reached
    tie = relation == "touches" or (relation == "after" and first.earliest == second.latest)
    return relation if not tie else "unknown" if order.missing else "possible"


def _apart(timer: Timer, unless: str, causes: Causes) -> OverrunCase:
    """Nothing ties the activity to the timer's event: it may start with that event (possible), or at another time."""
    fired = causes[f"{timer.name} fires"][:1]
    way = event_ways.chains(unless, causes)[0]
    ended = tuple(link for link in way[:1] if link.kind == "activity")
    order = EventOrder(timer.start.text if timer.start else "", ended, fired)
    if order.open:
        return OverrunCase(timer, order, "unknown", f"needs {order.missing}")
    if not ended:
        return OverrunCase(timer, order, "unknown", f"needs the time from '{order.common}' to '{unless}'")
    first, second = order.reached
    begins = ended[0].cause
    if first.latest is not None and first.latest > second.earliest:
        note = f"{begins} at the moment of '{order.common}' (nothing in the design starts it)"
        at_once = replace(ended[0], assumptions=(note, *ended[0].assumptions))
        return OverrunCase(timer, EventOrder(order.common, (at_once,), fired), "possible")
    if order.missing:
        return OverrunCase(timer, order, "unknown", f"needs {order.missing}")
    if before := way[1:]:
        from coherence.verify.patterns.timers import _begun_again

        begun, needs = _begun_again.run_of(timer, order, before)
        return OverrunCase(timer, begun, "unknown" if needs else "possible", needs)
    hint = f"for example a timer {{from: {order.common}, after: 0 s, then: {begins}}}"
    return OverrunCase(timer, order, "unknown", f"needs what starts {begins.removesuffix(' starts')}: {hint}")


def undecided(question: Question, case: OverrunCase) -> Finding:
    """Returns the missing fact, by name."""
    assert case.timer.unless is not None
    places = (
        case.timer.unless.place.labelled("when this happens is not known"),
        case.timer.place.labelled("decides about this timer"),
    )
    return question.undecided(
        f"{case.needs} ({case.timer.name} waits for '{case.timer.unless.text}')", places, names_of(case),
        lacks_number=case.order.lacks_time,
    )  # fmt: skip


def harmless(question: Question, case: OverrunCase) -> Finding:
    """Answers that a timer that ends nothing may fire during the activity, or asks whether its mark does."""
    then = case.timer.then.text if case.timer.then is not None else ""
    if state := unclear_state(then):
        needs = f"needs whether what is '{state}' is still used: does `{then}` end its work, or only tell (`alert`)"
        return undecided(question, replace(case, needs=needs))
    times = f" ({_times(case)})" if case.relation in ("possible", "after") else ""
    message = f"{case.timer.name} only does '{then}': an activity that outlasts it is not ended{times}"
    return question.note(message, places_of(case), names_of(case), evidence_of(case))


def _times(case: OverrunCase) -> str:
    first, second = case.order.reached
    return f"{between(second)} against {between(first)} after {case.order.common}"


def forestalled(question: Question, design: Design, case: OverrunCase) -> Finding | None:
    """Answers that the timer never fires, where another one always fires first and ends what both run from."""
    if len(design.timers) < 2:
        return None
    from coherence.verify.events import forestalling

    pair = forestalling.forestaller(design, case.timer)
    if pair is None or case.timer.unless is None:
        return None
    first, second = (pair.order.windows[0].latest or Fraction(0)), pair.order.windows[1].earliest
    numbers: Figures = {f"{pair.early.name} at the latest": (first, "s"), "fires at the earliest": (second, "s")}
    message = (
        f"{case.timer.name} never fires before '{case.timer.unless.text}': {pair.early.name} always fires first "
        f"({render_seconds(first)} at the latest)"
    )
    places = (case.timer.place.labelled("never fires"), pair.early.place.labelled("ends what both run from"))
    evidence = arithmetic(numbers, certificate=orders.certificate(pair.order, "<"))
    return question.note(message, places, tuple(dict.fromkeys([*names_of(case), pair.early.name])), evidence)


def proved(question: Question, case: OverrunCase) -> Finding:
    """Answers that the activity always ends before the timer fires."""
    order, unless = case.order, case.timer.unless
    assert unless is not None
    evidence = evidence_of(case, certificate=orders.certificate(order, "<" if order.first else "<="))
    if not order.first:
        message = f"{case.timer.name} runs only after '{unless.text}': that can no longer overrun it"
    else:
        first, second = order.windows
        times = f"{between(first)} against {between(second)} after {order.common}"
        message = f"'{unless.text}' always precedes {case.timer.name}: {times}"
    return question.proved(message, places_of(case), names_of(case), evidence, assumptions=order.assumptions)


def conflict(
    question: Question,
    case: OverrunCase,
    *,
    repairs: tuple[Repair, ...] = (),
    consequence: str = "",
    figures: Figures | None = None,
) -> Finding:
    """Answers that the timer fires while the activity still runs, in every run or in some."""
    order, timer = case.order, case.timer
    certain = case.relation == "after"
    verb = "always fires" if certain else "may fire"
    then = f" ({timer.then.text})" if timer.then else ""
    assert timer.unless is not None
    message = f"{timer.name} {verb}{then} before '{timer.unless.text}': {_times(case)}{consequence}"
    evidence = evidence_of(case, witness=timeline(case), figures=figures)
    return question.conflict(
        message,
        places_of(case),
        names_of(case),
        evidence,
        certain=certain,
        assumptions=(*order.assumptions, *_taken_to_end(timer)),
        repairs=repairs,
    )


def _taken_to_end(timer: Timer) -> tuple[str, ...]:
    """Returns the assumption about an action that is not understood by name."""
    word = unknown_action(timer)
    return (f"'{word}' ends or repeats what runs (a timer that only tells begins with `alert`)",) if word else ()


def evidence_of(
    case: OverrunCase, *, witness: tuple[Step, ...] = (), certificate: str | None = None, figures: Figures | None = None
) -> Evidence:
    """Returns the two windows as far as they are known, and what else decided."""
    first, second = case.order.reached if witness else case.order.windows
    ends = {"fires at the earliest": second.earliest, "fires at the latest": second.latest}
    if not any(link.missing and link.inner is None for link in case.order.first):
        ends |= {"ends at the earliest": first.earliest, "ends at the latest": first.latest}
    numbers: Figures = {name: (value, "s") for name, value in ends.items() if value is not None}
    return arithmetic(numbers | (figures or {}), witness=witness, certificate=certificate)


def names_of(case: OverrunCase) -> tuple[str, ...]:
    """Returns the timer, and the timers and things whose times decide."""
    unless = [case.timer.unless.thing] if case.timer.unless is not None and case.timer.unless.kind != "outside" else []
    decided = deciding(case.order.second + case.order.first)
    return tuple(dict.fromkeys([case.timer.name, *decided, *case.loops, *case.again, *unless]))


def deciding(chain: Chain) -> tuple[str, ...]:
    """Returns the timers, the things of the activities, and the calls in these, of a chain."""
    timed = [link for link in chain if link.kind in ("timer", "activity", "call")]
    names = (link.name if link.kind in ("timer", "call") else link.name.split(".")[0] for link in timed)
    return (*names, *(call for link in timed for call in link.inside))


def places_of(case: OverrunCase) -> tuple[Place, ...]:
    """Returns the timer's deciding value, then every other value with what it does, then what a default left out."""
    timer = case.timer
    links = [*case.order.second, *case.order.first]
    places = list(link_places(links))
    if not case.order.first and timer.start is not None:
        places.append(timer.start.place.labelled("runs only from here on"))
    unset = [text for link in case.order.second for text in link.assumptions if " is not set: " in text]
    return tuple([*places, timer.place.labelled("; ".join(unset))] if unset else places)


def link_places(chain: Iterable[EventLink]) -> Iterator[Place]:
    """Yields the deciding value of each timer and activity of a chain, and the times of what an activity calls."""
    for link in chain:
        if link.kind in ("timer", "activity", "call") and link.places:
            yield link.places[0].labelled(link_text(link))
            yield from (place.labelled("time of what it calls") for place in link.places[1:] if link.inside)


def link_text(link: EventLink) -> str:
    """Returns what a number does: `fires 140 s to 151 s after server.load starts`, `server.load takes 3 min`."""
    times = between(link.window) + (" with its calls" if link.inside else "")
    if link.cause == link.effect:
        return f"'{link.effect}' comes again {times} later"
    if link.kind == "call":
        return f"called {times} after {link.cause}"
    if link.kind == "activity" and link.cause != f"{link.name} starts":
        return f"{link.name} may go on for {times} after {link.cause}"
    return f"fires {times} after {link.cause}" if link.kind == "timer" else f"{link.name} takes {times}"


def timeline(case: OverrunCase) -> tuple[Step, ...]:
    """Returns the kindest run where every run breaks, else the worst one."""
    kind = case.relation == "after"
    order, then = case.order, case.timer.then
    fired = orders.moments(order.second, early=not kind)
    ended = orders.moments(order.first, early=kind)
    steps = [Step(Fraction(0), order.common), *(Step(time, link.effect) for time, link in fired + ended)]
    if then is not None:
        steps[len(fired)] = Step(fired[-1][0], f"{case.timer.name} fires: {then.text}")
    if ended:
        late = render_seconds(ended[-1][0] - fired[-1][0])
        steps[-1] = Step(ended[-1][0], f"{ended[-1][1].effect} would come only now, {late} late")
    return orders.sorted_steps(steps)


def raised(subject: Subject, case: OverrunCase) -> Iterator[Repair]:
    """Let a timer on the way to the firing come later than the activity can end, or all that run beside it."""
    first, second = case.order.windows
    if first.latest is None:
        return
    for link in case.order.second:
        if link.kind == "timer":
            need = link.window.earliest + first.latest - second.earliest
            timer = subject.design.timers[link.name]
            yield from timer_repairs.later(subject, timer, need)
            yield from _all_raised(subject, timer, need)


def _all_raised(subject: Subject, timer: Timer, need: Fraction) -> Iterator[Repair]:
    """Yields the repair of all timers that run from one event, end with one event, and fire too early: in turn.

    What only tells somebody may come before: it is left as it is.
    """
    beside = [
        other
        for other in subject.design.timers.values()
        if isinstance(other.after, Quantity) and other.after.low <= need
        and None not in (other.start, other.unless) and _ends(other) == _ends(timer)
        and not (other.then is not None and is_harmless(other.then.text))
    ]  # fmt: skip
    if len(beside) > 1:
        above = nice_above(need)  # the timer itself comes after the others, or they would never fire
        each = [
            next(iter(timer_repairs.later(subject, other, above if other is timer else need)), None) for other in beside
        ]
        edits = tuple(edit for repair in each if repair is not None for edit in repair.edits)
        if None not in each:
            yield Repair(edits, "")


def _ends(timer: Timer) -> tuple[str, str]:
    return (timer.start.text if timer.start else "", timer.unless.text if timer.unless else "")

"""Compares the interval of renewals with the lease that they extend while the work goes on."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.base.units import SECOND
from coherence.findings import repairs as edits
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Design, Timer
from coherence.language.entries.actions import is_harmless
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Event
from coherence.verify.events import graph
from coherence.verify.events.orders import between
from coherence.verify.events.renewals import Renewal, in_time, missing, renewal_of
from coherence.verify.patterns.timers._overrun import Figures
from coherence.verify.timers import firing, repairs
from coherence.verify.timers.firing import Firing


def answer(subject: Subject, question: Question, timer: Timer, *, outlasts: bool) -> Finding:
    """Answers whether the renewals of a lease come in time; `outlasts`: what it waits for is longer for certain."""
    lease = firing.lease(timer)
    assert timer.renew is not None
    renewal = renewal_of(subject.design, timer)
    timely = in_time(subject.design, timer)
    if lease is None or renewal is None or timely is None:
        places = (timer.renew.place.labelled("renews the lease"), timer.place.labelled("this lease"))
        return question.undecided(f"needs {missing(subject.design, timer)}", places, _names(timer, renewal))
    if timely:
        return _proved(question, timer, renewal, lease)
    return _conflict(subject, question, timer, renewal, lease, outlasts=outlasts)


def _words(timer: Timer) -> str:
    return timer.renew.text if timer.renew is not None else ""


def never_ended(subject: Subject, question: Question) -> Iterator[Finding]:
    """Yields an answer about each lease that only renewals keep from firing, where it is known how often they come.

    Left out: what only tells; what a promise names, which another question answers; a stated interval in time.
    """
    design = subject.design
    promised = {
        graph.key_of(event, design)
        for promise in design.promises.values()
        for event in (promise.first, promise.second)
        if event is not None
    }
    for timer in design.timers.values():
        if timer.renew is None or timer.unless is not None or timer.start is None or timer.every is not None:
            continue
        then = timer.then.text if timer.then is not None else ""
        ends = bool(then) and not is_harmless(then) and f"{timer.name} fires" not in promised
        renewal = renewal_of(design, timer) if ends else None
        stated = isinstance(timer.renew, Quantity) and in_time(design, timer)  # in time by its own numbers
        if renewal is None or firing.lease(timer) is None or stated:
            continue
        if in_time(design, timer) and not _renewed_from_its_start(design, timer, renewal):
            needs = f"needs when '{_words(timer)}' first comes after '{timer.start.text}'"
            places = (timer.start.place.labelled("it runs from here"), renewal.place.labelled("renewed by this"))
            yield question.undecided(needs, places, _names(timer, renewal))
        else:
            yield answer(subject, question, timer, outlasts=True)


def _renewed_from_its_start(design: Design, timer: Timer, renewal: Renewal) -> bool:
    """Decides whether the first renewal comes as soon after what the timer runs from as each other after the last."""
    assert timer.start is not None
    if renewal.timer is None:
        return True
    begins = graph.key_of(timer.start, design)
    if isinstance(timer.renew, Event) and graph.key_of(timer.renew, design) == begins:
        return True
    sender = renewal.timer
    first = sender.first.high if sender.first is not None else Fraction(0)
    same = sender.start is not None and graph.key_of(sender.start, design) == begins
    return not renewal.way and same and sender.every is not None and first <= sender.every.low


def _names(timer: Timer, renewal: Renewal | None) -> tuple[str, ...]:
    sender = renewal.names if renewal is not None else ()
    way = [link.name.partition(".")[0] for link in renewal.way if link.kind == "activity"] if renewal else []
    things = [timer.unless.thing] if timer.unless is not None else []
    things += [renewal.pause[0].partition(".")[0]] if renewal is not None and renewal.pause is not None else []
    return (timer.name, *sender, *way, *dict.fromkeys(things))


def _places(timer: Timer, renewal: Renewal, lease: Firing) -> tuple[Place, ...]:
    lasts = graph.values(timer)[0].labelled(f"the lease lasts {between(lease.window)}")
    activities = [link for link in renewal.way if link.kind == "activity"]
    takes = [link.places[0].labelled(f"{link.name} takes {between(link.window)}") for link in activities]
    every = "started from here" if takes else f"renewed every {between(renewal.interval)}"
    still = [renewal.pause[1].place.labelled("stands still so long")] if renewal.pause is not None else []
    return (lasts, renewal.place.labelled(every), *takes, *still)


def _figures(renewal: Renewal, lease: Firing) -> Figures:
    ends = {
        "lease at the earliest": lease.window.earliest, "lease at the latest": lease.window.latest,
        "renewal at the earliest": renewal.interval.earliest, "renewal at the latest": renewal.interval.latest,
    }  # fmt: skip
    return {name: (value, "s") for name, value in ends.items() if value is not None}


def _proved(question: Question, timer: Timer, renewal: Renewal, lease: Firing) -> Finding:
    assert renewal.interval.latest is not None
    facts = (f"(>= expires {lease.lower})", f"(<= renewed {rational(renewal.interval.latest)})")
    script = Certificate({"expires": "Real", "renewed": "Real"}, facts, "(< renewed expires)").script()
    message = f"{timer.name} is renewed {_times(renewal, lease)}"
    until = timer.unless.text if timer.unless is not None else "the end"
    assumed = (
        f"'{_words(timer)}' goes on until '{until}'", *lease.defaults, *_still(renewal),
        *(text for link in renewal.way for text in link.assumptions),
    )  # fmt: skip
    evidence = arithmetic(_figures(renewal, lease), certificate=script)
    return question.proved(
        message, _places(timer, renewal, lease), _names(timer, renewal), evidence, assumptions=assumed
    )


def _still(renewal: Renewal) -> tuple[str, ...]:
    """Returns what is taken for granted of the pauses between two renewals."""
    return (f"no two of {renewal.pause[0]} come between two renewals",) if renewal.pause is not None else ()


def _times(renewal: Renewal, lease: Firing) -> str:
    return f"every {between(renewal.interval)}, the lease lasts {between(lease.window)}"


def _conflict(
    subject: Subject, question: Question, timer: Timer, renewal: Renewal, lease: Firing, *, outlasts: bool
) -> Finding:
    late = lease.window.latest is not None and renewal.interval.earliest > lease.window.latest
    certain = late and outlasts
    then = f" ({timer.then.text})" if timer.then is not None else ""
    verb = "expires" if certain else "may expire"
    message = f"{timer.name} {verb}{then} before it is renewed: renewed {_times(renewal, lease)}"
    start = timer.start.text if timer.start is not None else "the lease starts"
    evidence = arithmetic(_figures(renewal, lease), witness=_timeline(start, timer, renewal, lease))
    return question.conflict(
        message, _places(timer, renewal, lease), _names(timer, renewal), evidence,
        certain=certain, assumptions=lease.defaults, repairs=tuple(_repairs(subject, timer, renewal, lease)),
    )  # fmt: skip


def _timeline(start: str, timer: Timer, renewal: Renewal, lease: Firing) -> tuple[Step, ...]:
    expires, renewed = lease.window.earliest, renewal.interval.latest or renewal.interval.earliest
    then = f": {timer.then.text}" if timer.then is not None else ""
    late = f"'{_words(timer)}' renews only now, {render_seconds(renewed - expires)} late"
    return (Step(Fraction(0), start), Step(expires, f"{timer.name} expires{then}"), Step(renewed, late))


def _repairs(subject: Subject, timer: Timer, renewal: Renewal, lease: Firing) -> Iterator[Repair]:
    if renewal.interval.latest is not None:
        yield from repairs.later(subject, timer, renewal.interval.latest)
    if renewal.way:
        return
    if renewal.timer is not None:
        yield from repairs.sooner(subject, renewal.timer, lease.window.earliest)
        return
    if renewal.interval.earliest != renewal.interval.latest:
        return  # which end of a range could be written lower is not known
    shorter = edits.downward_round(lease.window.earliest / repairs.MARGIN)
    repair = edits.proposal(edits.rewrite(subject, renewal.place, shorter, SECOND))
    if repair is not None:
        yield repair

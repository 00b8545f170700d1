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
from coherence.language.design import Timer
from coherence.verify.events import graph
from coherence.verify.events.orders import between
from coherence.verify.events.renewals import Renewal, in_time, missing, renewal_of
from coherence.verify.patterns.timers._overrun import Figures, OverrunCase
from coherence.verify.timers import firing, repairs
from coherence.verify.timers.firing import Firing


def answer(subject: Subject, question: Question, case: OverrunCase) -> Finding:
    """Answers, where the task outlasts the lease, whether the renewals come in time."""
    timer, lease = case.timer, firing.lease(case.timer)
    assert timer.renew is not None
    renewal = renewal_of(subject.design, timer)
    if lease is None or renewal is None:
        places = (timer.renew.place.labelled("renews the lease"), timer.place.labelled("this lease"))
        return question.undecided(f"needs {missing(subject.design, timer)}", places, _names(case, renewal))
    if in_time(subject.design, timer):
        return _proved(question, case, renewal, lease)
    return _conflict(subject, question, case, renewal, lease)


def _words(timer: Timer) -> str:
    return timer.renew.text if timer.renew is not None else ""


def _names(case: OverrunCase, renewal: Renewal | None) -> tuple[str, ...]:
    sender = [renewal.timer.name] if renewal is not None and renewal.timer is not None else []
    thing = [case.timer.unless.thing] if case.timer.unless is not None else []
    return (case.timer.name, *sender, *thing)


def _places(case: OverrunCase, renewal: Renewal, lease: Firing) -> tuple[Place, ...]:
    lasts = graph.values(case.timer)[0].labelled(f"the lease lasts {between(lease.window)}")
    return (lasts, renewal.place.labelled(f"renewed every {between(renewal.interval)}"))


def _figures(renewal: Renewal, lease: Firing) -> Figures:
    ends = {
        "lease at the earliest": lease.window.earliest, "lease at the latest": lease.window.latest,
        "renewal at the earliest": renewal.interval.earliest, "renewal at the latest": renewal.interval.latest,
    }  # fmt: skip
    return {name: (value, "s") for name, value in ends.items() if value is not None}


def _proved(question: Question, case: OverrunCase, renewal: Renewal, lease: Firing) -> Finding:
    assert renewal.interval.latest is not None
    facts = (f"(>= expires {lease.lower})", f"(<= renewed {rational(renewal.interval.latest)})")
    script = Certificate({"expires": "Real", "renewed": "Real"}, facts, "(< renewed expires)").script()
    message = f"{case.timer.name} is renewed {_times(renewal, lease)}"
    until = case.timer.unless.text if case.timer.unless is not None else "the end"
    assumed = (f"'{_words(case.timer)}' goes on until '{until}'", *lease.defaults)
    evidence = arithmetic(_figures(renewal, lease), certificate=script)
    return question.proved(message, _places(case, renewal, lease), _names(case, renewal), evidence, assumptions=assumed)


def _times(renewal: Renewal, lease: Firing) -> str:
    return f"every {between(renewal.interval)}, the lease lasts {between(lease.window)}"


def _conflict(subject: Subject, question: Question, case: OverrunCase, renewal: Renewal, lease: Firing) -> Finding:
    late = lease.window.latest is not None and renewal.interval.earliest > lease.window.latest
    certain = late and case.relation == "after"
    then = f" ({case.timer.then.text})" if case.timer.then is not None else ""
    verb = "expires" if certain else "may expire"
    message = f"{case.timer.name} {verb}{then} before it is renewed: renewed {_times(renewal, lease)}"
    start = case.timer.start.text if case.timer.start is not None else "the lease starts"
    evidence = arithmetic(_figures(renewal, lease), witness=_timeline(start, case.timer, renewal, lease))
    return question.conflict(
        message, _places(case, renewal, lease), _names(case, renewal), evidence,
        certain=certain, assumptions=lease.defaults, repairs=tuple(_repairs(subject, case.timer, renewal, lease)),
    )  # fmt: skip


def _timeline(start: str, timer: Timer, renewal: Renewal, lease: Firing) -> tuple[Step, ...]:
    expires, renewed = lease.window.earliest, renewal.interval.latest or renewal.interval.earliest
    then = f": {timer.then.text}" if timer.then is not None else ""
    late = f"'{_words(timer)}' renews only now, {render_seconds(renewed - expires)} late"
    return (Step(Fraction(0), start), Step(expires, f"{timer.name} expires{then}"), Step(renewed, late))


def _repairs(subject: Subject, timer: Timer, renewal: Renewal, lease: Firing) -> Iterator[Repair]:
    if renewal.interval.latest is not None:
        yield from repairs.later(subject, timer, renewal.interval.latest)
    if renewal.timer is not None:
        yield from repairs.sooner(subject, renewal.timer, lease.window.earliest)
        return
    if renewal.interval.earliest != renewal.interval.latest:
        return  # which end of a range could be written lower is not known
    shorter = edits.downward_round(lease.window.earliest / repairs.MARGIN)
    repair = edits.proposal(edits.rewrite(subject, renewal.place, shorter, SECOND))
    if repair is not None:
        yield repair

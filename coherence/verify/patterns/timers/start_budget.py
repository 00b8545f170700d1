"""start budget against probe: a probe that kills must leave the start the time it needs.

## What
A probe `{from: server starts, first, every, misses, reply_within, unless: server.load ends}` fires
when `misses` probes in a row have failed.  The first probe comes in [first, first + every), so it
fires between `first + (misses - 1) every` and `first + misses every + reply_within`.  The start is
safe when it always ends before the first of these, and killed for certain when it never ends before
the second.  Between them the phase of the ticker decides.  A probe that only unlists never kills; a
probe that runs from the end of the start cannot meet it.  A probe that unlists the only member while it
is at something else than its start or drain (`worker.answer`, `apart`) leaves nobody for those who call it; so does
one that unlists several while they answer, which all may do at once, where no limit keeps some on the list.

A start that a timer begins again after a failure (`{from: server crashes, then: server.load starts}`) may come at any
time.

When the start consists of several activities they run one after another in the order of `takes`.  A probe that counts
from `server starts` and states no `unless` is answered at their end, unless a startup probe holds it back until then.

A pause of what a probe ends (`gc_pause: 0 s .. 40 s`, docs/words.md) may begin just before a look.

## Why it hurts
A large model loads longer than the probe waits: the server is killed, starts again, and is killed
again.  Nothing is wrong with the server, and no log of the server says what killed it.

## Example
```yaml
coherence: 1
components: {server: {takes: {load: 3 min .. 10 min}}}
timers:
  liveness: {from: server starts, first: 120 s, every: 10 s, misses: 3, unless: server.load ends, then: restart server}
```
The probe fires 140 s to 150 s after the start (151 s when a reply may take 1 s), and loading takes 180 s at least.

## Instead
A startup probe with room for the longest load, and a liveness probe that runs from its end:
```yaml
coherence: 1
components: {server: {takes: {load: 3 min .. 10 min}}}
timers:
  startup:  {from: server starts, every: 10 s, misses: 67, unless: server.load ends, then: restart server}
  liveness: {from: server.load ends, every: 10 s, misses: 3, unless: server.load ends, then: restart server}
```

## Source
Kubernetes documentation, "Configure Liveness, Readiness and Startup Probes"; kubelet prober worker:
a ticker of the period, probes before initialDelaySeconds are skipped, one tick is kept.
Incidents: kserve/kserve#5062, kserve/kserve#5063, llm-d/llm-d-benchmark#83.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.findings.finding import Finding, Repair
from coherence.findings.question_input import Question, Subject
from coherence.language.design import Design, Timer
from coherence.language.entries.actions import is_harmless
from coherence.language.roles import pause_of
from coherence.language.sentences import Event, event_of
from coherence.verify.events import graph
from coherence.verify.patterns.timers import _overrun
from coherence.verify.patterns.timers._overrun import OverrunCase
from coherence.verify.patterns.timers._refuted import refuting_firing
from coherence.verify.timers import firing, repairs
from coherence.verify.timers.firing import unknown_action

QUESTION = Question("COH206", "start-budget-vs-probe", "ai.04 runtime control coherence", regardless=frozenset({"end"}))
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per probe that an activity may keep from firing."""
    for case in _overrun.cases(subject.design):
        if is_probe(case.timer) and not _only_renews(subject.design, case.timer):
            yield refuting_firing(subject.design, case.timer, _answer(subject, case))
    yield from _unnamed_starts(subject.design)
    for held in _held_by_pauses(subject.design):
        for case in _overrun.cases(held.design):
            if case.timer is held.timer:
                yield refuting_firing(subject.design, case.timer, _answer(subject, case))


@dataclass(frozen=True)
class HeldProbe:
    """A probe that meets a pause of what it looks at, as one that counts from the pause, in a design of its own."""

    timer: Timer
    design: Design


def _held_by_pauses(design: Design) -> Iterator[HeldProbe]:
    """Yields each probe that ends a thing which may stand still: one look may come as soon as that begins."""
    for timer in design.timers.values():
        thing, every = firing.ended_by(timer), timer.every
        pause = pause_of(design, thing) if is_probe(timer) and timer.misses is not None else None
        own = timer.start is None or pause is None or timer.start.activity != pause[0]
        if pause is None or every is None or not own or firing.action_of(timer) != "ends":
            continue
        begins = event_of(f"{thing}.{pause[0]} starts", timer.place)
        ends = event_of(f"{thing}.{pause[0]} ends", pause[1].place)
        look = replace(every, low=Fraction(0), text=f"0 s .. {every}")
        probe = timer.replace(start=begins, first=look, after=None, unless=ends)
        yield HeldProbe(probe, design.replace(timers={**design.timers, timer.name: probe}))


def _unnamed_starts(design: Design) -> Iterator[Finding]:
    """Yields what to ask where a probe counts from a start, and an activity that no word says may be that start."""
    for timer in design.timers.values():
        thing = timer.start.thing if timer.start is not None else ""
        fires = firing.firing(timer) if timer.unless is None and is_probe(timer) else None
        if fires is None or thing not in design.components or not firing.counts_from_start(timer, thing):
            continue
        if timer.then is None or firing.ended_by(timer) != thing:
            continue
        for activity, span in _overrun.perhaps_of_start(design, thing).items():
            if span.high >= fires.window.earliest:
                role = f"`roles: {{{activity}: start}}` or `apart`"
                needs = f"needs whether {activity} of {thing} ({span}) is its start: {role}"
                places = (span.place.labelled("a start?"), *graph.values(timer)[:1])
                yield QUESTION.undecided(needs, places, (timer.name,))
                break


def _only_renews(design: Design, timer: Timer) -> bool:
    """Decides whether all that a timer does is to renew another one, in whatever words (`refresh session`)."""
    then = timer.then.text if timer.then is not None else ""
    renewals = (other.renew.text for other in design.timers.values() if isinstance(other.renew, Event))
    sent = any(renewal.removesuffix(" fires") in (timer.name, then or timer.name) for renewal in renewals)
    return sent and (not then or bool(unknown_action(timer))) and timer.misses is None


def is_probe(timer: Timer) -> bool:
    """Returns whether the timer looks again and again (`every`) until misses add up."""
    return timer.every is not None and timer.renew is None and (timer.start is None or timer.start.kind != "waits")


def _answer(subject: Subject, case: OverrunCase) -> Finding:
    then = case.timer.then
    if case.relation == "before":
        return _overrun.proved(QUESTION, case)
    if dead := _overrun.forestalled(QUESTION, subject.design, case):
        return dead
    if then is not None and is_harmless(then.text):
        from coherence.verify.patterns.timers import _only_member

        return _only_member.answer(subject, QUESTION, case) or _overrun.harmless(QUESTION, case)
    if case.relation == "unknown":
        return _overrun.undecided(QUESTION, case)
    return _overrun.conflict(QUESTION, case, repairs=tuple(_repairs(subject, case)))


def _repairs(subject: Subject, case: OverrunCase) -> Iterator[Repair]:
    longest = case.order.windows[0].latest
    if longest is not None:
        yield from repairs.startup_probe(subject, case.timer, longest)
    yield from _overrun.raised(subject, case)
    if case.timer.unless is not None:
        yield from repairs.begin_with(subject, case.timer, case.timer.unless.text)

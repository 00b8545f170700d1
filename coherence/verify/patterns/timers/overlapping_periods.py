"""overlapping periods: an activity that is started again before it is over.

## What
A timer `every: T` (or one that fires `after: T` from its own last firing) that starts an activity, against the
longest time that the activity takes; `jitter` moves a start so far, early or late.  Where it may last longer than the
shortest time between two starts, the next start comes while the last one still runs: in every run where it
always does, in some where it may.  Equality touches: a stated worst case against a clock (a warning).  A timer that
counts misses, or waits for the end of the activity (`from: ... ends`), starts nothing twice.

## Why it hurts
Two saves write at once, or a save is skipped and nobody says so; a job that is due every five minutes and takes seven
holds more workers each hour.

## Example
```yaml
coherence: 1
components: {rank: {takes: {checkpoint: 5 min .. 20 min}}}
timers: {save: {uses: checkpoint, from: job starts, every: 15 min, then: rank.checkpoint starts}}
```

## Instead
```yaml
coherence: 1
components: {rank: {takes: {checkpoint: 5 min .. 20 min}}}
timers: {save: {uses: checkpoint, from: job starts, every: 30 min, then: rank.checkpoint starts}}
```

## Source
Young, Communications of the ACM 17 (1974) 530: the interval between checkpoints against the time to save.  Kubernetes
documentation, CronJob: concurrencyPolicy Allow is the default.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Timer
from coherence.language.jitter import shift_of
from coherence.language.schema_kinds import Quantity
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.timers import firing

QUESTION = Question("COH246", "overlapping-periods", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per repeating timer that starts an activity whose time is stated."""
    for timer in subject.design.timers.values():
        then, every = timer.then, _every(timer)
        if then is None or then.kind != "starts" or not then.activity or every is None or firing.never(timer):
            continue
        component = subject.design.components.get(then.thing)
        if component is None or timer.unless is not None or firing.misses_of(timer) != (1, 1):
            continue
        takes = (component.takes or {}).get(then.activity)
        if takes is None:
            needs = f"needs {then.activity} time of {then.thing}: {timer.name} starts it every {every}"
            places = (every.place.labelled("started this often"), then.place.labelled("for a time that is not stated"))
            yield QUESTION.undecided(needs, places, (timer.name, then.thing))
        else:
            yield _answer(subject, timer, every, takes)


def _every(timer: Timer) -> Quantity | None:
    """Returns the time between two firings: `every`, or `after` of a timer that runs from its own last firing."""
    again = timer.start is not None and timer.start.text == f"last {timer.name}"
    return timer.after if again and timer.every is None and isinstance(timer.after, Quantity) else timer.every


def _answer(subject: Subject, timer: Timer, every: Quantity, takes: Quantity) -> Finding:
    assert timer.then is not None
    shortest = every.low - _spread(timer)
    longest = every.high + _spread(timer)
    numbers: Numbers = {"starts apart, least": (shortest, "s"), "takes at most": (takes.high, "s")}
    places = (every.place.labelled("started this often"), takes.place.labelled(f"{timer.then.subject} takes this long"))
    of, name = (timer.name, timer.then.thing), timer.then.subject
    if takes.high <= shortest:
        script = Certificate(claim=f"(<= {rational(takes.high)} {rational(shortest)})").script()
        message = f"{name} is over before {timer.name} starts it again: {takes} of {every}"
        evidence = arithmetic(numbers, certificate=script)
        return QUESTION.proved(message, places, of, evidence, margin=takes.high < shortest)
    certain = takes.low > longest
    verb = "takes" if certain else "may take"
    message = f"{timer.name} starts {name} every {every}, and it {verb} {takes}: two run at once"
    witness = (
        Step(Fraction(0), f"{timer.name} starts {name}"),
        Step(every.low, f"{timer.name} starts {name} again"),
        Step(takes.high, f"the first one is over, {render_seconds(takes.high - every.low)} late"),
    )
    return QUESTION.conflict(
        message, places, of, arithmetic(numbers, witness=witness), certain=certain,
        assumptions=(f"{timer.name} does not wait for {name} to end",), repairs=_repairs(subject, every, takes.high),
    )  # fmt: skip


def _spread(timer: Timer) -> Fraction:
    """Two starts come closer by the jitter of both."""
    early, late = shift_of(timer.jitter)
    return late - early


def _repairs(subject: Subject, every: Quantity, need: Fraction) -> Iterator[Repair]:
    made = repairs.proposal(repairs.change(subject, every, repairs.upward_round(need * Fraction(11, 10))))
    yield from [made] if made is not None else []

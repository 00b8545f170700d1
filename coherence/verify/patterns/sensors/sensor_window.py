"""sensor window: a rate over a window that does not hold two samples, or a lookback shorter than the scrape.

## What
`rate W` and `irate W` need two samples in (t - W, t].  With a scrape every T that holds at every t exactly when
W >= 2 T; with W <= T it never does; between them a share (2 T - W) / T of all moments sees one sample, and a
loop that reads every P seconds meets such a moment for certain when P <= 2 T - W.  k lost scrapes need
W >= (k + 2) T.  `last W` returns nothing once the last sample is older than W.  A scrape slower than the loop
is harmless: the loop then reads the same sample again.
`x for h` of a loop holds when the time since the first of the true samples in a row is at least h, as in Prometheus
rules.  Where h is shorter than the loop's period no sample but one lies in it: the loop waits for a second one, a
whole period, and a note says so.

## Why it hurts
The query returns nothing.  An autoscaler without a metric stands still, an alert goes back to inactive, and
both look like a quiet system.

## Example
```yaml
coherence: 1
loops:
  hpa:
    uses: kubernetes_hpa
    target: {signal: web.qps, setpoint: 100 req/s, sensor: [scrape 60 s, rate 60 s]}
    actuation: {signal: web.desired, bounds: [1, 10]}
```

## Instead
Four scrapes in a window: `sensor: [scrape 15 s, rate 60 s]` or `sensor: [scrape 60 s, rate 4 min]`.

## Source
prometheus/prometheus#1428.  Prometheus documentation, Querying basics: range vectors are left-open and
right-closed from version 3.0 (closed on both sides before, where a second sample at exactly t - W counted).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_decimal, render_seconds
from coherence.base.places import Place
from coherence.base.units import SECOND
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Loop, Relay
from coherence.language.expressions import walk
from coherence.language.expressions.tree import Held
from coherence.language.schema_kinds import Formula
from coherence.language.sentences import SensorLink
from coherence.verify.patterns.sensors._samples import NEEDED, windows
from coherence.verify.patterns.writers._pair import Numbers

QUESTION = Question("COH222", "sensor-window", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per window that needs samples."""
    for loop in subject.design.loops.values():
        for sampler, link in windows(loop):
            yield _answer(subject, loop, sampler, link)
        yield from _short_waits(loop)


def _short_waits(loop: Loop) -> Iterator[Finding]:
    """Yields a note for each `for` of the loop's conditions that ends before its next sample."""
    period = loop.timescale.period if loop.timescale else None
    if period is None:
        return
    for formula in _conditions(loop):
        for held in (node for node in walk(formula.tree) if isinstance(node, Held) and 0 < node.duration < period.low):
            message = (
                f"`for {render_seconds(held.duration)}` of {loop.name} is one sample long: it samples every {period}, "
                f"and waits for a second true sample, {period} after the first"
            )
            places = (formula.place.labelled("shorter than"), period.place.labelled("the time between two samples"))
            yield QUESTION.note(message, places, (loop.name,), arithmetic({"for": (held.duration, "s")}))


def _conditions(loop: Loop) -> Iterator[Formula]:
    """Yields the conditions under which the loop acts, as written."""
    triggers = (loop.trigger.enter, loop.trigger.leave) if isinstance(loop.trigger, Relay) else (loop.trigger,)
    yield from (formula for formula in (*triggers, *(rule.when for rule in loop.rules)) if isinstance(formula, Formula))


def _answer(subject: Subject, loop: Loop, sampler: SensorLink | None, link: SensorLink) -> Finding:
    window, needed = link.duration, NEEDED[link.kind]
    assert window is not None
    if sampler is None or sampler.duration is None:
        return QUESTION.undecided(f"needs scrape of the sensor of {loop.name}", (link.place,), (loop.name,))
    scrape = sampler.duration
    places = (
        link.place.labelled(f"needs {needed} sample{'s' if needed > 1 else ''} in this window"),
        sampler.place.labelled("a sample this often"),
    )
    if window.low >= needed * scrape.high:
        return _proved(loop, scrape.high, window.low, needed, places)
    certain = _surely(loop, scrape.low, window.high, needed)
    return _conflict(subject, loop, (scrape.high, window.low, needed), places, certain=certain, link=link)


def _surely(loop: Loop, scrape: Fraction, window: Fraction, needed: int) -> bool:
    """Returns whether the loop meets a moment with too few samples in every run."""
    gap = needed * scrape - window  # of each scrape interval, so long the window holds one sample less
    period = loop.timescale.period if loop.timescale else None
    return window <= (needed - 1) * scrape or (gap > 0 and period is not None and period.high <= gap)


def _proved(loop: Loop, scrape: Fraction, window: Fraction, needed: int, places: tuple[Place, ...]) -> Finding:
    numbers: Numbers = {"scrape": (scrape, "s"), "window": (window, "s")}
    lost = window // scrape - needed if scrape else None  # a scrape every 0 s is a value at every moment
    numbers = {**numbers, "lost scrapes tolerated": (lost, "")} if lost is not None else numbers
    facts = (f"(<= 0.0 age {rational(scrape)})", f"(< age {rational(scrape)})")  # of the newest sample
    claim = f"(< (+ age {rational((needed - 1) * scrape)}) {rational(window)})"
    evidence = arithmetic(numbers, certificate=Certificate({"age": "Real"}, facts, claim).script())
    margin = window > needed * scrape
    message = (
        f"the sensor of {loop.name} always has {needed} sample{'s' if needed > 1 else ''} in {render_seconds(window)}"
    )
    late = f"no more than {lost} scrapes in a row are" if lost else "no scrape is"
    return QUESTION.proved(
        message if margin else f"{message}, as long as no scrape is late", places, (loop.name,), evidence,
        margin=margin, assumptions=(f"{late} lost or late",),
    )  # fmt: skip


def _conflict(
    subject: Subject, loop: Loop, sizes: tuple[Fraction, Fraction, int], places: tuple[Place, ...],
    *, certain: bool, link: SensorLink,
) -> Finding:  # fmt: skip
    scrape, window, needed = sizes
    share = min(Fraction(1), (needed * scrape - window) / scrape)
    held = "no value" if needed == 1 else "one sample, so no rate"
    often = f"at {render_decimal(share * 100)} % of all moments"
    message = f"{link.kind} {link.duration} with a scrape every {render_seconds(scrape)}: {held} {often}"
    age = (
        max(window - (needed - 1) * scrape, Fraction(0)) + scrape
    ) / 2  # of the newest sample, in the middle of the gap
    witness = (
        Step(Fraction(0), f"a sample; the next one comes after {render_seconds(scrape)}"),
        Step(
            age,
            f"{loop.name} looks back {render_seconds(window)} and finds "
            f"{'that one sample at most: no rate' if needed == 2 else 'no sample: no value'}",
        ),
    )
    numbers: Numbers = {
        "scrape": (scrape, "s"), "window": (window, "s"),
        "moments without": (share, ""), "needed": (needed * scrape, "s"),
    }  # fmt: skip
    return QUESTION.conflict(
        message, places, (loop.name,), arithmetic(numbers, witness=witness),
        certain=certain, repairs=_repairs(subject, scrape, window, places),
    )  # fmt: skip


def _repairs(subject: Subject, scrape: Fraction, window: Fraction, places: tuple[Place, ...]) -> Iterator[Repair]:
    """Four scrapes in a window: a longer window, or more frequent scrapes."""
    for place, value in ((places[0], 4 * scrape), (places[1], repairs.downward_round(window / 4))):
        text = repairs.text_at(subject.sources, place)
        word, _, duration = (text or "").partition(" ")
        if duration and value > 0:
            inner = Place(place.file, place.line, place.column + len(word) + 1, place.line, place.end_column)
            repair = repairs.proposal(repairs.rewrite(subject, inner, value, SECOND))
            yield from [repair] if repair else []

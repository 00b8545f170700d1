"""sensor delay: the age of what a loop reads against the window that keeps it from scaling down.

## What
Adds the ages along the sensor chain and the loop's own period: a sampler of period T adds T / 2 on average and
T at most, a window W adds W / 2 and W, `irate` one more scrape; `max W` adds nothing where low readings scale down,
since one sample after the dip ends it.  `hold_down` takes the largest recommendation of
its window, so it protects a scale-down from late readings exactly when the oldest reading is younger than the
window.  It protects the way down only.  What the signal itself looks back (`mean_over`, `sampled`) adds to its age; a
plain delay makes a reading old, and a dip is seen no longer for it.  A chain whose own window holds too few samples
for a value has no age to speak of: that is `sensor-window`.  Of a loop that never scales down nothing is proved.

## Why it hurts
The load is back while the metric still shows the dip: the loop removes what it needs a minute later, and pays the
start-up again.

## Example
```yaml
coherence: 1
loops:
  hpa:
    uses: kubernetes_hpa
    target: {signal: web.cpu, setpoint: 60 %, sensor: [scrape 15 s, relist 1 min]}
    timescale: {period: 15 s, hold_down: 30 s}
    actuation: {signal: web.desired, bounds: [2, 20]}
```

## Instead
A window longer than the longest delay: `hold_down: 5 min`.

## Source
kubernetes-sigs/prometheus-adapter#555 and #576 (users cannot tell the reaction time).  Sums of maxima are the safe
ones; start-up belongs to what is started, not to the sensor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Loop
from coherence.language.entries.leaves import FOREIGN
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import SensorLink
from coherence.model.laws import law_of
from coherence.model.model import sensor_delay
from coherence.model.sampled_loops import has_open_windows
from coherence.verify.facts.design_facts import known
from coherence.verify.patterns.sensors._lowering import never_lowers
from coherence.verify.patterns.sensors._samples import lacks_samples
from coherence.verify.patterns.sensors._signal_age import Age, signal_age
from coherence.verify.patterns.writers._pair import Numbers

QUESTION = Question(
    "COH223", "sensor-delay", "ai.04 runtime control coherence", regardless=frozenset({"members", "rate", "room"})
)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per loop that has a sensor chain and a window against scaling down."""
    for loop in subject.design.loops.values():
        hold = loop.timescale.hold_down if loop.timescale else None
        if (
            loop.target is None
            or hold is None
            or hold.high == 0
            or not any(link.duration for link in loop.target.sensor)
            or lacks_samples(loop)
        ):
            continue
        period = loop.timescale.period if loop.timescale else None
        if period is None or period.high == 0:
            yield QUESTION.undecided(f"needs period of {loop.name}", (hold.place,), (loop.name,))
        elif reason := never_lowers(known(subject), loop):
            message = f"{loop.name} never scales down ({reason}): hold_down holds nothing back"
            answer = QUESTION.note if hold.place.file.startswith(FOREIGN) else QUESTION.vacuous  # of a part: a default
            yield answer(message, (hold.place,), (loop.name,), arithmetic({}))
        elif (age := _age(subject, loop)) is None:
            needs = f"needs how old the signal of {loop.name} is: no time bounds the past that it reads"
            yield QUESTION.undecided(needs, (hold.place, *_links(loop)), (loop.name,))
        else:
            yield _answer(subject, loop, hold, period, age)


def _age(subject: Subject, loop: Loop) -> Age | None:
    """Returns the age of what the sensor chain reads, before it."""
    signal = loop.target.signal if loop.target is not None else None
    return signal_age(known(subject), signal.tree) if signal is not None else Age()


def delay(loop: Loop, period: Fraction) -> Age:
    """Returns the age of a reading when the loop acts on it, its own period included and its signal taken as new."""
    mean, longest = sensor_delay(_aging(loop))
    return Age(Fraction(0), mean + period / 2, longest + period)


def _answer(subject: Subject, loop: Loop, hold: Quantity, period: Quantity, before: Age) -> Finding:
    age = before.later(delay(loop, period.high))
    numbers: Numbers = {"mean delay": (age.mean, "s"), "longest delay": (age.oldest, "s"), "hold_down": (hold.low, "s")}
    places = (hold.place.labelled(f"{loop.name} forgets a higher recommendation after this"), *_links(loop))
    is_open = loop.timescale is not None and has_open_windows(loop.timescale)
    seen, held = decisions(age.seen - period.high, period.high, hold.low, is_open=is_open)
    if age.seen < hold.low:
        return _proved(loop, hold.low, age, numbers, places)
    if seen < held:
        return _touching(loop, age.seen - period.high, period.high, held, numbers, places)
    return _conflict(subject, loop, hold, age, (held - 1) * period.high, numbers, places)


def decisions(visible: Fraction, period: Fraction, hold: Fraction, *, is_open: bool = False) -> tuple[int, int]:
    """(most decisions that see one sample of age below `visible`, fewest decisions in a window of `hold`)."""
    return math.ceil(visible / period), math.ceil(hold / period) if is_open else math.floor(hold / period) + 1


def _proved(loop: Loop, hold: Fraction, age: Age, numbers: Numbers, places: tuple[Place, ...]) -> Finding:
    room = hold - age.seen
    facts = (f"(<= age {rational(age.seen)})", f"(< dip {rational(room)})")
    script = Certificate({"age": "Real", "dip": "Real"}, facts, f"(< (+ dip age) {rational(hold)})").script()
    message = (
        f"{loop.name} reads at most {render_seconds(age.oldest)} late ({render_seconds(age.mean)} on average): "
        f"no dip shorter than {render_seconds(room)} scales it down"
    )
    evidence = arithmetic(numbers, certificate=script)
    return QUESTION.proved(message, places, (loop.name,), evidence, assumptions=_assumed(loop))


def _assumed(loop: Loop) -> tuple[str, ...]:
    return (f"no sample of the sensor is lost or late, and {loop.name} misses no period",)


def _touching(
    loop: Loop, visible: Fraction, period: Fraction, held: int, numbers: Numbers, places: tuple[Place, ...]
) -> Finding:
    """Answers that the window is as long as the delay: one decision more than those that still see a sample."""
    fact = f"(< (* {rational(period)} (- (to_real seen) 1.0)) {rational(visible)})"
    script = Certificate({"seen": "Int"}, (fact,), f"(< (to_real seen) {rational(held)})").script()
    message = f"hold_down of {loop.name} is as long as its longest delay, with one decision to spare and no more"
    evidence = arithmetic(numbers, certificate=script)
    return QUESTION.proved(message, places, (loop.name,), evidence, assumptions=_assumed(loop), margin=False)


def _aging(loop: Loop) -> tuple[SensorLink, ...]:
    """Returns the links that keep a dip in sight after its end.

    The largest value of a window is low only where all its samples are: to a proportional loop, which scales down on
    low readings alone, it is as old as the newest one.
    """
    links = loop.target.sensor if loop.target else ()
    passing = {"max"} if law_of(loop) == "proportional" else set()
    return tuple(link for link in links if link.duration is not None and link.kind not in passing)


def _links(loop: Loop) -> tuple[Place, ...]:
    return tuple(
        link.place.labelled("adds to the age of what it reads") for link in _aging(loop) if link.kind != "last"
    )


def _conflict(
    subject: Subject,
    loop: Loop,
    hold: Quantity,
    age: Age,
    full: Fraction,
    numbers: Numbers,
    places: tuple[Place, ...],
) -> Finding:
    old = f"read what is {render_seconds(age.oldest)} old"
    message = (
        f"{loop.name} may {f'see one sample for {render_seconds(age.seen)}' if age.newest else old}, "
        f"but hold_down covers only {hold}: "
        "one sample of a dip fills it, and the loop scales down on a dip that is over"
    )
    witness = (
        Step(Fraction(0), "a sample meets a dip in the load, which is over at once"),
        Step(full + age.newest, f"all that {loop.name} recommended in {hold} was of that sample: it scales down"),
        Step(age.oldest, "only now the last trace of the dip is gone"),
    )
    return QUESTION.conflict(
        message, places, (loop.name,), arithmetic(numbers, witness=witness),
        certain=False, assumptions=("the load can dip for as long as one sample",),
        repairs=_repairs(subject, loop, hold, repairs.upward_round(age.seen * Fraction(5, 4))),
    )  # fmt: skip


def _repairs(subject: Subject, loop: Loop, hold: Quantity, value: Fraction) -> list[Repair]:
    """Returns a longer window: where it stands, or written into the loop where a part supplied it."""
    period = loop.timescale.period if loop.timescale else None
    text = repairs.duration_text(subject, value)
    if hold.place.file in subject.sources:
        edit = repairs.change(subject, hold, value)
    elif period is not None and period.place.file in subject.sources:
        edit = repairs.insert(subject, period.place, "hold_down", text)
    else:
        edit = repairs.insert(subject, loop.part.place, "timescale", f"{{hold_down: {text}}}") if loop.part else None
    repair = repairs.proposal(edit)
    return [repair] if repair else []

"""interacting loops against a promise: loops that act on one state, each right alone.

## What
Takes every promise about signals that loops drive (`never throttle`, `always p <= 100 kW`,
`eventually_always pool.desired == 200`) and the loops, states and commands it depends on.  It looks
for a run that breaks the promise by executing the model exactly, over rationals, from the ends of
every range; and, when none is found, for a template invariant that excludes such a run for ever,
for every start, every order of equal rank and every phase.  A cycle is reported with its period.

## Why it hurts
Throttle and backfill are both right: one protects the feed, the other fills idle capacity.
Together they can chase each other for ever, and a test that is shorter than the first cycle, or a
bounded search, sees nothing.

## Example
```yaml
coherence: 1
components: {power: {state: "p' = 0.8 * p + 0.2 * (10 kW + batch.load)", step: 1 s, from: 0 kW .. 60 kW}}
loops:
  throttle: {rank: 1, timescale: {period: 1 s}, trigger: {enter: p >= 80 kW, leave: p <= 60 kW}, actuation: {signal: batch.load, law: step, by: -20 kW, bounds: [0 kW, 200 kW], from: 0 kW}}
  backfill: {rank: 2, timescale: {period: 1 s}, trigger: not throttle and p < 85 kW, actuation: {signal: batch.load, law: step, by: 5 kW, bounds: [0 kW, 200 kW]}}
promises: {calm: never throttle}
```

## Instead
Let backfill stop well below the throttle: `trigger: not throttle and p < 51 kW`.

## Source
Slides: throttle vs backfill.  Definitions of orders, phases and windows: the one model, rules 1 to 6.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence import units
from coherence.design import Loop, Relay
from coherence.expressions import names as names_of
from coherence.finding import Evidence, Finding, Grade, Step
from coherence.model import Model
from coherence.phrases import Promise
from coherence.places import Place
from coherence.shape import Formula
from coherence.simulate.exact import replay
from coherence.subject import Question, Subject
from coherence.verify.promises import Open, Refuted, Shown, condition_of, decide
from coherence.simulate.slices import influences
from coherence.verify.thresholds import lowered
from coherence.simulate.timeline import shown, timeline, told_choices

QUESTION = Question("COH220", "interacting-loops", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
KINDS = ("always", "never", "eventually", "eventually_always")


def ask(subject: Subject) -> Iterator[Finding]:
    """One answer per promise that loops can influence."""
    for promise in subject.design.promises.values():
        if promise.kind in KINDS and promise.condition is not None and _driven(subject, promise):
            yield _answer(subject, promise)


def _driven(subject: Subject, promise: Promise) -> bool:
    """Does any loop that runs have a part in it?  (Promises about counts and events belong to other questions.)"""
    assert promise.condition is not None
    roots = {path.split(".")[0] for path in names_of(promise.condition.tree)}
    if not subject.design.loops or not (roots & _touched(subject)):
        return False
    model = subject.model
    names = names_of(condition_of(model, promise))
    known = (*model.states, *model.commands, *model.outputs, *(loop.name for loop in model.loops))
    return all(name in known or name in model.constants for name in names) and bool(_loops(model, promise))


def _touched(subject: Subject) -> frozenset[str]:
    design = subject.design
    signals = {loop.actuation.signal.text.split(".")[0] for loop in design.loops.values() if loop.actuation and loop.actuation.signal}
    return frozenset({*design.loops, *signals, *design.components, *(k for c in design.components.values() for k in c.constants), *_states(subject)})


def _states(subject: Subject) -> set[str]:
    from coherence.names import bare_names

    return set(bare_names(subject.design))


def _loops(model: Model, promise: Promise) -> tuple[str, ...]:
    kept = influences(model, names_of(condition_of(model, promise)))
    return tuple(loop.name for loop in model.loops if loop.name in kept)


def _answer(subject: Subject, promise: Promise) -> Finding:
    model = subject.model
    names = _loops(model, promise)
    places = (promise.place.labelled("this promise"), *(_place(subject.design.loops[name]) for name in names))
    outcome = decide(model, promise, time_limit=subject.time_limit)
    match outcome:
        case Refuted():
            return _conflict(subject, promise, outcome, names, places)
        case Shown():
            evidence = Evidence(Grade.PROVED, outcome.method, certificate=outcome.certificate)
            message = f"{promise.text}: holds in every run"
            return QUESTION.proved(message, places, (promise.name, *names), evidence, assumptions=(*outcome.assumptions, *model.abstractions))
        case Open():
            return QUESTION.undecided(f"{promise.text}: {outcome.reason}", places, (promise.name, *names), bound=outcome.bound)


def _place(loop: Loop) -> Place:
    trigger = loop.trigger
    if isinstance(trigger, Relay) and trigger.enter is not None:
        return trigger.enter.place.labelled(f"{loop.name} acts from here")
    if isinstance(trigger, Formula):
        return trigger.place.labelled(f"{loop.name} acts while this holds")
    if loop.rules and loop.rules[-1].when:
        return loop.rules[-1].when.place.labelled(f"a rule of {loop.name}")
    return loop.place.labelled(f"the loop {loop.name}")


def _conflict(subject: Subject, promise: Promise, outcome: Refuted, names: tuple[str, ...], places: tuple[Place, ...]) -> Finding:
    model = subject.model
    replayed = replay(_slice(model, promise), outcome.choices, list(outcome.instants[:400]))
    watch = [n for n in names_of(condition_of(model, promise)) if n not in names] + list(model.states)
    steps = [*timeline(model, outcome.instants, watch), _last(model, promise, outcome)]
    cycle = _cycle(subject, promise, outcome)
    evidence = Evidence(Grade.PROVED, "exact execution", tuple(steps), numbers=cycle[1], replayed=replayed)
    message = f"{promise.text}: broken after {units.seconds(outcome.instants[-1].time)}{cycle[0]}"
    assumptions = (*told_choices(model, outcome.choices), *model.abstractions)
    return QUESTION.conflict(message, places, (promise.name, *names), evidence, assumptions=assumptions, repairs=lowered(subject, promise, names))


def _slice(model: Model, promise: Promise) -> Model:
    from coherence.simulate.slices import sliced

    return sliced(model, names_of(condition_of(model, promise)))


def _last(model: Model, promise: Promise, outcome: Refuted) -> Step:
    instant = outcome.instants[-1]
    names = [n for n in names_of(condition_of(model, promise)) if n in instant.after]
    seen = ", ".join(f"{n} = {str(v).lower() if isinstance(v := instant.after[n], bool) else shown(model, n, v)}" for n in names)
    return Step(instant.time, f"{promise.text} is broken" + (f": {seen}" if seen else ""))


def _cycle(subject: Subject, promise: Promise, outcome: Refuted) -> tuple[str, dict[str, tuple[object, str]]]:
    """Does it go on for ever?  The period of the orbit that the same choices lead to."""
    from coherence.simulate.orbits import long_run
    from coherence.verify.promises import LAPS, MOST_INSTANTS

    part = _slice(subject.model, promise)
    run = outcome.run or long_run(part, outcome.choices, laps=LAPS, most=MOST_INSTANTS)
    if run.orbit is None or run.orbit.still:
        return "", {}
    orbit = run.orbit
    numbers: dict[str, tuple[object, str]] = {"period": (orbit.period, "s"), "contraction per lap": (orbit.contraction, "")}
    for path in (*part.states, *part.commands):
        low, high = orbit.range_of(path)
        numbers[f"{path} lowest"], numbers[f"{path} highest"] = (low, ""), (high, "")
    return f", and again every {units.seconds(orbit.period)} for ever", numbers

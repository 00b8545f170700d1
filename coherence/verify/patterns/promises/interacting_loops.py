"""interacting loops against a promise: loops that act on one state, each right alone.

## What
Takes every promise about signals that loops drive (`never throttle`, `always p <= 100 kW`,
`eventually_always pool.desired == 200`) and the loops, states and commands it depends on.  It looks
for a run that breaks the promise by executing the model exactly, over rationals, from the ends of
every range; a conflict is certain where every start, order and phase that the design leaves open breaks the promise
(a phase that is not stated is open: the one that keeps it makes the conflict possible, and stating it repairs it).
A flow that is no straight line (a lag, a plant of second order, a product) is followed in floats: such a run breaks
`always` and `never` where each comparison is clear of its edge, and is a possible conflict, simulated.
When no such run is found, it looks for a template invariant that excludes one for ever,
for every start, every order of equal rank and every phase.  A cycle is reported with its period.
`after a then b within t` over conditions asks that each time at which `a` holds is followed, at most t later (exactly
t is in time), by one at which `b` holds; a loop's name is the condition that it is triggered.
A load with a `burst` is run with a first burst that begins at every time that differs, as often as it comes again.
A run whose laps all add the same to its values (a counter, a queue that is not served) is followed for ever.
What comes to rest is proved by sets that shrink into the goal, with a bound in time.  A proof in which
a limit is approached and never reached is a warning: it has no margin.  A fact that a run reads at one
end of its range (`cooldown: 1 s .. 5 s`) is never proved by that end: the answer names it.
`x for h` holds when the time since the first of the true samples in a row is at least h, as in Prometheus rules:
with a sample every 2 s, `x for 3 s` takes three true samples, `x for 1 s` two; before 0 nothing has held.
`hold_down` keeps the highest wish of its window, but never above the command given last, landed or not.
`cooldown` is closed: a change exactly one cooldown after the last one still waits (with cooldown = period the loop
acts in every second period, unlike autoscalers that compare with `<`).

## Why it hurts
Throttle and backfill are both right: one protects the feed, the other fills idle capacity.
Together they can chase each other for ever, and a test that is shorter than the first cycle, or a
bounded search, sees nothing.

## Example
```yaml
coherence: 1
components: {power: {state: "p' = 0.8 * p + 0.2 * (10 kW + batch.load)", step: 1 s, from: 0 kW .. 60 kW}}
loops:
  throttle:
    rank: 1
    timescale: {period: 1 s}
    trigger: {enter: p >= 80 kW, leave: p <= 60 kW}
    actuation: {signal: batch.load, law: step, by: -20 kW, bounds: [0 kW, 200 kW], from: 0 kW}
  backfill:
    rank: 2
    timescale: {period: 1 s}
    trigger: not throttle and p < 85 kW
    actuation: {signal: batch.load, law: step, by: 5 kW, bounds: [0 kW, 200 kW]}
promises: {calm: never throttle}
```

## Instead
Let backfill stop well below the throttle: `trigger: not throttle and p < 51 kW`.

## Source
Slides: throttle vs backfill.  Definitions of orders, phases and windows: the one model, rules 1 to 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject
from coherence.language.expressions import names as names_of
from coherence.language.names import bare_names
from coherence.language.sentences import Promise

QUESTION = Question("COH220", "interacting-loops", "ai.04 runtime control coherence", slow=True)
QUESTIONS = (QUESTION,)
KINDS = ("always", "never", "eventually", "eventually_always", "response")


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per promise that loops or plants can influence."""
    touched = _touched(subject)
    candidates = [p for p in subject.design.promises.values() if p.kind in KINDS and _roots(p) & touched]
    if not candidates:
        return
    from coherence.base.clock import left_until, now
    from coherence.verify.promises import (  # the engine, only where there is something to decide
        loop_promises,
        loop_responses,
    )

    engines = {p.name: loop_responses if p.kind == "response" else loop_promises for p in candidates}
    promised = [promise for promise in candidates if engines[promise.name].driven(subject, promise)]
    end = now() + subject.time_limit
    for number, promise in enumerate(promised):
        left = max(0.0, left_until(end))
        share = left if number == len(promised) - 1 else max(left / 2, left / (len(promised) - number))
        yield engines[promise.name].answer(QUESTION, replace(subject, time_limit=share), promise)


def _roots(promise: Promise) -> frozenset[str]:
    """Returns the words before the dots of the promise's conditions; a response may name a loop."""
    used = [name for condition in promise.conditions for name in names_of(condition.tree)]
    events = [event.text for event in (promise.first, promise.second) if event is not None]
    return frozenset(path.split(".")[0] for path in (*used, *events))


def _touched(subject: Subject) -> frozenset[str]:
    """Returns things and bare names that loops or plants have a part in."""
    design = subject.design
    written = {loop.written.split(".")[0] for loop in design.loops.values() if loop.written}
    return frozenset({*design.loops, *written, *design.components, *bare_names(design)})

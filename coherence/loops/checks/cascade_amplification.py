"""cascade amplification: loops in a chain of which each passes on more of a swing than it receives.

## What
Follows chains of loops with a smooth law, each reading what the one before it writes and nothing the other way
round (feedback of a loop on itself is part of its hop).  One lap is linearised exactly; the gain from an input that
varies, or from a rate of arrivals, to the last command is maximised over all frequencies, with an enclosure, and split
into one factor per hop at that frequency.  Above 2, with two hops above 1, it is noted.  It is a conflict only where
an input declared `varies` breaks a promise by moving within its range and keeps it at either end: that run is
replayed.  Retries that multiply along calls are retry-amplification's matter.

## Why it hurts
Each tier looks tolerable on its own.  Two tiers that each order for what they forecast triple a swing, then triple
it again: the last one sees a load that no user ever made (the bullwhip of supply chains).

## Example
```yaml
coherence: 1
workload: {web: {rate: "varies: 90 req/s .. 110 req/s"}}
components: {front: {need: web.attempts / 10 req/s}}
loops:
  first:
    timescale: {period: 1 min}
    actuation:
      signal: front.pods
      law: set
      to: front.need + 3 * (front.need - delayed(front.need, 1 min))
      bounds: [0, 99]
      from: 9
  second:
    timescale: {period: 1 min}
    actuation:
      signal: back.pods
      law: set
      to: front.pods + 3 * (front.pods - delayed(front.pods, 1 min))
      bounds: [0, 99]
      from: 9
promises: {room: always back.pods <= 30}
```

## Instead
Every tier follows the load itself, not the tier before it: `to: front.need + 3 * ...` in both; or a longer mean.

## Source
Chen, Drezner, Ryan, Simchi-Levi 2000, Quantifying the bullwhip effect, Management Science 46(3): order-up-to policies;
Seiler, Pant, Hedrick 2004, Disturbance propagation in vehicle strings, IEEE Trans. Automatic Control 49(10): peak gain
per hop.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject
from coherence.loops.checks._coupling import chained

QUESTION = Question("COH306", "cascade-amplification", "ai.04 runtime control coherence", slow=True, proves=False)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per chain of loops that amplifies an input."""
    if not chained(subject.design):
        return
    from coherence.loops.checks._cascade_amplification import answers  # the engine, only where loops form a chain

    yield from answers(QUESTION, subject)

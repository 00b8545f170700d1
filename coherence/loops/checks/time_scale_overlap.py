"""time-scale overlap: two coupled loops of which neither has settled before the other acts again.

## What
Takes every two loops in feedback of which one reads (or writes) what the other changes.  Each is executed alone,
exactly, with the other's command standing anywhere in its bounds: the longest time that it moves, and one sample
before it, is its settling time.  If the slower loop acts less often than the faster one settles, the two are apart:
proved, where the faster one has no memory but its command, and every value of it could be run.  Otherwise it is
noted, and where the two together never settle it says whether each alone does and whether a slower period of the
outer one mends it.  It is never a conflict by itself: whether overlapping loops fight is the question of
sustained-oscillation and interacting-loops.

## Why it hurts
Each loop was tuned, tested and approved with the other one still.  When the outer acts on a value that is still
moving, it corrects the inner's transient, not the load; the inner then corrects the correction.

## Example
```yaml
coherence: 1
components: {pool: {work: 60, usage: work / (members * speed)}}
loops:
  size:
    timescale: {period: 15 s}
    target: {signal: pool.usage, setpoint: 0.5, tolerance: 10 %, sensor: [mean 30 s]}
    actuation: {signal: pool.members, law: proportional, bounds: [1, 20], from: 4}
  clock:
    timescale: {period: 15 s}
    trigger: pool.usage > 0.6
    actuation: {signal: pool.speed, law: step, by: 1, bounds: [10, 12], from: 10}
```

## Instead
An outer loop that waits until the inner one rests: `timescale: {period: 2 min}`.

## Source
Skogestad 2004, Control structure design for complete chemical plants, Computers and Chemical Engineering 28: layers
are designed apart where their time scales are.  Settled here means at rest, exactly; a linear loop is within 2 % after
four time constants, so the ratio of time constants is then four or more, within the usual rule of 3 to 10.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Question, Subject
from coherence.loops.checks._coupling import feeds_back, reach

QUESTION = Question("COH303", "time-scale-overlap", "ai.04 runtime control coherence", slow=True, fires=Verdict.NOTE)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per pair of coupled loops."""
    if not feeds_back(subject.design) or not any(len(seen) > 1 for seen in reach(subject.design).values()):
        return
    from coherence.loops.checks._time_scale_overlap import answers  # the engine, only where loops are coupled

    yield from answers(QUESTION, subject)

"""promise over loss: what is promised of a thing's members does not hold while one of its places is gone.

## What
`lost: 1` of a place says that it may go with all that lies there, `drained: 1` that its members are evicted one at a
time.  A promise about how many members there are (`always web.available >= 4`, `eventually_always web.available == 6`)
or how they lie (`always count of web by node <= 3`) is held against every reachable placement, every choice of places
that go, and every state until all members that find a place lie again.  What comes to rest decides `eventually_always`.
The answer is given for every number of places.  Where none goes, a promise about how they lie is held against every
placement that placing, scale-down and evictions reach.

## Why it hurts
Three of five is enough, so one may fail.  All five lay on one node.

## Example
```yaml
coherence: 1
components: {web: {copies: 5}}
places: {node: {count: 3, lost: 1}}
placement: {web: [spread by node <= 3]}
promises: {quorum: always web.available >= 3}
```

## Instead
`spread by node <= 1`: no node has more than two of five.

## Source
Kubernetes documentation, Pod Topology Spread Constraints (maxSkew, DoNotSchedule); capacity after the loss of one
element (N-1) is the criterion of power grids: ENTSO-E, Continental Europe Operation Handbook, Policy 3.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject

QUESTION = Question("COH249", "promise-over-loss", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per promise about the members of a thing whose places may go."""
    places = subject.design.places.values()
    if not subject.design.promises or not places:
        return
    if any(word in given for given in places for word in ("lost", "drained")):
        from coherence.verify.patterns.placement import _loss_promises

        yield from _loss_promises.answers(QUESTION, subject)
    elif any("count of" in promise.text for promise in subject.design.promises.values()):
        from coherence.verify.patterns.placement import _placed_promises

        yield from _placed_promises.answers(QUESTION, subject)

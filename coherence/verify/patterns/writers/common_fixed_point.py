"""no common fixed point: two loops write one field and never leave it alone together.

## What
Groups the loops by the signal that they write.  Two of them can live together when in every state of
the world some value is left alone by both.  A loop that sets a value rests only there; an autoscaler
rests wherever its signal says, anywhere within its bounds, and at its `off_at`; `to: unset` writes nothing; a
loop whose `mode` is `once` or `on change` is undone rather than fought: it is a conflict where a promise about the
field breaks meanwhile, where its value never lasts, or where each change throws back what an autoscaler chose.
Two HPAs of one target are switched off, both.  Two that are meant to undo each other say so: `intended: why`.

Boundary: loops that step are `contradictory-actuation` and `interacting-loops`; two whose conditions exclude each
other by the field itself take turns, which is `livelock`.

## Why it hurts
The field moves to and fro for ever: pods are started and stopped, a cap is set and lifted, and each
controller's log shows nothing but success.  A value inside the autoscaler's bounds fights as well: each
sync undoes what the load asked for.

## Example
```yaml
coherence: 1
loops:
  gitops: {actuation: {signal: web.desired, law: set, to: 1, mode: always}}
  hpa:
    uses: kubernetes_hpa
    target: {signal: web.cpu, setpoint: 70 %}
    actuation: {signal: web.desired, bounds: [2, 10]}
```

## Instead
One owner: Git leaves the field alone (`to: unset`, or `ignoreDifferences` in Argo CD).
```yaml
coherence: 1
loops:
  gitops: {actuation: {signal: web.desired, law: set, to: unset}}
  hpa:
    uses: kubernetes_hpa
    target: {signal: web.cpu, setpoint: 70 %}
    actuation: {signal: web.desired, bounds: [2, 10]}
```

## Source
argoproj/argo-cd#5105, kedacore/keda#5288, Klimatbyran/garbo#695, temporalio/temporal-worker-controller#439;
vllm-project/production-stack (an HPA and a ScaledObject on one Deployment); kubernetes/kubernetes#112011 and
kedacore/keda#5825 (AmbiguousSelector); Kubernetes documentation, "Migrating Deployments and StatefulSets to
horizontal autoscaling" (leave `spec.replicas` out).  Condition: for every w some x
with f_A(x, w) = x and f_B(x, w) = x.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from coherence.findings.finding import Finding
from coherence.findings.intended_cycles import as_intended
from coherence.findings.question_input import Question, Subject
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.ranges import truth
from coherence.verify.facts.writers import TRANSIENT, Writer, static_only
from coherence.verify.patterns.writers._pair import WriterPair

QUESTION = Question("COH205", "no-common-fixed-point", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per pair of loops that write one signal and whose maps alone decide."""
    if len(subject.design.loops) < 2:
        return
    facts = known(subject)
    for signal, writers in facts.written.items():
        present = [writer for writer in writers if writer.kind != "ignore"]
        for first, second in itertools.combinations(present, 2):
            yield from _pair(subject, facts, signal, first, second)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields a proof for each target that one autoscaler alone is there for it."""
    from coherence.verify.patterns.writers._scalers import only_scaler

    for signal, writers in known(subject).written.items():
        yield from only_scaler(QUESTION, signal, writers)


def _pair(subject: Subject, facts: DesignFacts, signal: str, first: Writer, second: Writer) -> Iterator[Finding]:
    by_maps = static_only([first, second]) and not any(_never(facts, writer) for writer in (first, second))
    if by_maps or "unset" in {first.kind, second.kind}:
        lasting = first.mode not in TRANSIENT and second.mode not in TRANSIENT
        for finding in _answers(WriterPair(QUESTION, subject, facts, signal, first, second)):
            yield as_intended(QUESTION, subject.design, finding) if lasting else finding


def _answers(pair: WriterPair) -> Iterator[Finding]:
    """Yields the answer about a pair whose maps decide, or of which one has no value."""
    from coherence.verify.patterns.writers import _scalers, _setters, _transient
    from coherence.verify.patterns.writers._exclusive import exclusive, in_turns

    first, second = pair.first, pair.second
    kinds = {first.kind, second.kind}
    if "unset" in kinds:
        yield from _setters.unset(pair)
    elif (excluded := exclusive(pair)) is not None:
        yield excluded
    elif in_turns(pair):
        return  # livelock
    elif (resting := _setters.off(pair)) is not None:
        yield resting
    elif "step" in kinds:
        yield from _setters.against_step(pair) if "set" in kinds else ()
    elif kinds == {"scale"}:
        yield _scalers.scalers(pair)
    elif passing := next((writer for writer in (first, second) if writer.mode in TRANSIENT), None):
        yield from _transient.transient(pair, passing)
    elif kinds == {"set"}:
        yield from _setters.setters(pair)
    else:
        yield from _setters.against_scaler(pair)


def _never(facts: DesignFacts, writer: Writer) -> bool:
    """Returns whether its condition is false for every value of what it reads."""
    return writer.condition is not None and truth(facts.tree(writer.condition), facts.values) is False

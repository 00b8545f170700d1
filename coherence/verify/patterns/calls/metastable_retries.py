"""metastable-retries: retries that keep an overload up when its cause is gone, and the disturbance that begins it.

## What
Late tries are sent again, and while all are late the load is the first tries times the sends of each. If that is less
than the capacity no overload lasts (proved). Else, where work that was given up is still done (`on_timeout: abandon`),
the call has an overload that keeps itself up beside its healthy operating point, or instead of it. The question
computes both and the edge between them (M/M/c), and what crosses the edge: a stated burst, the shortest pause, or
noise alone within a day. The Markov chain of queue and waiting retries is laid beside the fluid: where the chain
leaves within an hour what mean rates hold for ever, the answer is undecided and shows both.
Where work is cancelled and service times are exponential (`cv: 1`) servers waste nothing,
and no overload lasts.

## Why it hurts
A load test sees the healthy point. One pause of a few hundred milliseconds, and everybody is served too late, for
good: the cause is gone, the load is not.

## Example
```yaml
coherence: 1
workload: {clients: {rate: 50 req/s, service: {mean: 40 ms, cv: 1}, burst: {rate: 150 req/s, lasts: 3 s}}}
components: {workers: {copies: 4}}
calls:
  - {from: clients, to: workers, per_try: 250 ms, tries: 3, on_timeout: abandon}
```

## Instead
```yaml
coherence: 1
workload: {clients: {rate: 50 req/s, service: {mean: 40 ms, cv: 1}, burst: {rate: 150 req/s, lasts: 3 s}}}
components: {workers: {copies: 4}}
calls:
  - {from: clients, to: workers, per_try: 250 ms, tries: 3, on_timeout: abandon, budget: retries}
limits:
  retries: {counts: clients.retries in flight, at_most: 20 % of clients in flight, when_full: reject}
```

## Source
N. Bronson et al., "Metastable failures in distributed systems", HotOS 2021; retry budgets and breakers as in the Envoy
documentation of circuit breakers. Measured on nginx, HAProxy and Envoy (4 workers of 40 ms, half load, 250 ms per
try): after a pause of 3 s three tries never recover, one try does, and so do three within Envoy's default breaker or
a budget of 20 %.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject
from coherence.language.words import CAUSES, plain_word
from coherence.verify.calls.call_graph import call_tree

QUESTION = Question("COH224", "metastable-retries", "ai.04 runtime control coherence", slow=True)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer for each workload and each callee that its retries may overload."""
    if not subject.design.calls or not subject.design.workload:
        return
    yield from _unknown_causes(subject)
    from coherence.verify.patterns.calls._load_amplification import loads

    overloads = loads(subject, call_tree(subject.design))
    if overloads:
        from coherence.verify.patterns.calls._metastable import answer  # the closed forms, only where there is a load

        for load in overloads:
            yield answer(QUESTION, subject, load)


def _unknown_causes(subject: Subject) -> Iterator[Finding]:
    """Yields each call of a workload that tries again on a word of which nothing says whether it is a timeout."""
    known = {word for row in CAUSES.values() for word in row}
    for plan in call_tree(subject.design).plans:
        if plan.caller not in subject.design.workload or not plan.retries or plan.limit is None:
            continue
        stated = {plain_word(name) for name in plan.call.fails or {}}
        words = {plain_word(word.text): word.place for word in plan.call.retry_when or ()}
        unknown = [word for word in words if word not in known | stated]
        if unknown and not any(cause.name == "timeout" for cause in plan.causes):
            needs = f"needs what {unknown[0]} of {plan.name} is: `fails: {{{unknown[0]}: ...}}`, or `timeout`"
            yield QUESTION.undecided(needs, [words[unknown[0]].labelled("tried again on this")], (plan.name,))

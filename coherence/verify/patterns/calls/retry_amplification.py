"""retry-amplification: nested retries of one cause multiply, and the product keeps the promise or the limit.

## What
Layers that try the same failure again multiply: 4 tries around 3 tries send 12 times. A layer whose `retry_when`
does not name the cause counts once, and a deadline that ends before the tries do cuts the count. The product is
measured against `attempts(x) per call(y) <= n` and against a limit that counts `attempts(x)` per y. Where nothing
bounds it, it is only noted: two retrying layers alone are no conflict. Against a stated load: COH224.

## Why it hurts
Each layer looks modest on its own page of configuration. When the last callee is slow, it receives the product.

## Example
```yaml
coherence: 1
calls:
  - {from: app, to: sdk, tries: 4, retry_when: [rate_limited]}
  - {from: sdk, to: api, tries: 3, retry_when: [rate_limited]}
promises: {small: attempts(api) per call(app) <= 4}
```

## Instead
```yaml
coherence: 1
calls:
  - {from: app, to: sdk, tries: 4, retry_when: [rate_limited]}
  - {from: sdk, to: api, tries: 1, retry_when: [rate_limited]}
promises: {small: attempts(api) per call(app) <= 4}
```

## Source
HKUDS/nanobot issue 2760: 12 requests were measured where 4 were meant. Expected sends are (1 - p^A) / (1 - p).
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.patterns.calls._load_amplification import loads
from coherence.verify.patterns.calls._nested_retries import noted
from coherence.verify.patterns.calls._sends_promises import bound_answers, bounds

QUESTION = Question("COH202", "retry-amplification", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields the product of nested retries against promises and limits; without any of them, or a load, a note."""
    design = subject.design
    if not design.calls:
        return
    tree = call_tree(design)
    stated = tuple(bounds(design))
    for bound in stated:
        yield from bound_answers(QUESTION, subject, tree, bound)
    measured = {bound.callee for bound in stated} | {name for load in loads(subject, tree) for name in load.of}
    yield from noted(QUESTION, tree, measured)

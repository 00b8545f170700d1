"""unanswered promise: nothing that was asked says whether a written promise is kept.

## What
Every promise of a design has one answer: conflict, vacuous, proved or undecided.  Where no question takes a promise,
this one says so, with what the design does not state: what drives a signal, what times an event, or that no question
decides promises of this form.

## Why it hurts
A promise that is read and then forgotten looks kept.

## Example
```yaml
coherence: 1
promises: {cap: always rack.power <= 50 kW}
```

## Instead
State what the promise is about, so that a question can decide it:
```yaml
coherence: 1
components: {rack: {state: "power' = 0.5 * power + 20 kW", step: 1 s, from: 30 kW}}
promises: {cap: always rack.power <= 50 kW}
```

## Source
A property checker answers every property that it is given: CBMC and NuSMV list each with its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from coherence.findings.finding import Finding, Verdict
from coherence.findings.promise_answers import promise_answers
from coherence.findings.question_input import Question, Subject
from coherence.language.expressions import names as names_of
from coherence.language.expressions import walk
from coherence.language.expressions.tree import Call
from coherence.language.sentences import Promise
from coherence.language.words import COUNTS, STATES
from coherence.verify.timers.firing import never
from coherence.verify.timers.removals import taken_out_by

QUESTION = Question("COH106", "unanswered-promise", fires=Verdict.UNDECIDED, proves=False)
QUESTIONS = (QUESTION,)
SERVICE = (*STATES["out of service"], *STATES["left in service"])
MEASURED = frozenset({"mean", "quantile", "tail"})
TIMES = frozenset({"duration", "latency", "response_time", "p50", "p95", "p99", "time"})
"""Last words of a signal that say how long a request takes."""


def review(subject: Subject, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yields one undecided finding for each promise that no other finding answers."""
    answered = promise_answers(subject.design, findings)
    cut = any(finding.evidence.cut_short for finding in findings)
    for promise in subject.design.promises.values():
        if promise.name not in answered:
            reason = "the time was over before every question had answered" if cut else _reason(subject, promise)
            needs = f"{promise.text}: {reason}"
            yield QUESTION.undecided(needs, (promise.place.labelled("no question decides this"),), (promise.name,))


def _reason(subject: Subject, promise: Promise) -> str:
    """Says what the design lacks for an answer about the promise."""
    measured = sorted({function for function in _functions(promise) if function in MEASURED})
    if measured:
        return f"no question decides {' and '.join(measured)} of a signal; `coherence simulate` measures it"
    words = dict.fromkeys(path for formula in promise.conditions for path in names_of(formula.tree))
    events = [event.text for event in (promise.first, promise.second) if event is not None]
    if deadline := _deadline(subject, promise, words, events):
        return deadline
    if events and not words:
        return f"needs what ties {' and '.join(events)} together: no timer, activity, call or loop does"
    model = subject.model
    paths = [model.resolve(word) for word in words]
    undriven = [path for path in paths if model.kind(path) == "input"]
    timers = [path for path in undriven if path in subject.design.timers]
    if timers:
        remedy = f"promise `after e then {timers[0]} within T` or `a before {timers[0]}`"
        return f"{timers[0]} is a timer, and no condition reads whether one has fired: {remedy}"
    takers = {path: taking for path in undriven if (taking := _takers(subject, path))}
    if takers:
        each = [f"how many {' and '.join(names)} takes out at once ({path})" for path, names in takers.items()]
        rest = [f"what drives {path}" for path in undriven if path not in takers]
        return f"needs {' and '.join((*each, *rest))}: no question follows that"
    if undriven:
        needs = f"needs what drives {' and '.join(undriven)}: nothing in the design states or writes it"
        stays = subject.design.places and not any("lost" in given for given in subject.design.places.values())
        members = stays and any(path.rpartition(".")[2] in COUNTS["available"] for path in undriven)
        return f"{needs}; where a place may go, say so (`lost: 1` of it)" if members else needs
    from coherence.simulate.execute.slices import blocked  # the executor is a tenth of a policy check

    missing = blocked(model, tuple(paths))
    if missing:
        return f"needs {missing}"
    return f"no question decides promises of this form about {' and '.join((*paths, *events)) or 'these words'}"


def _deadline(subject: Subject, promise: Promise, words: Iterable[str], events: Sequence[str]) -> str:
    """Returns how a promise about the time that requests take is asked; empty where it is about something else."""
    design, within = subject.design, promise.within or "T"
    things = [path.partition(".")[0] for path in words if path.rpartition(".")[2] in TIMES]
    things += [events[0].partition(" ")[0]] if events and not words and promise.within is not None else []
    for thing in things:
        if thing in design.workload:
            return f"how long requests of {thing} take is asked by `deadline: {within}` of {thing}"
        if any(call.callee is not None and call.callee.text == thing for call in design.calls) and words:
            return f"how long {thing} takes is asked by `per_try` or `deadline` of the calls to {thing}"
    return ""


def _takers(subject: Subject, path: str) -> list[str]:
    """Returns the timers that end members of the thing of a path that counts those in or out of service, or unlist
    them.
    """
    thing, _, word = path.partition(".")
    counted = word in COUNTS["available"] or word in COUNTS["unavailable"] or word in SERVICE
    return [
        timer.name
        for timer in subject.design.timers.values()
        if counted and thing in subject.design.components
        and taken_out_by(timer) == thing and not never(timer)
    ]  # fmt: skip


def _functions(promise: Promise) -> Iterator[str]:
    for formula in promise.conditions:
        yield from (node.function for node in walk(formula.tree) if isinstance(node, Call))

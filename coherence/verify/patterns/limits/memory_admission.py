"""memory admission: requests are admitted by count, while memory is used by their length.

## What
A limit on `sum of` what each request holds, with `when_full: evict and redo`, against what admission lets in:
the smaller of the cap on running requests and the offered concurrency (rate times residence, Little's law),
times the mean that one request holds.  A block is held whole, so E[ceil(x)] lies between E[x] and E[x] + 1.
One request that cannot fit at all is a conflict; the cap times the longest request is a proof.  The default cap
times the mean length nearly always exceeds the memory and says nothing: without `residence` it is undecided.

## Why it hurts
The engine takes a request in, runs out of blocks, throws another one's work away and computes it again.  Memory
that is a little too small costs nothing, memory that is much too small costs most of the work.

## Example
```yaml
coherence: 1
workload: {requests: {rate: 4 req/s, tokens: {mean: 1050, cv: 0.5, max: 2048}, residence: 20 s}}
limits:
  seqs:   {counts: engine.running, at_most: 64, when_full: wait}
  blocks: {counts: sum of request.tokens / 16 round up, at_most: 1600, when_full: evict and redo}
promises: {waste: engine.redone / engine.done <= 5 %}
```

## Instead
`seqs: {counts: engine.running, at_most: 12, when_full: wait}`: 12 of the longest requests hold 1,536 blocks.

## Source
vllm-project/vllm#54644: no waste at 2800 of 4200 blocks, 32 % at 1600, 79 % at 400.  Little, Operations Research
9 (1961) 383: the mean number present is the arrival rate times the mean residence.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic
from coherence.language.design import Design, Limit
from coherence.language.expressions import names as used
from coherence.language.expressions import walk
from coherence.language.expressions.lower_smt import real
from coherence.language.expressions.tree import Call, Name, Tree
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Promise
from coherence.language.words import STATES
from coherence.language.workloads import Workload
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.limits import cap, place_of
from coherence.verify.patterns.limits._memory import (
    RequestMemory,
    expected,
    longest_place,
    missing_length,
    offered_load,
    sizes,
)
from coherence.verify.patterns.writers._pair import Numbers

QUESTION = Question("COH215", "memory-admission", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
RUNNING = ("running", *STATES["in work"])
ASSUMED = ("no prefix is shared between requests", "each request holds all of its tokens while it runs")


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per limit on the sum of what requests hold."""
    limits = [limit for limit in subject.design.limits.values() if _summed(limit) is not None]
    if not limits:
        return
    facts = known(subject)
    for limit in limits:
        if limit.when_full is not None and limit.when_full.text == "evict and redo":
            yield from _answer(subject, facts, limit)


def _summed(limit: Limit) -> Tree | None:
    """Returns the term of `sum of term`."""
    for node in walk(limit.counts.tree) if limit.counts else ():
        if isinstance(node, Call) and node.function == "sum of":
            return node.arguments[0]
    return None


def _answer(subject: Subject, facts: DesignFacts, limit: Limit) -> Iterator[Finding]:
    tree, each = cap(facts, limit), _summed(limit)
    assert each is not None
    workload = _workload(facts, each)
    place = place_of(limit.at_most, limit).labelled("the memory")
    blocks = facts.range(tree).low if tree is not None else None
    if workload is None or blocks is None:
        needs = "the workload whose requests these are" if workload is None else f"at_most of {limit.name} as a number"
        yield QUESTION.undecided(f"needs {needs}", (place,), (limit.name,))
    elif len({str(admission.counts) for admission in _admissions(facts)}) > 1:
        yield QUESTION.undecided(f"needs to know which running requests {limit.name} is about", (place,), (limit.name,))
    else:
        memory = RequestMemory(limit, each, blocks, workload, _running(facts))
        missing = missing_length(memory)
        if missing:
            yield QUESTION.undecided(f"needs {missing} of {workload.name}", (place,), (limit.name,))
        else:
            yield _judged(subject, facts, memory)


def _workload(facts: DesignFacts, each: Tree) -> Workload | None:
    """Returns the workload that `request.tokens` is about: the same word, in the singular or the plural."""
    heads = {path.partition(".")[0] for path in used(each)}
    return next(
        (w for name, w in facts.design.workload.items() if name in heads or name.removesuffix("s") in heads), None
    )


def _running(facts: DesignFacts) -> tuple[Limit, Fraction] | None:
    """Returns the smallest cap on the number of running requests."""
    held = []
    for limit in _admissions(facts):
        most = cap(facts, limit)
        high = facts.range(most).high if most is not None else None
        held += [(high, limit.name, limit)] if high is not None else []
    return (min(held)[2], min(held)[0]) if held else None


def _admissions(facts: DesignFacts) -> list[Limit]:
    """Returns limits that count running requests."""
    named = [limit for limit in facts.design.limits.values() if limit.counts and isinstance(limit.counts.tree, Name)]
    return [limit for limit in named if str(limit.counts).partition(".")[2] in RUNNING and limit.at_most is not None]


def _judged(subject: Subject, facts: DesignFacts, memory: RequestMemory) -> Finding:
    shortest, longest = sizes(facts, memory)
    if longest is not None and longest > memory.blocks:
        return _too_long(subject, memory, longest, certain=shortest > memory.blocks)
    if longest is not None and memory.running is not None and memory.running[1] * longest <= memory.blocks:
        return _proved(memory, longest)
    mean = expected(facts, memory)
    offered = offered_load(memory.workload)
    if mean is None or mean.low is None:
        return QUESTION.undecided(
            f"needs the mean of {memory.limit.counts}: it is not a sum of lengths", memory.places, memory.of
        )
    if offered is None:
        return QUESTION.undecided(f"needs residence of {memory.workload.name}", memory.places, memory.of)
    number = min(offered, memory.running[1]) if memory.running else offered
    demand = number * mean.low
    if demand > memory.blocks:
        return _overfull(subject, facts, memory, offered, number, demand)
    worst = number * mean.high if mean.high is not None else demand
    if worst > memory.blocks:
        return _overfull(subject, facts, memory, offered, number, worst, hold="may hold")
    bound = f"{render_quantity(demand)} of {render_quantity(memory.blocks)} held on average"
    return QUESTION.undecided(
        f"needs the longest request (`max` of tokens) of {memory.workload.name}: {bound}",
        memory.places,
        memory.of,
        bound=bound,
        assumptions=ASSUMED,
    )


def _too_long(subject: Subject, memory: RequestMemory, longest: Fraction, *, certain: bool) -> Finding:
    stated = longest_place(memory.workload)
    whole = f"all of {memory.limit.name} ({render_quantity(memory.blocks)})"
    message = f"one request of {memory.workload.name} may hold {render_quantity(longest)}, more than {whole}"
    witness = (
        Step(
            Fraction(0),
            f"the longest request runs alone and needs {render_quantity(longest)} of {render_quantity(memory.blocks)}",
        ),
        Step(None, "it is evicted, admitted again and computed again, for ever"),
    )
    places = (*memory.places, *((stated.labelled("the longest request"),) if stated is not None else ()))
    numbers: Numbers = {"needed": (longest, ""), "there are": (memory.blocks, "")}
    return QUESTION.conflict(
        message, places, memory.of, arithmetic(numbers, witness=witness),
        certain=certain, assumptions=ASSUMED, repairs=_more(subject, memory, longest),
    )  # fmt: skip


def _more(subject: Subject, memory: RequestMemory, needed: Fraction) -> list[Repair]:
    stated = memory.limit.at_most
    made = repairs.proposal(repairs.change(subject, stated, needed)) if isinstance(stated, Quantity) else None
    return [made] if made else []


def _proved(memory: RequestMemory, longest: Fraction) -> Finding:
    assert memory.running is not None
    most = memory.running[1]
    facts = (f"(<= 0.0 n {real(most)})",)
    script = Certificate({"n": "Real"}, facts, f"(<= (* {real(longest)} n) {real(memory.blocks)})").script()
    numbers: Numbers = {"running at most": (most, ""), "each at most": (longest, ""), "there are": (memory.blocks, "")}
    message = f"{render_quantity(most)} of the longest requests fit into {memory.limit.name}: nothing is ever evicted"
    evidence = arithmetic(numbers, certificate=script)
    return QUESTION.proved(message, memory.places, memory.of, evidence, assumptions=("waiting requests hold nothing",))


def _overfull(
    subject: Subject, facts: DesignFacts, memory: RequestMemory, offered: Fraction, number: Fraction, demand: Fraction,
    hold: str = "hold",
) -> Finding:  # fmt: skip
    """Answers that the mean demand alone is above the memory, or may be."""
    promise = _promise_of_redone(subject.design)
    there = f"{memory.limit.name} has {render_quantity(memory.blocks)}"
    message = (
        f"{render_quantity(number)} requests {hold} {render_quantity(demand)} on average, {there}: work is thrown "
        "away and redone"
    )
    numbers: Numbers = {
        "offered concurrency": (offered, ""), "running": (number, ""),
        "needed on average": (demand, ""), "there are": (memory.blocks, ""),
    }  # fmt: skip
    witness = _eviction(memory, number, demand)
    if promise is None:
        return QUESTION.note(message, memory.places, memory.of, arithmetic(numbers, witness=witness))
    places = (*memory.places, promise.place.labelled("this promise"))
    longest = sizes(facts, memory)[1]
    enough = (
        memory.running[1] * longest
        if longest is not None and memory.running
        else repairs.upward_round(demand * Fraction(5, 4))
    )
    proposals = [*_fewer(subject, memory, (longest, demand / number)), *_more(subject, memory, enough)]
    assumptions = (*ASSUMED, "evictions cost as much as the promise allows, once the mean demand exceeds the memory")
    return QUESTION.conflict(
        message, places, (*memory.of, promise.name), arithmetic(numbers, witness=witness),
        certain=False, assumptions=assumptions, repairs=proposals,
    )  # fmt: skip


def _promise_of_redone(design: Design) -> Promise | None:
    """Returns the first promise about work that is done again."""
    return next(
        (
            promise
            for promise in design.promises.values()
            if promise.condition and any("redone" in path for path in used(promise.condition.tree))
        ),
        None,
    )


def _eviction(memory: RequestMemory, number: Fraction, demand: Fraction) -> tuple[Step, ...]:
    needed = f"they need {render_quantity(demand)} of {render_quantity(memory.blocks)}"
    return (
        Step(Fraction(0), f"{render_quantity(number)} requests are admitted"),
        Step(None, f"{needed}: some are evicted and computed again, others come"),
    )


def _fewer(subject: Subject, memory: RequestMemory, sizes: tuple[Fraction | None, Fraction]) -> Iterator[Repair]:
    """Admit as many as the memory holds of the longest requests, or on average."""
    stated = memory.running[0].at_most if memory.running else None
    for each in sizes:
        fits = Fraction(memory.blocks // each) if each else Fraction(0)
        edit = (
            repairs.proposal(repairs.change(subject, stated, fits))
            if isinstance(stated, Quantity) and fits >= 1
            else None
        )
        yield from [edit] if edit else []

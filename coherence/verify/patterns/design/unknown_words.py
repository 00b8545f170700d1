"""unknown word: what a limit, a loop or a time is about is not understood by its name, and nothing else says.

## What
A limit on `api.online` that no question answers about, and a loop that writes `llm.pods` of a thing that is called,
where nothing else of the design reads that number: only the word could say what it counts, and it is none of those
understood (docs/words.md).  So is a time of a thing that callers try again (`server: {draining: 60 s}`).
The question names the word and those that may be meant.

## Why it hurts
A budget of two `available` members is held against a drain, one of two `online` members is not: it looks like a
design without a fault.

## Example
```yaml
coherence: 1
components: {api: {copies: 2}}
limits: {budget: {counts: api.online, at_least: 2}}
```

## Instead
```yaml
coherence: 1
components: {api: {copies: 3}}
limits: {budget: {counts: api.available, at_least: 2}}
```

## Source
Roles instead of words: what is not understood is asked about, never passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coherence.base.queries import cached, carried
from coherence.base.units import SECOND
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Question, Subject
from coherence.language.design import Design, Limit, Loop
from coherence.language.expressions import names as names_of
from coherence.language.expressions.tree import Name
from coherence.language.limit_units import lacking_length
from coherence.language.names import component_formulas, limit_formulas, promise_formulas, used_names
from coherence.language.roles import send_count
from coherence.language.schema_kinds import Quantity
from coherence.language.words import ACTIVITIES, COUNTS, STATES, TIME_IN_QUEUE
from coherence.model.laws import counts_members
from coherence.verify.facts.design_facts import wanted
from coherence.verify.facts.writers import writers_by_thing
from coherence.verify.timers.removals import LEFT, OUT

QUESTION = Question("COH108", "unknown-word", fires=Verdict.UNDECIDED, proves=False)
QUESTIONS = (QUESTION,)
TIMES = (*ACTIVITIES["drain"], "checkpoint", "boot", "mtbf")
NOT_OF_LIMITS = ("failing",)
IN_LIMITS = frozenset().union(*COUNTS.values(), *(row for name, row in STATES.items() if name not in NOT_OF_LIMITS))
IN_LIMITS |= {TIME_IN_QUEUE}
IN_LOOPS = frozenset({*STATES["wanted"], *OUT, *LEFT})
LIMITED = (
    "members that are `available` or `unavailable`, `extra` ones, requests `running` or `waiting`, their `wait`, "
    "`attempts`, their `tokens`; or a timer by its name"
)
WRITTEN = "how many members there are to be is `replicas`, how many are out of service `removed`"


def review(subject: Subject, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yields one undecided finding for all limits, and one for all loops, of which only an unknown word says more."""
    design = subject.design
    answered = {name for finding in findings for name in finding.of}
    limits = [x for x in design.limits.values() if x.name not in answered]
    lengths = {limit.name: needed for limit in limits if (needed := lacking_length(design, limit))}
    for limit in (limit for limit in limits if limit.name in lengths):
        where = (limit.place.labelled("holds the tokens of what is in work"),)
        yield QUESTION.undecided(f"needs {lengths[limit.name]}", where, (limit.name,))
    unknown = [(path, limit) for limit in limits if limit.name not in lengths and (path := _counted(subject, limit))]
    yield from _question(unknown, LIMITED)
    yield from _question([(path, loop) for loop in design.loops.values() if (path := _written(design, loop))], WRITTEN)
    for thing in sorted({call.callee.text for call in design.calls if call.callee is not None and call.tries}):
        yield from _times(design, thing)


def _question(unknown: Sequence[tuple[str, Limit | Loop]], words: str) -> Iterator[Finding]:
    """Yields the question about signals that policies count or write; none where there are none."""
    if unknown:
        paths = ", ".join(path for path, _ in unknown)
        needs = f"needs what {paths} count{'s' * (len(unknown) == 1)}, not understood by name: {words}"
        places = [policy.place.labelled("no other line says what this counts") for _, policy in unknown]
        yield QUESTION.undecided(needs, places, [policy.name for _, policy in unknown])


def _times(design: Design, thing: str) -> Iterator[Finding]:
    """Yields a question for each time that a thing states and that nothing reads: it may be its drain."""
    component = design.components.get(thing)
    for key, given in component.constants.items() if component is not None and component.part is None else ():
        if not isinstance(given, Quantity) or given.dimension != SECOND or key in TIMES:
            continue
        if used_names(design).isdisjoint((key, f"{thing}.{key}")):
            needs = f"needs what {thing}.{key} is: nothing reads it; a time before its end is `drain: {given}`"
            yield QUESTION.undecided(needs, (given.place.labelled("what takes this long?"),), (thing,))


def _counted(subject: Subject, limit: Limit) -> str:
    """Returns the signal that a limit counts, where nothing of the design states, computes or writes it."""
    tree = limit.counts.tree if limit.counts is not None else None
    if not isinstance(tree, Name) or tree.path.partition(".")[2] in (*IN_LIMITS, ""):
        return ""
    if send_count(subject.design, limit) is not None:
        return ""
    if tree.path in {f"{job.queue.text}.used" for job in subject.design.jobs.values() if job.queue is not None}:
        return ""  # what the jobs of a queue hold together
    return tree.path if subject.model.kind(subject.model.resolve(tree.path)) == "input" else ""


def _written(design: Design, loop: Loop) -> str:
    """Returns the count that a loop writes of a thing that is called or has members, where only loops read it."""
    thing, word = _count_written(loop)
    if not word or thing not in _called(design):
        return ""
    component = design.components.get(thing)
    if component is None or component.part is not None:
        return ""
    if f"{thing}.{word}" in wanted(writers_by_thing(design).get(thing, {}), thing):
        return ""
    return f"{thing}.{word}" if _read_beside_loops(design).isdisjoint((word, f"{thing}.{word}")) else ""


@cached
def _count_written(loop: Loop) -> tuple[str, str]:
    """Returns thing and word of the count that a loop writes; nothing where it writes none, or the word is known."""
    thing, _, word = loop.written.partition(".")
    return (thing, word) if word and word not in IN_LOOPS and counts_members(loop) else ("", "")


@carried
@cached
def _called(design: Design) -> frozenset[str]:
    """Returns the things that are called; gathered once."""
    return frozenset(call.callee.text for call in design.calls if call.callee is not None)


@carried
@cached
def _read_beside_loops(design: Design) -> frozenset[str]:
    """Returns the names that components, limits, promises and claims read; gathered once."""
    own = (formula for other in design.components.values() for formula in component_formulas(other))
    limited = (formula for limit in design.limits.values() for formula in limit_formulas(limit))
    read = (*own, *limited, *promise_formulas(design), *design.claims.values())
    return frozenset(name for formula in read for name in names_of(formula.tree))

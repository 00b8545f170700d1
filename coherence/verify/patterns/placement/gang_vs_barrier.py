"""gang vs barrier: members are admitted one by one, and each job waits for the rest of itself.

## What
The members of a job wait for each other at a barrier, and each holds its needs while it waits.  Admission one by
one can give every job a part: nobody has all, nobody ends, nothing is given back.  Admission, preemption and endings
are one finite relation, explored in every order; a reachable state in which all wait is a deadlock.  A barrier that
needs more than there is never starts.  `gang: all` on a job admits all its members at once or none.

## Why it hurts
Two training jobs of eight hold four accelerators each for a weekend.  Utilisation is 100 %, progress is zero, and no
log says anything: every rank reports that it waits for its peers.

## Example
```yaml
coherence: 1
components: {gpu: {count: 8}}
jobs:
  one: {needs: 1 gpu, copies: 8, barrier: all}
  two: {needs: 1 gpu, copies: 6, barrier: all}
```

## Instead
`gang: all` in place of `barrier: all`: eight accelerators run one job after the other.

## Source
volcano-sh/volcano#5805 (a gang stranded below its minimum).  Kubernetes scheduler-plugins, Coscheduling: why pods of
one group are let in together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic, details_are_asked
from coherence.model.gangs import gang_of
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.jobs.certificates import all_joined, saturated, standing
from coherence.verify.jobs.contest import Contest, contest
from coherence.verify.jobs.count_ranges import render_verdicts
from coherence.verify.jobs.job_kinds import WAITING, JobKind
from coherence.verify.jobs.livelock import CERTAIN, NONE, POSSIBLE, UNKNOWN, contested, variants
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.waiting.gangs import NEVER, Standstill, as_gangs, gangs, held_by, standstill, sweep
from coherence.verify.patterns.writers._pair import Numbers

# a job that has all it waits for ends, however long it runs
QUESTION = Question(
    "COH228", "gang-vs-barrier", "ai.04 runtime control coherence", regardless=frozenset({"time", "end"})
)
QUESTIONS = (QUESTION,)
WORST = (NEVER, CERTAIN, POSSIBLE, UNKNOWN, NONE)
ASSUMED = ("jobs come in any order (by age where ages are given)", "a job that has all it waits for ends some day")


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer about the jobs (and components) of a design whose members wait for each other."""
    if not (subject.design.jobs or any(c.needs is not None for c in subject.design.components.values())):
        return
    if not _any_barrier(subject):
        return
    facts = known(subject)
    try:
        jobs = contest(facts, components=True)
        if gangs(jobs):
            yield _answer(subject, facts, jobs)
    except NeedsError as error:
        places = (error.place.labelled("needed here"),) if error.place else _first_places(subject)
        yield QUESTION.undecided(error.needs, places, tuple(subject.design.jobs))


def _any_barrier(subject: Subject) -> bool:
    """Returns whether anything in the design speaks of members that wait for each other."""
    from coherence.language.names import events

    design = subject.design
    stated = any(key in job.constants for job in design.jobs.values() for key in (*WAITING, "gang"))
    parts = any(c.part is not None and c.part.text == "barrier" for c in design.components.values())
    return stated or parts or any(e.kind == "waits" or (e.kind == "ends" and e.of == "all") for e in events(design))


def _first_places(subject: Subject) -> tuple[Place, ...]:
    return tuple(job.place.labelled("a job") for job in list(subject.design.jobs.values())[:1])


def _answer(subject: Subject, facts: DesignFacts, jobs: Contest) -> Finding:
    waiting = gangs(jobs)
    if needs := _apart(subject, waiting):
        return QUESTION.undecided(
            needs, tuple(_places(facts, jobs, waiting)), tuple(n for k in waiting for n in k.jobs)
        )
    results = [(variant, standstill(variant)) for variant in variants(jobs)]
    jobs, worst = min(results, key=lambda pair: WORST.index(pair[1].verdict))
    certain = all(result.verdict in (NEVER, CERTAIN) for _, result in results)
    names, places = tuple(name for kind in waiting for name in kind.jobs), tuple(_places(facts, jobs, waiting))
    if worst.verdict == UNKNOWN:
        bound = f"{len(worst.graph.edges)} states"
        return QUESTION.undecided(f"more than {bound} of these jobs", places, names, bound=bound)
    if worst.verdict == NONE:
        lasting = [(variant, _if_it_lasts(variant, outcome)) for variant, outcome in results]
        jobs, worst = min(lasting, key=lambda pair: WORST.index(pair[1].verdict))
        if worst.verdict == NONE:
            return _proved(lasting, jobs, places, names)
        unstated = next(kind.name for kind in jobs.kinds if kind.leaves is None)
        needs = f"needs how long evictions take (leaves_after of {unstated}; 0 s where all is free at once)"
        return QUESTION.undecided(needs, places, names)
    return _conflict(subject, facts, jobs, worst, places, names, certain=certain)


def _apart(subject: Subject, waiting: list[JobKind]) -> str:
    """Returns what to ask where jobs call each other, so that they wait for more than their own members."""
    names = [name for kind in waiting for name in kind.jobs]
    several = (gang for name in names if (gang := gang_of(subject.design, name)) is not None)
    needs = "needs them as one job: members that wait for those of another job are not counted"
    return next((f"{needs} ({' and '.join(job.name for job in gang.members)} call each other)" for gang in several), "")


def _if_it_lasts(jobs: Contest, standing_still: Standstill) -> Standstill:
    """Returns the verdict where evictions of which nothing is stated take time as well."""
    if jobs.preempt is None or all(kind.leaves is not None for kind in jobs.kinds):
        return standing_still
    return standstill(replace(jobs, lasting=True))


def _places(facts: DesignFacts, jobs: Contest, waiting: list[JobKind]) -> Iterator[Place]:
    for kind in waiting:
        yield (kind.barrier_place or kind.place).labelled(
            f"{kind.name} makes no progress before {kind.barrier} are there"
        )
    for path in dict.fromkeys(jobs.supply.values()):
        if path in facts.places:
            yield facts.places[path].labelled("the capacity")
    if jobs.admit is not None:
        yield jobs.admit.place.labelled("who comes first")


def _amounts(jobs: Contest, *outcomes: Standstill) -> Numbers:
    there: Numbers = {resource: (amount, "") for resource, amount in jobs.capacity.items()}
    wanted: Numbers = {f"{r} wanted in all": (jobs.total(r), "") for r in jobs.capacity}
    return {**there, **wanted, "states": (sum(len(outcome.graph.edges) for outcome in outcomes), "")}


def _proved(
    tried: list[tuple[Contest, Standstill]], jobs: Contest, places: tuple[Place, ...], names: tuple[str, ...]
) -> Finding:
    script = all_joined([saturated(one) or standing(one, outcome.graph) for one, outcome in tried])
    message = f"{' and '.join(names)} never hold a part of themselves for ever"
    evidence = arithmetic(_amounts(jobs, *(outcome for _, outcome in tried)), certificate=script)
    return QUESTION.proved(message, places, names, evidence, assumptions=(*ASSUMED, *jobs.assumed))


def _conflict(
    subject: Subject, facts: DesignFacts, jobs: Contest, standstill: Standstill,
    places: tuple[Place, ...], names: tuple[str, ...], *, certain: bool,
) -> Finding:  # fmt: skip
    assert standstill.stuck is not None
    resource = contested(jobs, standstill.way)
    there = jobs.shown(resource, jobs.capacity[resource])
    if standstill.verdict == NEVER:
        large = next(k for k in gangs(jobs) if jobs.is_too_large(k, k.barrier))
        message = (
            f"{large.name} never starts: {large.barrier} members wait for each other, {there} are not enough for them"
        )
    else:
        message = f"{' and '.join(names)} wait for themselves for ever: with {there}, {held_by(jobs, standstill.stuck)}"
    swept = sweep(jobs, resource) if details_are_asked() else ()
    words = {NEVER: CERTAIN}
    if swept and jobs.whole(resource):
        enough = swept[-1][0] >= jobs.total(resource)
        message += f"; {resource}: {render_verdicts([(n, words.get(v, v)) for n, v in swept], saturated=enough)}"
    witness = (
        *(Step(None, edge.text) for edge in standstill.way),
        Step(None, f"{held_by(jobs, standstill.stuck)}: each waits for the rest, nobody ends, nothing is given back"),
    )
    return QUESTION.conflict(
        message, places, names, arithmetic(_amounts(jobs, standstill), witness=witness),
        certain=certain, assumptions=(*ASSUMED, *jobs.assumed), repairs=_repairs(subject, facts, jobs, resource),
    )  # fmt: skip


def _repairs(subject: Subject, facts: DesignFacts, jobs: Contest, resource: str) -> Iterator[Repair]:
    """All members at once or none; or enough for all jobs together."""
    if standstill(as_gangs(jobs)).verdict == NONE:
        edits = [_as_gang(subject, kind) for kind in gangs(jobs) if kind.chunk < kind.barrier]
        repair = repairs.proposal(*edits) if edits else None
        yield from [repair] if repair is not None else []
    supply = facts.quantities.get(jobs.supply[resource])
    if supply is not None and jobs.total(resource) > jobs.capacity[resource]:
        more = replace(jobs, capacity={**jobs.capacity, resource: jobs.total(resource)})
        repair = repairs.proposal(repairs.change(subject, supply, Fraction(jobs.total(resource))))
        if repair is not None and standstill(more).verdict == NONE:
            yield repair


def _as_gang(subject: Subject, kind: JobKind) -> Edit | None:
    """`barrier:` as `gang:` where it is stated; else `gang` beside the first value of the job."""
    if kind.barrier_place is None or kind.name not in subject.design.jobs:
        return None
    place = kind.barrier_place
    text = subject.sources.get(place.file)
    if text is None:
        return None
    line = text.split("\n")[place.line - 1]
    for word in WAITING:
        start = line.rfind(f"{word}:", 0, place.column - 1)
        if start >= 0 and not line[start + len(word) + 1 : place.column - 1].strip():
            at = Place(place.file, place.line, start + 1, place.line, start + 1 + len(word))
            return Edit(at, word, "gang")
    return None

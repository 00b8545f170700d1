"""Runs the jobs and the evictors of a design for `simulate`: what each run shows, and what is not run and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coherence.findings.question_input import Subject
from coherence.language.design import Design, Loop
from coherence.language.expressions.tree import Held, Tree, walk
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.jobs.contest import contest
from coherence.verify.jobs.contest_steps import ADMIT, TAKE, VAIN
from coherence.verify.jobs.count_ranges import variants
from coherence.verify.jobs.eviction_case import counting_loops, evicting, eviction_case
from coherence.verify.jobs.job_states import is_waiting
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.running.runs import MOST_EVENTS, EvictorClock, RelationRun, eviction_run, job_run
from coherence.verify.jobs.sites import cluster

RunSample = dict[tuple[str, str, str], float]  # (of what, what, unit) -> value, as in studies of requests
DRAWN = (
    "jobs come within the first tenth of a run, or all at once (every second run, where no ages are stated), and none "
    "ends; who is chosen among equals, and by a placer, is drawn"
)
AT_ONCE = "schedulers and placers take no time, and no eviction of which nothing is stated"
ENDS_EARLY = f"a run of jobs or evictions ends after {MOST_EVENTS} events"


@dataclass(frozen=True)
class RelationSamples:
    """What each run shows, what holds for all of them, and what is not run."""

    samples: tuple[RunSample, ...] = ()
    assumptions: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def has_relations(design: Design) -> bool:
    """Decides whether a design has jobs or loops that evict."""
    return bool(design.jobs) or bool(evicting(design))


def relation_samples(design: Design, seeds: Sequence[int], until: float) -> RelationSamples:
    """Returns what runs of so many seconds show, one for each seed."""
    facts, refused, notes = known(Subject(design)), list[str](), list[str]()
    samples: list[RunSample] = [{} for _ in seeds]
    for own in (*_jobs(facts, seeds, until, refused), *_evictions(facts, seeds, until, refused, notes)):
        samples = [before | more for before, more in zip(samples, own, strict=True)]
    ran = any(samples)
    assumed = (DRAWN, AT_ONCE, ENDS_EARLY, *notes) if ran else ()
    return RelationSamples(tuple(samples) if ran else (), assumed, tuple(refused))


def _jobs(facts: DesignFacts, seeds: Sequence[int], until: float, refused: list[str]) -> Iterator[list[RunSample]]:
    if not facts.design.jobs:
        return
    try:
        jobs = contest(facts)
        runs = [job_run(jobs, seed=seed, until=until) for seed in seeds]
    except NeedsError as error:
        refused.append(f"the jobs are not run: {error.needs}")
        return
    if any(kind.again for kind in jobs.kinds):
        refused.append("that jobs come again is not run: none ends, since nothing says how long one runs")
    waiting = [
        sum(is_waiting(job, kind.members) for kind, row in zip(jobs.kinds, state, strict=True) for job in row)
        for _, state in runs
    ]
    yield [
        {
            ("jobs", "admissions", ""): run.count(ADMIT),
            ("jobs", "preemptions", ""): run.count(TAKE, VAIN),
            ("jobs", "waiting at the end", ""): left,
            ("jobs", "at rest at the end", "%"): _share(run),
        }
        for (run, _), left in zip(runs, waiting, strict=True)
    ]


def _share(run: RelationRun) -> float:
    return 100.0 if run.at_rest else 0.0


def _evictions(
    facts: DesignFacts, seeds: Sequence[int], until: float, refused: list[str], notes: list[str]
) -> Iterator[list[RunSample]]:  # fmt: skip
    for thing, loops in evicting(facts.design).items():
        try:
            own = _of_thing(facts, thing, loops, seeds, until, notes)
        except NeedsError as error:
            refused.append(f"evictions of {thing} are not run: {error.needs}")
        else:
            yield own


def _of_thing(
    facts: DesignFacts, thing: str, loops: Sequence[Loop], seeds: Sequence[int], until: float, notes: list[str]
) -> list[RunSample]:
    counting = tuple(counting_loops(thing, loops))
    other = next((loop for loop in loops if loop.name not in {one.loop.name for one in counting}), None)
    if other is not None:
        raise NeedsError(f"a trigger of {other.name} that counts members on places", other.place)
    nested = next((loop for loop in counting if _holds_inside(loop.trigger.tree)), None)
    if nested is not None:
        raise NeedsError(f"one `for` of the whole trigger of {nested.loop.name}", nested.trigger.place)
    case = eviction_case(facts, thing, counting)
    if case.low != case.high or len(variants(facts)) > 1 or not facts.design.places:
        raise NeedsError(f"one number of {thing} and of places")
    there, samples = cluster(facts, thing, by=case.labels), list[RunSample]()
    for seed in seeds:
        result = eviction_run(case, there, case.high, seed=seed, until=until)
        if result is None:
            raise NeedsError(f"a place for every one of {thing}")
        run, state = result
        samples.append({(name, f"evictions of {thing}", ""): run.count(name) for name in case.names})
        samples[-1][thing, "most on one place at the end", ""] = max((max(row, default=0) for row in state), default=0)
        samples[-1][thing, "at rest at the end", "%"] = _share(run)
    notes += (note for loop in case.loops for note in EvictorClock(loop).notes())
    return samples


def _holds_inside(tree: Tree) -> bool:
    """Decides whether a part of a trigger, and not the whole, has to hold for a time."""
    return any(isinstance(node, Held) for node in walk(tree) if node is not tree)

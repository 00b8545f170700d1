"""Runs of jobs and evictors: what is proved to come to rest does, witnesses replay, and what is not run is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.contest import contest
from coherence.verify.jobs.contest_steps import nobody, steps
from coherence.verify.jobs.eviction import CERTAIN, IDLE, NONE, chase
from coherence.verify.jobs.eviction_case import counting_loops, evicting, eviction_case, values_at
from coherence.verify.jobs.livelock import livelock
from coherence.verify.jobs.running.run_samples import has_relations, relation_samples
from coherence.verify.jobs.running.runs import eviction_run, job_run
from coherence.verify.jobs.sites import cluster
from coherence.verify.jobs.state_graph import StateStep, trapped
from coherence.verify.patterns.placement import preempt_vs_admit
from tests.draws import few
from tests.verify.jobs.test_evictions_that_last import SLOW, jobs_of, random_jobs, unreserved
from tests.verify.jobs.test_selected_places import random_places

S = TypeVar("S")
LONG = 1e6
EVICTOR = """coherence: 1
components: {{web: {{copies: {copies}, returns: always}}}}
places: {{node: {{count: 3}}}}
placement: {{web: [prefer spread by node <= 1]}}
loops: {{dup: {{timescale: {{period: 5 min}}, trigger: count of web by node > {above}, actuation: {{evict: web}}}}}}
"""


def replay(start: S, successors: Callable[[S], Iterable[StateStep[S]]], words: Iterable[str]) -> S:
    """Returns the state after steps in these words.  Raises ValueError at the first that cannot be taken."""
    state = start
    for text in words:
        step = next((step for step in successors(state) if step.text == text), None)
        if step is None:
            raise ValueError(f"'{text}' cannot happen here")
        state = step.to
    return state


def test_two_that_leave_one_by_one_take_turns_until_the_run_ends_and_a_reservation_ends_it() -> None:
    jobs = jobs_of(unreserved(SLOW))
    runs = [job_run(jobs, seed=seed, until=3600)[0] for seed in range(1, 21)]
    endless = [run for run in runs if not run.at_rest]
    assert endless
    assert all(run.count("take") > 20 for run in endless)
    kept = jobs_of(unreserved(SLOW, victim="returns, reservation"))
    assert all(job_run(kept, seed=seed, until=3600)[0].at_rest for seed in range(1, 21))


def test_an_eviction_takes_what_the_design_states() -> None:
    jobs = jobs_of(unreserved(SLOW, victim="returns, reservation"))
    events = next(run.events for seed in range(99) if (run := job_run(jobs, seed=seed, until=LONG)[0]).count("take"))
    taken = next(time for time, kind, _ in events if kind == "take")
    assert {round(time - taken, 6) for time, kind, _ in events if kind == "frees"} == {60}


@pytest.mark.slow
@pytest.mark.parametrize("block", range(2))
def test_what_is_proved_to_come_to_rest_does_and_what_is_caught_never_does(block: int) -> None:
    for seed in range(20 * block, 20 * block + few(20)):
        jobs = jobs_of(random_jobs(seed)[0])
        found = livelock(jobs)
        caught = set(trapped(found.graph))
        for chance in range(2):
            run, state = job_run(jobs, seed=chance, until=LONG)
            assert state in found.graph.edges
            assert run.at_rest == (state in found.graph.quiet), seed
            assert run.at_rest or found.verdict != NONE, seed
            assert not (run.at_rest and state in caught)


def test_the_witness_of_a_finding_replays_by_its_words() -> None:
    text = unreserved(SLOW)
    (finding,) = preempt_vs_admit.ask(Subject(read_text(text), {"<design>": text}))
    jobs, found = jobs_of(text), livelock(jobs_of(text))
    words = [step.text for step in finding.evidence.witness[:-1]]
    turn = len(found.way)
    before = replay(nobody(jobs), lambda state: steps(jobs, state), words[:turn])
    assert replay(before, lambda state: steps(jobs, state), words[turn:]) == before
    with pytest.raises(ValueError, match="cannot happen"):
        replay(before, lambda state: steps(jobs, state), ["pigs fly"])


@pytest.mark.parametrize("block", range(3))
def test_evictors_that_are_proved_to_come_to_rest_do_and_those_that_go_on_from_everywhere_do(block: int) -> None:
    for seed in range(30 * block, 30 * block + few(30)):
        text, _, _, high = random_places(seed)
        loop = "loops: {dup: {trigger: count of web by node > 1, actuation: {evict: web}}}\n"
        text = text.replace(f"copies: {text.split('copies: ')[1].split(',')[0]}", f"copies: {min(high, 4)}") + loop
        facts = known(Subject(read_text(text)))
        case = eviction_case(facts, "web", tuple(counting_loops("web", evicting(facts.design)["web"])))
        there = cluster(facts, "web", by=case.labels)
        found = chase(case.evictors, there, case.high, values_at(case, there, case.high))
        result = eviction_run(case, there, case.high, seed=seed, until=LONG)
        if result is not None and found.verdict in (NONE, IDLE):
            assert result[0].at_rest, text
        if result is not None and found.verdict == CERTAIN and found.graph is None:
            assert not result[0].at_rest, text


def test_an_evictor_that_can_never_be_content_acts_once_a_period() -> None:
    design = read_text(EVICTOR.format(copies=6, above=1))
    shown = relation_samples(design, (1, 2), 3600.0)
    assert [sample["dup", "evictions of web", ""] for sample in shown.samples] == [13, 13]
    assert [sample["web", "at rest at the end", "%"] for sample in shown.samples] == [0, 0]
    content = relation_samples(read_text(EVICTOR.format(copies=6, above=2)), (1, 2), 3600.0)
    assert [sample["web", "at rest at the end", "%"] for sample in content.samples] == [100, 100]


@pytest.mark.parametrize(
    ("timescale", "held", "evictions", "notes"),
    [
        ("period: 5 min, phase: 0 s", "", 13, []),
        ("period: 5 min", "", 13, ["dup first looks at 0 s, since no phase is stated"]),
        ("period: 5 min .. 8 min, phase: 0 s", "", 13, ["period of dup = 5 min"]),
        ("period: 5 min, phase: 100 s", "", 12, []),  # at 100 s, ..., 3400 s
        ("period: 5 min, phase: 0 s, cooldown: 9 min", "", 7, []),  # every second look
        ("period: 5 min, phase: 0 s, cooldown: 10 min", "", 5, []),  # after 10 min it still cools
        ("period: 5 min, phase: 0 s", " for 7 min", 11, []),  # first at 10 min
        ("period: 4.1 s, phase: 0 s, cooldown: 4.1 s", "", 440, []),  # every second of 879 looks
        ("period: 4.1 s, phase: 0 s", " for 12.3 s", 876, []),  # not the first three
    ],
)
def test_evictors_look_at_their_own_clocks(timescale: str, held: str, evictions: int, notes: list[str]) -> None:
    text = EVICTOR.format(copies=6, above=f"1{held}").replace("period: 5 min", timescale)
    shown = relation_samples(read_text(text), (1,), 3600.0)
    assert shown.samples[0]["dup", "evictions of web", ""] == evictions
    assert list(shown.assumptions[3:]) == notes


def test_a_clock_of_which_nothing_is_stated_is_named() -> None:
    text = EVICTOR.format(copies=6, above=1).replace("timescale: {period: 5 min}, ", "")
    shown = relation_samples(read_text(text), (1,), 60.0)
    assert shown.samples[0]["dup", "evictions of web", ""] == 61  # at 0 s, ..., 60 s
    assert "dup looks once a second, since no period is stated" in shown.assumptions
    nested = text.replace("count of web by node > 1", "(count of web by node > 1 for 5 s) and web.copies > 2")
    assert "needs one `for` of the whole trigger of dup" in relation_samples(read_text(nested), (1,), 60.0).refused[0]


def test_what_is_not_run_is_said_with_the_reason() -> None:
    text = EVICTOR.format(copies="2 .. 6", above=1)
    shown = relation_samples(read_text(text), (1,), 60.0)
    assert shown.samples == ()
    assert shown.refused == ("evictions of web are not run: needs one number of web and of places",)
    hot = EVICTOR.format(copies=6, above=1).replace("count of web by node > 1", "web.load > 5")
    assert "a trigger of dup that counts members" in relation_samples(read_text(hot), (1,), 60.0).refused[0]
    short = unreserved(SLOW).replace("needs: 8 gpu, ", "")
    assert "needs needs of p" in relation_samples(read_text(short), (1,), 60.0).refused[0]
    assert not has_relations(read_text("coherence: 1\ncomponents: {web: {copies: 2}}\n"))
    assert contest(known(Subject(read_text(unreserved(SLOW))))).queues


HEADS = """coherence: 1
components: {{gpu: {{count: 4}}}}
jobs:
  huge:  {{queue: a, needs: 4 gpu, priority: 5}}
  small: {{queue: a, needs: 1 gpu, priority: 1, copies: 2{again}}}
  other: {{queue: b, needs: 1 gpu, priority: 9}}
order: {{admit: "largest job.priority first, then largest job.waited first", blocked: {blocked}}}
"""


def passes_huge(blocked: str, seed: int) -> bool:
    """Returns whether a small job is admitted in a run while the huge one of its queue waits."""
    run, _ = job_run(jobs_of(HEADS.format(blocked=blocked, again="")), seed=seed, until=60)
    texts = [text for _, _, text in run.events]
    assert run.at_rest
    huge = texts.index("huge comes")
    waits = texts[huge:] if not any(text.startswith("huge is admitted") for text in texts) else []
    return any(text.startswith("a small is admitted") for text in waits)


def test_a_run_holds_back_those_behind_a_first_job_that_does_not_fit() -> None:
    seeds = range(1, 21)
    assert any(passes_huge("is passed", seed) for seed in seeds)
    assert not any(passes_huge("holds its queue", seed) for seed in seeds)


def test_that_jobs_come_again_is_named_as_not_run() -> None:
    shown = relation_samples(read_text(HEADS.format(blocked="is passed", again=", comes: again")), (1,), 60.0)
    assert shown.samples
    assert shown.refused == ("that jobs come again is not run: none ends, since nothing says how long one runs",)

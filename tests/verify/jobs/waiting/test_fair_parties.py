"""Parties of a fair run: who is obliged, who acts, and that jobs which take turns at being taken away need not end."""

from __future__ import annotations

from functools import partial

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.contest import Contest, contest
from coherence.verify.jobs.contest_steps import ENDS, TAKE, nobody, scheduled
from coherence.verify.jobs.state_graph import explore
from coherence.verify.jobs.waiting.fair_parties import ALL, FairParties
from coherence.verify.jobs.waiting.starvation import steps_of_passes

TEXT = """coherence: 1
components: {gpu: {count: 2}}
jobs:
  urgent: {needs: 1 gpu, priority: 3, comes: again}
  middle: {needs: 1 gpu, copies: COPIES, priority: 2}
order:
  admit: largest job.priority first
  preempt: for waiting take running where running.priority RULE waiting.priority
  victim: returns, reservation
"""
URGENT, MIDDLE = 2, 4  # numbers of those that run


def jobs_of(copies: int = 2, rule: str = "<") -> Contest:
    text = TEXT.replace("COPIES", str(copies)).replace("RULE", rule)
    return contest(known(Subject(read_text(text), {"<design>": text})), merged=False)


def parties_of(jobs: Contest) -> FairParties:
    graph = explore(
        [(nobody(jobs), False)],
        lambda moment: steps_of_passes(jobs, moment, prompt=False, acts=partial(scheduled, jobs)),
        most=5000,
    )
    assert graph.complete
    return FairParties(jobs, graph)


def test_jobs_act_where_one_ends_or_is_taken_away_and_the_scheduler_where_it_lets_in() -> None:
    parties = parties_of(jobs_of())
    every = [(s, e) for s, edges in parties.graph.edges.items() for e in edges]
    for state, edge in every:
        assert parties.acts(ALL, state, edge) == (edge.kind in ("admit", "take"))
        middles = sum(job > 0 for job in state[0][1]) - sum(job > 0 for job in edge.to[0][1])
        assert parties.acts(MIDDLE, state, edge) == (middles > 0)
    assert {e.kind for s, e in every if parties.acts(MIDDLE, s, e)} == {ENDS, TAKE}
    assert {e.kind for s, e in every if parties.acts(URGENT, s, e)} == {ENDS}


def test_a_party_is_neglected_where_it_is_always_obliged_and_never_acts() -> None:
    parties = parties_of(jobs_of())
    both = [s for s in parties.graph.edges if sum(job > 0 for job in s[0][1]) == 2]
    assert {parties.neglected([s]) for s in both} <= {ALL, MIDDLE}
    start = (nobody(parties.contest), False)
    assert parties.neglected([start]) == 0


def test_jobs_of_which_one_may_take_another_may_change_places_for_ever() -> None:
    assert parties_of(jobs_of(copies=3, rule="<=")).swapped == {1}
    assert parties_of(jobs_of(copies=3)).swapped == frozenset()

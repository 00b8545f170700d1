"""Certificates that no job waits for ever: refuted where they hold, with a model where a number of them is changed."""

from __future__ import annotations

from functools import partial

import pytest

from coherence.base.solver import unsat
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.contest import contest
from coherence.verify.jobs.contest_steps import nobody, scheduled
from coherence.verify.jobs.state_graph import explore
from coherence.verify.jobs.waiting import waiting_certificates
from coherence.verify.jobs.waiting.fair_parties import FairParties
from coherence.verify.jobs.waiting.starvation import fitting, starvation, steps_of_passes
from coherence.verify.jobs.waiting.waiting_certificates import let_in, none_waits_for_ever, ranks_of
from coherence.verify.patterns.placement import starvation as starvation_question

HELD = """coherence: 1
components: {gpu: {count: 2}}
jobs:
  small: {queue: other, needs: 1 gpu, copies: 2, comes: again}
  large: {queue: q, needs: 2 gpu}
order: {admit: largest job.waited first, blocked: holds all}
"""
BESIDE = """coherence: 1
components: {gpu: {count: 2}}
jobs:
  long:  {queue: other, needs: 1 gpu}
  small: {queue: other, needs: 1 gpu, comes: again}
  large: {queue: q, needs: 2 gpu}
order: {admit: largest job.waited first, blocked: holds its queue}
"""
TAKEN = """coherence: 1
components: {gpu: {count: 6}}
jobs:
  prod:  {queue: q, needs: 2 gpu, copies: 2, priority: 5, leaves_after: 60 s, comes: again}
  batch: {queue: q, needs: 2 gpu, copies: 2, priority: 1, leaves_after: 60 s}
order:
  admit:   "largest job.priority first, then largest job.waited first"
  preempt: for waiting take running where running.priority < waiting.priority
  victim:  returns, reservation
  blocked: holds its queue
"""


def proof_of(text: str) -> FairParties:
    proof = starvation(contest(known(Subject(read_text(text), {"<design>": text})), merged=False)).proof
    assert proof is not None
    return proof


def holds(script: str) -> bool:
    return unsat(script, timeout_ms=20_000).unsat


@pytest.mark.parametrize("text", [HELD, TAKEN], ids=["held", "taken"])
def test_a_proof_that_nobody_waits_for_ever_is_checked_again(text: str) -> None:
    script = none_waits_for_ever(proof_of(text))
    assert script is not None
    assert holds(script)


@pytest.mark.parametrize("text", [BESIDE, pytest.param(TAKEN, marks=pytest.mark.slow)], ids=["beside", "taken"])
def test_a_changed_party_of_states_that_lead_to_each_other_is_refused(text: str) -> None:
    proof = proof_of(text)
    refused = 0
    for k in fitting(proof.contest):
        rank, party = ranks_of(proof, k)
        changed = [(s, other) for s, own in party.items() if own for other in {0, *proof.numbers} - {own}]
        for state, other in changed[:: max(1, len(changed) // 12)]:
            assert not holds(let_in(proof, k, rank, {**party, state: other}))
            refused += 1
    assert refused > 4


@pytest.mark.parametrize("text", [BESIDE, pytest.param(TAKEN, marks=pytest.mark.slow)], ids=["beside", "taken"])
def test_a_changed_rank_of_a_state_that_leads_back_to_itself_is_refused(text: str) -> None:
    proof = proof_of(text)
    refused = 0
    for k in fitting(proof.contest):
        rank, party = ranks_of(proof, k)
        lasting = [s for s, own in party.items() if own]
        for state in lasting[:: max(1, len(lasting) // 6)]:
            assert not holds(let_in(proof, k, {**rank, state: rank[state] + 1}, party))
            assert not holds(let_in(proof, k, {**rank, state: rank[state] - 1}, party))
            refused += 1
    assert refused > 0


def test_ranks_that_rise_while_a_job_is_passed_over_are_refused() -> None:
    proof = proof_of(HELD)
    rank, party = ranks_of(proof, 1)
    assert holds(let_in(proof, 1, rank, party))
    assert not holds(let_in(proof, 1, {state: -number for state, number in rank.items()}, party))


def test_ranks_of_a_relation_in_which_a_job_starves_are_refused() -> None:
    text = HELD.replace("blocked: holds all", "blocked: is passed")
    jobs = contest(known(Subject(read_text(text), {"<design>": text})), merged=False)
    assert starvation(jobs).proof is None
    late = explore(
        [(nobody(jobs), False)],
        lambda moment: steps_of_passes(jobs, moment, prompt=False, acts=partial(scheduled, jobs)),
        most=1000,
    )
    parties = FairParties(jobs, late)
    assert holds(let_in(parties, 0, *ranks_of(parties, 0)))
    assert not holds(let_in(parties, 1, *ranks_of(parties, 1)))


def test_a_state_in_which_nobody_acts_and_one_waits_is_refused() -> None:
    proof = proof_of(HELD)
    edges = {s: tuple(e for e in steps if e.kind == "ends") for s, steps in proof.graph.edges.items()}
    ended = FairParties(proof.contest, type(proof.graph)(edges, {}, True))
    assert not holds(let_in(ended, 1, *ranks_of(ended, 1)))


def test_a_proof_that_is_too_long_for_a_certificate_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = proof_of(HELD)
    monkeypatch.setattr(waiting_certificates, "MOST_TERMS", 100)
    assert none_waits_for_ever(proof) is None


def test_a_proof_over_a_range_of_a_capacity_has_the_scripts_of_all_amounts() -> None:
    text = HELD.replace("count: 2", "count: 2..3")
    (finding,) = starvation_question.ask(Subject(read_text(text), {"<design>": text}))
    script = finding.evidence.certificate or ""
    assert script.count("(reset)\n") == 3  # two amounts, two kinds of jobs
    assert holds(script)

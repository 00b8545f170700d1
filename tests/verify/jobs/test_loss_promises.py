"""Conditions on members while places go: witnesses are states of the relation, and values are those of states."""

from __future__ import annotations

import pytest

from coherence.base.solver import unsat
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.eviction import evictor
from coherence.verify.jobs.loss_promises import LossCondition, over_losses
from coherence.verify.jobs.losses import BLOCKED, courses, going_of, nodes_of
from coherence.verify.jobs.placement import CERTAIN, NONE, POSSIBLE
from coherence.verify.jobs.placing import total
from coherence.verify.jobs.sites import Cluster
from coherence.verify.patterns.placement import promise_over_loss

WEB = """coherence: 1
components: {{web: {{copies: 5, needs: {{slots: 1}}}}}}
places: {{node: {{count: {count}, slots: {slots}, {going}: 1}}}}
placement: {{web: [spread by node <= {skew}]}}
promises: {{p: "{promise}"}}
"""
QUORUM = "always web.available >= 3"


def subject(promise: str = QUORUM, *, count: int = 3, slots: int = 5, skew: int = 1, going: str = "lost") -> Subject:
    text = WEB.format(count=count, slots=slots, skew=skew, going=going, promise=promise)
    return Subject(read_text(text), {"<design>": text})


def nodes(of: Subject) -> Cluster:
    return nodes_of(known(of), "web", {})


def condition(of: Subject) -> LossCondition:
    stated = of.design.promises["p"].condition
    assert stated is not None
    counts = evictor("web", stated.tree)
    return LossCondition("web", counts.trigger if counts else stated.tree, counts.labels if counts else (), {})


def answer(of: Subject) -> Finding:
    (finding,) = promise_over_loss.ask(of)
    return finding


def test_members_are_there_while_they_lie_somewhere() -> None:
    of = subject()
    values = condition(of).values(nodes(of), ((2, 1, 0),), 5)
    assert values["web.available"] == 3
    assert values["web.missing"] == 2


@pytest.mark.parametrize(("skew", "verdict"), [(1, NONE), (3, POSSIBLE)])
def test_three_of_five_are_left_where_no_node_has_three(skew: int, verdict: str) -> None:
    of = subject(skew=skew)
    there = nodes(of)
    outcome = over_losses(there, going_of(known(of), there), 5, condition(of))
    assert outcome.verdict == verdict
    assert (outcome.course is None) == (verdict == NONE)


def test_a_state_that_fails_is_one_that_a_course_comes_to() -> None:
    of = subject(skew=3)
    there = nodes(of)
    outcome = over_losses(there, going_of(known(of), there), 5, condition(of))
    assert outcome.course is not None
    assert total(outcome.before) == 5
    again = list(courses(there, outcome.before, going_of(known(of), there)))
    assert outcome.state in {state for course in again for state in course.graph.edges}
    assert total(outcome.state) < 3


def test_what_fails_wherever_members_lie_is_certain() -> None:
    of = subject("always web.available >= 5")
    there = nodes(of)
    assert over_losses(there, going_of(known(of), there), 5, condition(of)).verdict == CERTAIN


def test_only_states_at_rest_count_where_places_stay_away() -> None:
    of = subject("always web.available >= 5", slots=3)
    there = nodes(of)
    going = going_of(known(of), there)
    assert over_losses(there, going, 5, condition(of), at_rest=True).verdict == NONE
    less = subject("always web.available >= 5", slots=2)
    assert over_losses(nodes(less), going, 5, condition(less), at_rest=True).verdict == CERTAIN


def test_no_promise_is_judged_where_not_all_have_a_place_first() -> None:
    of = subject(slots=1)
    there = nodes(of)
    assert over_losses(there, going_of(known(of), there), 5, condition(of)).verdict == BLOCKED
    assert answer(of).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("promise", [QUORUM, "never web.missing > 2", "always count of web by node <= 3"])
def test_a_proof_has_a_certificate_that_a_solver_checks(promise: str) -> None:
    finding = answer(subject(promise))
    assert finding.verdict is Verdict.PROVED
    script = finding.evidence.certificate
    assert script is not None
    assert unsat(script, timeout_ms=10_000).unsat


def test_the_verdict_is_given_for_each_number_of_places() -> None:
    finding = answer(subject(count=2))
    assert finding.verdict is Verdict.CONFLICT
    assert "node: conflict at 1 to 2, none at 3" in finding.message

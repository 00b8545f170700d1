"""The plan of a page: what loops do not log is a step, and questions that no step decides are named."""

from __future__ import annotations

from dataclasses import replace

from coherence.assessment.sections import remediation
from coherence.causal.ledger.auditability import FIELDS
from coherence.language.reading import read_text
from tests.assessment.run_assessments import DESIGN, assessed, rendered

LOGGED = f"{DESIGN}    logs: [{', '.join(FIELDS)}]\n"


def test_what_loops_do_not_log_is_the_last_step() -> None:
    (step,) = remediation.plan(assessed())
    assert (step.class_, step.what.split(":")[0], step.owner) == ("log a decision", "scaler", "not stated")
    assert step.what.count(",") == len(FIELDS) - 2  # all but the loop itself
    assert "scaler" in rendered(remediation.section(assessed()))


def test_a_plan_without_a_step_says_what_was_looked_at() -> None:
    logged = replace(assessed(), design=read_text(LOGGED))
    assert remediation.plan(logged) == []
    assert "decisions are logged" in rendered(remediation.section(logged))

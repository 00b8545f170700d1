"""The plan of a page: what loops do not log is a step, and questions that no step decides are named."""

from __future__ import annotations

from dataclasses import replace

from coherence.assessment.sections import remediation
from coherence.causal.ledger.auditability import FIELDS
from coherence.findings.finding import Accounting, Edit, Evidence, Finding, Grade, Repair, Report, Severity, Verdict
from coherence.language.entries.leaves import DesignLeaf, leaves
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


def test_a_step_names_the_key_and_the_thing_and_one_by_hand_names_what_is_wrong() -> None:
    at = leaf("scaler", "timescale.period").place
    repair = Repair((Edit(at, "10 s", "20 s"),), "re-checked: proved", proved=True)
    swings = Finding("COH301", "x", Verdict.CONFLICT, Severity.ERROR, "scaler never settles", (at,), ("scaler",),
                     Evidence(Grade.PROVED, "by hand"), repairs=(repair,))  # fmt: skip
    bare = replace(swings, message="scaler is late", repairs=())
    steps = remediation.plan(replace(assessed(), report=Report((swings, bare), Accounting(), ())))
    assert steps[0].what.startswith("timescale.period of scaler: 10 s → 20 s (")
    assert steps[1].what == "scaler is late: no setting alone removes it"


def leaf(entry: str, key: str) -> DesignLeaf:
    """Returns a value of the design that is assessed."""
    return next(one for one in leaves(assessed().design) if (one.entry, one.key) == (entry, key))

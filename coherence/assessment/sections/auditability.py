"""Tells what nobody could tell afterwards: what loops do not state or log, and what no signal identifies."""

from __future__ import annotations

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import note, reproduced, table
from coherence.assessment.sections.losses import of_telemetry
from coherence.causal.ledger.auditability import FIELDS
from coherence.language.design import Loop
from coherence.reporting.pictures.markup import Child
from coherence.verify.patterns.design.auditability import missing

ORDER, TITLE = 80, "Auditability gaps"
OF_TELEMETRY = "What is logged, and what that leaves open"


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns what each loop leaves out, and of telemetry what its signals leave open."""
    loops = assessment.design.loops.values()
    rows = [(loop.name, _listed(missing(loop)), _listed(unlogged(loop)), _rebuilt(loop)) for loop in loops]
    header = ("loop", "not stated in the design", "not in its log", "can a decision be told afterwards?")
    shown = table("What a reviewer of a decision would miss", header, rows) if rows else note("There are no loops.")
    why = note(
        "A decision can be told afterwards where its log has loop, reading, time of reading, action, target, cause."
    )
    measured = of_telemetry(assessment, OF_TELEMETRY)
    return (shown, why, *measured, reproduced("check", assessment.path, "--select", "COH7"))


def unlogged(loop: Loop) -> list[str]:
    """Returns the fields that the log of a loop lacks; all of them where it says nothing of a log."""
    logged = {str(word).strip().replace(" ", "_") for word in loop.logs or ()} | {"loop"}
    return [name.replace("_", " ") for name in FIELDS if name not in logged]


def _rebuilt(loop: Loop) -> str:
    if not loop.logs:
        return "no: the design does not say what it logs"
    return "no" if unlogged(loop) else "yes"


def _listed(words: list[str]) -> str:
    return ", ".join(words) or "nothing"

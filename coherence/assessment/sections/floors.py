"""Tells what no tuning can go below, with how each floor is known, and what is missing for the others."""

from __future__ import annotations

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import note, reproduced, table
from coherence.minimums.assumptions import assumption
from coherence.minimums.report import LOSSES, evidence, range_of
from coherence.reporting.pictures.markup import Child

ORDER, TITLE = 90, "Floors"


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns the floors with a number, their assumptions, and the ones without."""
    known = [floor for floor in assessment.floors if floor.floor is not None]
    missing = [(f.application.thing, f.bound.name, f.why) for f in assessment.floors if f.floor is None]
    rows = [
        (f.application.thing, f.bound.quantity, range_of(f.floor), str(f.bound.kind), LOSSES.get(f.bound.loss, ""),
         evidence(f.bound))
        for f in known if f.floor is not None
    ]  # fmt: skip
    header = ("thing", "quantity", "floor", "kind", "loss", "known by")
    shown = table("What nothing does better, under the assumptions below", header, rows, numbers="2")
    used = dict.fromkeys(name for floor in known for name in floor.assumptions)
    assumed = table("Assumed", ("assumption", "says"), [(name, assumption(name).says) for name in used])
    lacking = table("Without a number", ("thing", "bound", "missing"), missing)
    none = note("No bound of the registry applies to this design with the numbers that it states.")
    parts = [*([shown, assumed] if rows else [none]), *([lacking] if missing else [])]
    recover = note("What is recoverable is a measurement less its floor: bound DESIGN --measured THING.BOUND=VALUE.")
    return (*parts, recover, reproduced("bound", assessment.path))

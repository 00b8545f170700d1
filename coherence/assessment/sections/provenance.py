"""Says what the answers assume, what was not read, and what they were computed from."""

from __future__ import annotations

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import note, table
from coherence.reporting import versions
from coherence.reporting._not_read import grouped, listed_only
from coherence.reporting.pictures.markup import Child, h

ORDER, TITLE = 120, "Assumptions and provenance"
MOST = 60  # values that were not read and are listed one by one


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns assumptions, values that were not read, input files with their hashes, and versions."""
    report = assessment.report
    throughout = list(dict.fromkeys((*report.assumptions, *_of_loops(assessment))))
    assumed = h("ul", *(h("li", text) for text in throughout)) if throughout else note("Nothing is assumed throughout.")
    counted = [line for line in report.not_read if line.counts]
    rows = [(line.path, str(line.place.line), line.reason) for line in counted[:MOST]]
    unread = (
        table("Values that touch an answer and were not read", ("value", "line", "reason"), rows, numbers="1")
        if rows else note("Every value that touches an answer was read.")
    )  # fmt: skip
    more = [note(f"Not listed above: {text}.") for text in grouped(counted[MOST:])]
    listed = [note(text) for text in listed_only(report.not_read)]
    earlier = assessment.before[1].inputs if assessment.before is not None else ()
    roles = (("assessed", report.inputs), ("compared with", earlier))
    files = [(file.path, "not shown" if assessment.anonymous else file.sha256, role)
             for role, inputs in roles for file in inputs]  # fmt: skip
    named = table("Input", ("file", "SHA-256", "is"), files)
    used = table("Versions", ("program", "version"), [*versions().items()])
    return (h("h3", "Assumed throughout"), assumed, h("h3", "Not read"), unread, *more, *listed,
            h("h3", "Computed from"), named, used)  # fmt: skip


def _of_loops(assessment: Assessment) -> tuple[str, ...]:
    analysis = assessment.loops.analysis
    return analysis.assumptions if analysis is not None else ()

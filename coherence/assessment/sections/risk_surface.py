"""Draws where in the design the findings stand: the map of loops, signals and components."""

from __future__ import annotations

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import joined, note, pictured, reference, reproduced, table
from coherence.findings.finding import Verdict
from coherence.reporting.pictures.design_map import STATES, DesignMap, design_map, map_drawing
from coherence.reporting.pictures.markup import Child, Element

ORDER, TITLE = 30, "Risk surface"
MOST_PATHS = 12


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns the map with its data: things with findings, feedback zones, and paths that amplify."""
    mapped = design_map(assessment.design, assessment.findings)
    if not mapped.graph.nodes:
        return (note("The design declares nothing that could be drawn."),)
    drawn = map_drawing(assessment.system, mapped)
    caption = "Who reads, writes and calls what, with the findings on it. Blue lines close a circle of influence."
    return (
        pictured(drawn, caption, wide=True),
        _things(assessment, mapped),
        _zones(mapped),
        _paths(assessment),
        reproduced("graph", assessment.path, "-o", "svg"),
    )


def _things(assessment: Assessment, mapped: DesignMap) -> Child:
    rows = []
    calls = {call.name: {str(call.caller), str(call.callee)} for call in assessment.design.calls}
    for node in mapped.graph.nodes:
        state = mapped.state(node.name)
        if state not in (None, Verdict.PROVED):
            own = [f for f in assessment.open_findings if _about(f.of, node.name, calls)]
            rows.append((node.name, node.kind, str(state), _links(assessment, own)))
    rows.sort(key=lambda row: STATES.index(Verdict(str(row[2]))))
    if not rows:
        return note("No thing of the map has an open finding.")
    return table("Things with open findings", ("thing", "kind", "gravest", "findings"), rows)


def _about(of: tuple[str, ...], name: str, calls: dict[str, set[str]]) -> bool:
    return any(name in calls.get(part, {part.split(".")[0]}) for part in of)


def _links(assessment: Assessment, findings: object) -> Element:
    own = findings if isinstance(findings, list) else []
    return joined([reference(assessment.anchor(finding)) for finding in own])


def _zones(mapped: DesignMap) -> Child:
    """Returns the groups in feedback, which can amplify or swing together."""
    rows = [(str(at), str(len(zone)), ", ".join(sorted(zone))) for at, zone in enumerate(mapped.zones, 1)]
    if not rows:
        return note("There is no feedback: no influence returns to where it began.")
    return table("Feedback zones", ("zone", "things", "members"), rows, numbers="0 1")


def _paths(assessment: Assessment) -> Child:
    """Returns the paths of calls along which one request becomes several."""
    paths = [path for path in assessment.loops.retries if path.tries is None or path.tries > 1]
    if not paths:
        return note("No path of calls amplifies: each request is sent once.")
    rows = [
        (" → ".join(path.path), "unlimited" if path.tries is None else str(path.tries), path.cause)
        for path in paths[:MOST_PATHS]
    ]
    left = f" (the strongest {MOST_PATHS} of {len(paths)})" if len(paths) > MOST_PATHS else ""
    return table(f"Amplification along calls when all tries fail{left}", ("path", "tries at its end", "cause"), rows,
                 numbers="1")  # fmt: skip

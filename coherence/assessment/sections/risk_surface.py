"""Draws where in the design the findings stand: the map of loops, signals and components."""

from __future__ import annotations

from collections.abc import Iterator

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import joined, note, pictured, reference, reproduced, table
from coherence.assessment.parts.promise_risks import promise_risks
from coherence.findings.finding import Verdict
from coherence.reporting.pictures.design_map import STATES, DesignMap, design_map, map_drawing
from coherence.reporting.pictures.markup import Child, Element

ORDER, TITLE = 30, "Risk surface"
MOST_PATHS = 12
MOST_WAYS = 4  # to a promise


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
        *_promises(assessment, mapped),
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


def _promises(assessment: Assessment, mapped: DesignMap) -> Iterator[Child]:
    """Yields which open findings reach each promise, the nearest first."""
    risks = list(promise_risks(assessment.design, mapped, assessment.findings))
    if not risks:
        yield note("No promise is stated, so no risk of breaking one is followed.")
        return
    rows = []
    for risk in risks:
        shown = [" → ".join(way) for way in risk.ways[:MOST_WAYS]]
        more = len(risk.ways) - len(shown)
        words = "; ".join([*shown, *([f"{more} more"] if more else [])]) or "no open finding reaches it"
        answer = [risk.answer] if risk.answer in assessment.open_findings else []
        verdict = str(risk.answer.verdict) if risk.answer else "no answer"
        rows.append((risk.promise, verdict, _links(assessment, answer), ", ".join(risk.things), words))
    header = ("promise", "verdict", "finding", "speaks of", "open findings reach it by")
    yield table("How risks reach the promises", header, rows)
    yield note("A way begins at a thing with an open finding. Influences go one way; load goes on along calls, tiers "
               "and links, and delays come back.")  # fmt: skip


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
